// The words for calls and arguments in error messages.
#pragma once

#include <kf/any_tensor.h>

#include <string>

#include "core/manifest.h"

namespace kf::detail {

/// "a float", "an int2".
[[nodiscard]] std::string with_article(const std::string& noun);
/// "float", "float3 tensor[2]".
[[nodiscard]] std::string describe(const manifest::Argument& argument);
/// "polynomial(a: float, x: float tensor[1]) -> float tensor[1]".
[[nodiscard]] std::string describe(const manifest::Function& function, const manifest::Call& call);
/// "a float tensor of shape [2, 3]", the element's own extents last.
[[nodiscard]] std::string describe_tensor(ScalarType scalar, const Dims& flat_shape);

}  // namespace kf::detail
