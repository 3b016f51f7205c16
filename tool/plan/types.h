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

/// Returns whether it is a resource beside a kernel's block: a buffer, texture or sampler.
bool is_resource(const Type& type);
/// Returns whether it is such a resource, or a struct or array with one in it.
bool holds_resource(const Type& type);
/// Returns whether it is a tensor, or a struct or array with one in it.
bool holds_tensor(const Type& type);
/// Returns whether it is a struct of Slang's own, such as Optional<T>, or holds one.
bool holds_own_struct(const Type& type);

/// Whether it is, or holds, an array whose extent depends on linking.
bool is_link_sized(const Type& type);

/// The kind that takes a texture as it is: "rwtexture2d_array".
std::string texture_kind(const Type& type);

/// Returns notes on a type that has no element: why, and what to use instead.
std::vector<std::string> notes_of_refused(const Type& type);

/// The host element of a scalar, vector, matrix or sized array of such (float3: float32, {3};
/// float2x3[4]: float32, {4, 2, 3}); nothing for any other type, or past four extents.
std::optional<manifest::Element> element_of(const Type& type);

/// Returns what it is made of in the end: of arrays and tensors their elements', else itself.
const Type& innermost_of(const Type& type);
/// Returns the type that an array is made of in the end: a tensor stays one.
const Type& innermost_of_arrays(const Type& type);
/// `text`, the element that a kind names, with the integer that an enum is kept in for the enum that `type`
/// is made of: "int[2]" for "Color[2]".
std::string without_enum(const std::string& text, const Type& type);
/// The other way round, for enums that have members: "Color[2]" for "int[2]".
std::string with_enum(const std::string& text, const Type& type);
/// "Color", the last part of an enum's name.
std::string enum_last_name(const Type& type);

/// How kernels declare it: "float3", "float2x3", "Array<float2, 3>".
std::string declared_name(const Type& type);
/// How a kind's <...> spells it: "float3", "float2x3", "float2[3]"; of a tensor, its element.
std::string kind_name(const Type& type);

/// Reads "float3", "half", "float2x3", "uint8_t2[4]": the spellings that a kind's <...> takes.
std::optional<manifest::Element> parse_element(std::string_view name);

/// "float3", "float2x3", "float[5]", "int[2][3][4]": read by parse_element(), and laid out alike. What is
/// like a vector or matrix is spelled as one, and an array of vectors as one of arrays.
std::string slang_name(const manifest::Element& element);

/// A number far above the scalars of any argument; sizes in bytes that are made of it fit 64 bits.
inline constexpr std::int64_t most_scalars = std::int64_t{1} << 48;

/// How many scalars one element has, or most_scalars where there are more.
std::int64_t scalar_count(const std::vector<std::int64_t>& extents);

/// "bool", "int8_t" …
std::vector<std::string> scalar_type_names();
/// The names of every scalar and vector type that a kind's <...> takes, for suggestions.
std::vector<std::string> element_names();

}  // namespace kf::gen
