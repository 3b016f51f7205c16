// Arrays in the host's memory that kernels use where they lie.
#pragma once

#include <kf/any_tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kf::detail {

struct HostArray {
    std::byte* first = nullptr;  ///< where the first element is; others may be before it
    ElementType element;
    Dims shape;
    Dims strides;                 ///< in bytes
    std::int64_t alignment = 1;   ///< bytes, that kernels ask of each element's place
    std::size_t inner = 0;        ///< dimensions, the last ones, that must lie without gaps
    std::shared_ptr<void> owner;  ///< keeps the memory while commands use it
};

/// How a call uses an array.
enum class HostUse : std::uint8_t {
    once,  ///< each element once, or a few times
    often  ///< any number of times, or by several calls at once
};

/// Returns the array as a tensor over its own memory, for one call that then waits for it: wait_until_idle().
/// Null where it has to be copied: the device can't use it as it lies, or not as fast.
[[nodiscard]] AnyTensor import_host(const Device& device, HostArray array, HostUse use);

/// Flushes, and waits until no command uses the tensor's memory.
void wait_until_idle(const AnyTensor& tensor);

}  // namespace kf::detail
