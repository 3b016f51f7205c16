// What the kinds have in common for which the host passes elements: values and tensors.
#pragma once

#include <cstdint>
#include <string>

#include "core/manifest.h"
#include "core/record_list.h"

namespace kf::manifest::kinds {

/// Throws ArtifactError unless the element's extents are what the dimensions that are no call's end with.
void check_extents(const Argument& argument, const std::string& where);

/// "tensor<float>[2]".
[[nodiscard]] std::string tensor_spec_text(const Argument& argument, const std::string& element);

/// The extent along call dimension `k` where that is one of the element's, which come after the tensor's;
/// else 0.
[[nodiscard]] std::int64_t element_extent(const Argument& argument, std::size_t k);

/// Adds the records of the argument's data and gradients. `inner_strides`: how many strides of its inner
/// dimensions kernels are given, in all variants.
void list_element_records(const Argument& argument, std::int64_t index, std::int64_t inner_strides,
                          RecordList& list);

}  // namespace kf::manifest::kinds
