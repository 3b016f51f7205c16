// How many kernels a call multiplies into, and the error when they are too many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "spec/spec.h"

namespace kf::gen {

inline constexpr std::uint64_t kernel_limit = 256;

/// The product that makes a call's kernels, factor by factor; a factor of 1 is not listed.
struct KernelProduct {
    std::vector<std::pair<std::string, std::uint64_t>> factors;  ///< ("x", 3), ("passes", 2) …

    /// Saturates instead of wrapping.
    [[nodiscard]] std::uint64_t total() const;
    /// "x: 3 * passes: 2 = 6".
    [[nodiscard]] std::string text() const;
};

/// Alternatives of every argument, of `this` and of the result, then variants, then passes. The
/// planner adds what only it knows (layouts, targets). Never expands anything.
KernelProduct kernel_product(const CallSpec& call);

/// "spec-too-many-kernels", with the product in the message, when it is above the limit.
std::optional<Diagnostic> check_kernel_limit(const CallSpec& call, const KernelProduct& product,
                                             std::uint64_t limit = kernel_limit);

}  // namespace kf::gen
