// What an AnyTensor points to.
#pragma once

#include <kf/any_tensor.h>

#include <memory>
#include <span>
#include <string>

#include "core/device_state.h"

namespace kf::detail {

/// Immutable. A tensor without elements has no allocation and address 0.
struct TensorState {
    std::shared_ptr<DeviceState> device;  ///< first: goes last
    std::shared_ptr<driver::Allocation> allocation;
    std::uint64_t offset = 0;  ///< of the first element, bytes into the allocation
    ElementType element;
    Dims shape;    ///< in elements
    Dims strides;  ///< in elements
    std::int64_t size = 0;
    AnyTensor grad_in;
    AnyTensor grad_out;
    std::shared_ptr<const std::string> name = nullptr;  ///< for messages and tools; null: none
    bool grad_is_new = false;  ///< what grad_out holds doesn't count: calls store to it, and add nothing

    [[nodiscard]] std::uint64_t address() const { return allocation ? allocation->address + offset : 0; }
};

/// The tensor's state; throws ArgumentError (missing_argument) where it is null.
[[nodiscard]] const TensorState& state_of(const AnyTensor& tensor);
/// Where a tensor's memory is: the device's, or mapped, for what the host reads or writes at once and kernels
/// touch once, where it is small enough; see driver::Device::allocate_mapped().
enum class Placement : std::uint8_t { device, mapped };
/// A row-major tensor of `owner`'s, elements undefined, with memory taken from `memory`: the same device, or
/// it on a stream.
[[nodiscard]] AnyTensor make_tensor(std::shared_ptr<DeviceState> owner, const DeviceState& memory,
                                    ElementType element, const Dims& shape,
                                    Placement place = Placement::device);
/// A tensor of mapped memory, or as AnyTensor::empty() makes it.
[[nodiscard]] AnyTensor make_mapped(const Device& device, ElementType element, const Dims& shape);
/// The same with these elements.
[[nodiscard]] AnyTensor make_mapped(const Device& device, ElementType element, const Dims& shape,
                                    std::span<const std::byte> bytes);
/// Does what AnyTensor::write() does, also while the thread records a graph: for a tensor that nobody else
/// has.
void write_unrecorded(const AnyTensor& tensor, std::span<const std::byte> bytes);
/// Extents in, row-major strides out.
[[nodiscard]] Dims row_major(const Dims& shape);
/// Tells whether a gradient of shape `gradient` can belong to a tensor of shape `shape`: along a dimension
/// where it has extent 1 and the tensor more, it gets the sum.
[[nodiscard]] bool sums_into(const Dims& gradient, const Dims& shape);
/// Returns such a gradient as a view of the tensor's shape, and any other as it is.
[[nodiscard]] AnyTensor widened(const AnyTensor& gradient, const Dims& shape);
/// The product of the extents; throws ArgumentError (shape_mismatch) for negative ones and past 2^62.
[[nodiscard]] std::int64_t checked_product(const Dims& extents, const char* what);

}  // namespace kf::detail
