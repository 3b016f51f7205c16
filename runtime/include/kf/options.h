// kf::Options: how a function is called, where that is left to run time.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kf/any_tensor.h>

namespace kf {

/// How many threads run, of functions that the host launches thread by thread: entry points, and those whose
/// call spec says "dispatch": "threads".
struct Launch {
    std::array<std::uint32_t, 3> count{1, 1, 1};  ///< threads, x first
    bool in_groups = false;                       ///< `count` is of whole groups of threads
    /// Threads of a group that the caller relies on, x first; all 0: whatever the kernel was generated for.
    std::array<std::uint32_t, 3> group_size{};

    static constexpr Launch threads(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        return {{x, y, z}, false, {}};
    }
    static constexpr Launch groups(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        return {{x, y, z}, true, {}};
    }
    bool operator==(const Launch&) const = default;
};

/// The value of a constant: a number or a truth value.
class ConstantValue {
public:
    // NOLINTBEGIN(google-explicit-constructor)
    template <std::integral Number>
    ConstantValue(Number value) : text_(text_of(value)) {}
    ConstantValue(double value);
    ConstantValue(float value);
    // NOLINTEND(google-explicit-constructor)

    /// "8", "0.5", "true"
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    template <class Number>
    static std::string text_of(Number value) {
        if constexpr (std::same_as<Number, bool>) {
            return value ? "true" : "false";
        } else {
            return std::to_string(value);
        }
    }

    std::string text_;
};

/// Options of a function. Those that aren't set stay as they are.
struct Options {
    /// Whether gradients (and outputs that are sums) that several calls add to are the same bits from run to
    /// run on one device. It takes kernels that the call spec asks for ("deterministic": true or "auto"); a
    /// backward call without them is an ArgumentError (no_deterministic_kernel), unless each of its calls has
    /// a gradient of its own.
    std::optional<bool> deterministic = std::nullopt;
    /// The size of the launch, as set by `.threads()` and `.groups()` of a function. A function that takes
    /// none, and one that needs one and has none, is an ArgumentError (unknown_name, missing_argument).
    std::optional<Launch> launch = std::nullopt;

    /// Memory that calls reach through pointers: commands before and after wait for each other by it, and it
    /// lives until the calls are done. Of a tensor or buffer that is given for a pointer itself this says
    /// what is done with it; not named here, it counts as read, and as written where the pointer's type
    /// allows.
    std::vector<AnyTensor> reads = {};
    std::vector<AnyTensor> writes = {};

    /// Which of the variants in the call spec: {.variant = "tiled"}. Functions keep what it picks, not the
    /// name.
    std::string_view variant = {};
    /// Values of the constants that the call spec lists for run time to choose: {.constants = {{"N", 8}}}.
    /// One that isn't named stays as it is. Functions keep what they pick, as above. ArgumentErrors:
    /// unknown_name, type_mismatch, value_range.
    std::vector<std::pair<std::string_view, ConstantValue>> constants = {};

    /// Returns these options, with those that are set in `chosen`; without its variant and constants.
    [[nodiscard]] Options with(const Options& chosen) const {
        const bool told = !chosen.reads.empty() || !chosen.writes.empty();
        return {chosen.deterministic ? chosen.deterministic : deterministic,
                chosen.launch ? chosen.launch : launch,
                told ? chosen.reads : reads,
                told ? chosen.writes : writes,
                {},
                {}};
    }
};

/// How calls that share an element of an output or gradient are combined there, of what the call spec offers:
/// {"result", "sum"}, {"a.grad", "push"}.
using Accumulation = std::pair<std::string_view, std::string_view>;

/// Where the dimensions of an argument are in the call, of what the call spec has: {"w", {1}}.
using Mapping = std::pair<std::string_view, std::vector<std::int64_t>>;

}  // namespace kf
