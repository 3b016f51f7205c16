// Recognises the tensor types of kf.slang.
#pragma once

#include <slang.h>

#include <optional>
#include <string>

#include "slang/module.h"

namespace kf::gen {

/// What Tensor<float3, 2> and its kin, and DiffTexture2D<float3>, are made of.
struct FoundTensor {
    TensorForm form = TensorForm::read;
    slang::TypeReflection* element = nullptr;
    std::int64_t rank = 0;
    std::string addressing = {};  ///< as in Type
};

/// Nothing for any other struct, and where the element or rank is a generic parameter.
std::optional<FoundTensor> find_tensor(slang::TypeReflection& type);

}  // namespace kf::gen
