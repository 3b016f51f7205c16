// Slang types as host elements: how many scalars, of which type, in which extents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/manifest.h"
#include "slang/module.h"

namespace kf::gen {

/// The host element of a scalar or vector type (float3: float32, {3}); nothing for any other type.
std::optional<manifest::Element> element_of(const Type& type);

/// Reads "float3", "half", "uint8_t2": the spellings that a kind's <...> takes.
std::optional<manifest::Element> parse_element(std::string_view name);

/// As Slang spells it: "float3".
std::string slang_name(const manifest::Element& element);
std::string slang_name(manifest::Scalar scalar);

/// Bytes of one scalar where tensors keep it (bool: 1).
std::int64_t storage_size(manifest::Scalar scalar);

/// How many scalars one element has.
std::int64_t scalar_count(const std::vector<std::int64_t>& extents);

bool is_floating_point(manifest::Scalar scalar);

/// The names of every scalar and vector type that a kind's <...> takes, for suggestions.
std::vector<std::string> element_names();

}  // namespace kf::gen
