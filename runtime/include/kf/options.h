// kf::Options: how a function is called, where that is left to run time.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace kf {

/// What isn't set stays as it is.
struct Options {
    /// Whether gradients (and outputs that are sums) that several calls add to are the same bits from run to
    /// run on one device. It takes kernels that the call spec asks for ("deterministic": true or "auto"); a
    /// backward call without them is an ArgumentError (no_deterministic_kernel), unless each of its calls has
    /// a gradient of its own.
    std::optional<bool> deterministic;

    /// These, with what is set in `chosen`.
    [[nodiscard]] Options with(const Options& chosen) const {
        return {chosen.deterministic ? chosen.deterministic : deterministic};
    }
};

/// How calls that share an element of an output or gradient are combined there, of what the call spec offers:
/// {"result", "sum"}, {"a.grad", "push"}.
using Accumulation = std::pair<std::string_view, std::string_view>;

}  // namespace kf
