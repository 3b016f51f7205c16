// What the ways to read another library's tensor share.
#pragma once

#include "core/overlap.h"
#include "python/foreign.h"

namespace kf::python {

/// Refuses a rank that tensors can't have.
bool take_shape(std::int64_t rank, detail::Refusal* why);
/// Reads what DLPack's struct says; returns false, and why, where kernels have no such tensors.
bool take_tensor(const dlpack::Tensor& given, ForeignTensor& tensor, detail::Refusal* why);
/// Gives a tensor the strides of a contiguous one.
void fill_strides(ForeignTensor& tensor);
[[nodiscard]] bool has_elements(const ForeignTensor& tensor);

/// Returns the bytes that a tensor with elements lies in; nothing where they are no bytes of an address
/// space.
std::optional<detail::Reach> reach_of(const ForeignTensor& tensor);

}  // namespace kf::python
