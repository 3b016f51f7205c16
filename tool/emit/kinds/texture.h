// Textures in kernels: the function is handed what is bound, or a texel of it.
#pragma once

#include <string>

#include "emit/argument_text.h"
#include "emit/kinds/questions.h"

namespace kf::gen::kinds {

using manifest::kinds::Texture;

inline Supply supply_of(const Texture& texture, const manifest::Argument&) {
    return texture.per_pixel ? Supply::texel : Supply::bound;
}
std::optional<MadeValue> made_value(const Texture& texture, const MadeUse& use);
inline bool counts_calls(const Texture& texture) { return texture.per_pixel; }
inline bool moves_along_calls(const Texture&, const manifest::Argument&) { return false; }
inline bool is_found_without_strides(const Texture&, const manifest::Argument&) { return true; }
std::string cpp_passed_type(const Texture& texture, const PlannedArgument& item, const CppStructs& structs);
PythonTypes python_types(const Texture& texture, const PlannedArgument& item, bool takes_gradient);
std::string described(const Texture& texture, const PlannedArgument& item);

}  // namespace kf::gen::kinds

namespace kf::gen {

/// Whether kernels for SPIR-V declare it with the other elements of an array: a texture or sampler, of which
/// no local array can be made there.
[[nodiscard]] bool is_array_element(const PlannedArgument& argument, CodeTarget target);
/// "scene.maps" of an element "scene.maps[1][0]", and likewise of its path in the parameter.
[[nodiscard]] std::string array_name(const std::string& element);
/// The array's extents behind its name, "[2][3]", where this is its first element; else nothing.
[[nodiscard]] std::string array_extents(const PlannedCall& call, const PlannedArgument& element);
/// Errors ("type-not-supported") for arrays of structs with textures or samplers, which Slang makes no SPIR-V
/// of.
[[nodiscard]] Diagnostics check_texture_arrays(const PlannedCall& call);

/// The type that a kernel declares the resource of a texture as, whose texels feed calls:
/// "RWTexture2D<float4>".
[[nodiscard]] std::string bound_texture_type(const PlannedArgument& argument);

/// A statement that stores what `value` holds as the call's texel.
[[nodiscard]] std::string texel_store(const ArgumentText& argument, const std::string& value);

}  // namespace kf::gen
