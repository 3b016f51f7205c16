// Picks among the functions that a call spec's variants make of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/manifest.h"

namespace kf::detail {

/// What a variant is found by; it must agree with all that is said.
struct VariantRequest {
    std::string name = {};
    std::vector<std::int64_t> threads = {};
    std::vector<std::pair<std::string, std::string>> constants = {};  ///< name and value: "8", "0.5", "true"
    std::vector<std::pair<std::string, std::string>> types = {};
    /// All types of an interface, in any order.
    std::vector<std::pair<std::string, std::vector<std::string>>> conformances = {};

    [[nodiscard]] bool says_anything() const;
};

/// Returns the variant of function number `index` that the request means, by number, with the ways to
/// accumulate that the function has. Throws ArgumentError (unknown_name) unless it is exactly one.
std::size_t variant_function(const manifest::Manifest& manifest, std::size_t index,
                             const VariantRequest& request);

}  // namespace kf::detail
