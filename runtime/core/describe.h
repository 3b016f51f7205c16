// The words for calls and arguments in error messages.
#pragma once

#include <kf/any_tensor.h>

#include <string>

#include "core/manifest.h"

namespace kf::detail {

/// "a float", "an int2".
[[nodiscard]] std::string with_article(const std::string& noun);
/// The element as Slang spells it: "float3", "float[4]".
[[nodiscard]] std::string type_text(const manifest::Argument& argument);
/// Whether the element's last extent is a vector's, of which x, y, z and w are the components.
[[nodiscard]] bool ends_in_vector(const manifest::Argument& argument);
/// "-128 to 127", of an integer type.
[[nodiscard]] std::string range_text(ScalarType scalar);
/// "float", "float3 tensor[2]".
[[nodiscard]] std::string describe(const manifest::Argument& argument);
/// "polynomial(a: float, x: float tensor[1]) -> float tensor[1]".
[[nodiscard]] std::string describe(const manifest::Function& function, const manifest::Call& call);
/// "a float tensor of shape [2, 3]", the element's own extents last.
[[nodiscard]] std::string describe_tensor(ScalarType scalar, const Dims& flat_shape);

}  // namespace kf::detail
