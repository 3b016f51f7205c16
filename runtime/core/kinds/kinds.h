// The kinds of arguments, each with what it alone needs. docs/adding_a_kind.md says what a new one takes.
#pragma once

#include <variant>

#include "core/kinds/buffer.h"
#include "core/kinds/constant.h"
#include "core/kinds/generator.h"
#include "core/kinds/pointer.h"
#include "core/kinds/sampler.h"
#include "core/kinds/tensor.h"
#include "core/kinds/texture.h"
#include "core/kinds/value.h"
#include "core/kinds/whole_tensor.h"

namespace kf::manifest {

using Kind = std::variant<kinds::Value, kinds::Tensor, kinds::WholeTensor, kinds::Generator, kinds::Constant,
                          kinds::Pointer, kinds::Buffer, kinds::Texture, kinds::Sampler>;

}  // namespace kf::manifest
