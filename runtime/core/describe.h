// The words for calls and arguments in error messages.
#pragma once

#include <kf/any_tensor.h>

#include <string>

#include "core/manifest.h"
#include "core/scalar_range.h"

namespace kf::detail {

/// "a float", "an int2".
[[nodiscard]] std::string with_article(const std::string& noun);
/// "the global 'tint', which it reads, isn't set: set() does that", of "globals.tint".
[[nodiscard]] std::string unset_global_text(const std::string& parameter);
/// Throws ArgumentError (missing_argument) for such a global.
[[noreturn]] void fail_unset_global(const std::string& function, const std::string& parameter);
/// The element as Slang spells it: "float3", "float[4]".
[[nodiscard]] std::string type_text(const manifest::Argument& argument);
/// Whether the element's last extent is a vector's, of which x, y, z and w are the components.
[[nodiscard]] bool ends_in_vector(const manifest::Argument& argument);
/// "float", "float3 tensor[2]".
[[nodiscard]] std::string describe(const manifest::Argument& argument);
/// "polynomial(a: float, x: float tensor[1]) -> float tensor[1]".
[[nodiscard]] std::string describe(const manifest::Function& function, const manifest::Call& call);
/// The same of a parameter: "Ray tensor[1]", "{pos: float3 tensor[1], t: float}".
[[nodiscard]] std::string describe(const manifest::Call& call, const manifest::ParameterTree& parameter);
/// What the host passes that argument `i` is of: "ray", where that is a struct given whole, or "ray.origin".
[[nodiscard]] std::string host_name(const manifest::Call& call, std::size_t i);
/// The same in words: "Ray tensor[1]", "float3".
[[nodiscard]] std::string host_text(const manifest::Call& call, std::size_t i);
/// Its shape, from the argument's in scalars: of a tensor of structs that of the structs.
[[nodiscard]] Dims host_shape(const manifest::Call& call, std::size_t i, const Dims& flat_shape);
/// The same of strides in scalars: of a tensor of structs in structs.
[[nodiscard]] Dims host_strides(const manifest::Call& call, std::size_t i, const Dims& flat_strides);
/// "a float tensor of shape [2, 3]", the element's own extents last.
[[nodiscard]] std::string describe_tensor(ScalarType scalar, const Dims& flat_shape);

}  // namespace kf::detail
