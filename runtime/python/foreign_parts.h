// What the ways to read another library's tensor share.
#pragma once

#include "python/foreign.h"

namespace kf::python {

/// Refuses a rank that tensors can't have.
bool take_shape(std::int64_t rank, detail::Refusal* why);
/// Reads what DLPack's struct says; returns false, and why, where kernels have no such tensors.
bool take_tensor(const dlpack::Tensor& given, ForeignTensor& tensor, detail::Refusal* why);
/// Gives a tensor the strides of a contiguous one.
void fill_strides(ForeignTensor& tensor);
[[nodiscard]] bool has_elements(const ForeignTensor& tensor);

/// The bytes between the first and the last element in memory, which negative strides put the other way
/// round.
struct Reach {
    std::uint64_t before = 0;  ///< of the element at index 0
    std::uint64_t size = 0;
};

/// Nothing where they are no bytes of an address space. Of a tensor that has elements.
std::optional<Reach> reach_of(const ForeignTensor& tensor);

}  // namespace kf::python
