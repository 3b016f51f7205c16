// Recognises the tensor types of kf.slang.
#pragma once

#include <slang.h>

#include <optional>

#include "slang/module.h"

namespace kf::gen {

/// What Tensor<float3, 2> and its kin are made of.
struct FoundTensor {
    TensorForm form = TensorForm::read;
    slang::TypeReflection* element = nullptr;
    std::int64_t rank = 0;
};

/// Nothing for any other struct, and where the element or rank is a generic parameter.
std::optional<FoundTensor> find_tensor(slang::TypeReflection& type);

}  // namespace kf::gen
