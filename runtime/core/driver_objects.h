// What drivers make, and what commands are given of it: memory and kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "core/awaited.h"
#include "core/images.h"

namespace kf::driver {

/// Device memory; freed (returned to the device's cache, or left to whose it is) once the last owner and the
/// last submission that uses it are done. Thread-safe.
class Allocation : public std::enable_shared_from_this<Allocation>, public Awaited {
public:
    virtual ~Allocation() = default;
    std::uint64_t address = 0;  ///< device address
    std::uint64_t size = 0;     ///< bytes, as asked for
    /// Where the host has the same bytes, to read and write while no command uses them; null for memory that
    /// it reaches by commands only.
    std::byte* host = nullptr;
    const void* home = nullptr;  ///< what a driver knows its own by: the context that they are of
    bool is_wrapped = false;     ///< memory of somebody else's, in which other allocations may lie as well
    bool is_in_order = false;    ///< the caller sees to the order of what uses it
};

/// Memory that somebody else owns, as Device::wrap() takes it.
struct ForeignMemory {
    /// CUDA: a device address. Vulkan: a VkBuffer of the device's, with the usages that storage buffers,
    /// device addresses, and transfers from and to it need.
    std::uint64_t handle = 0;
    std::uint64_t offset = 0;     ///< bytes from there to the first one
    std::uint64_t size = 0;       ///< bytes
    std::shared_ptr<void> owner;  ///< keeps the memory; null where the caller does
    /// CUDA: the caller sees to the order of what uses it on several streams, and gives a new address and
    /// size to the allocation for other memory, once all commands on the old one are issued.
    bool is_in_order = false;
};

/// Memory of the host's, as Device::import_host() takes it.
struct HostMemory {
    std::byte* bytes = nullptr;
    std::uint64_t size = 0;
    std::shared_ptr<void> owner;  ///< keeps it while commands use it
};

/// One buffer that a command touches; how barriers are found. Lent for as long as the command is given: who
/// keeps it longer owns the allocation as well.
struct Use {
    Use() = default;  ///< of nothing known: calls have room for dozens
    Use(Allocation* touched, bool writes_it) : allocation(touched), writes(writes_it) {}
    Use(const std::shared_ptr<Allocation>& touched, bool writes_it) : Use(touched.get(), writes_it) {}

    Allocation* allocation;
    bool writes;
};

inline constexpr std::uint64_t most_zeros = 64ULL << 10;   ///< bytes that Device::zeros() may give
inline constexpr std::uint64_t most_mapped = 64ULL << 10;  ///< bytes that Device::allocate_mapped() may give

/// Bytes [offset, offset + size) of an allocation, as a buffer of a kernel's.
struct BufferRange {
    std::shared_ptr<Allocation> allocation;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool is_empty = false;  ///< it stands for a buffer of no elements, which Vulkan can't bind
};

/// What a dispatch gives for one of its kernel's manifest::ResourceSlots, of the same kind. Drivers refuse to
/// load kernels that take what they lack.
using Resource = std::variant<BufferRange, ImageBinding, SamplerBinding>;

/// A kernel made ready on one device.
class Kernel : public std::enable_shared_from_this<Kernel> {
public:
    virtual ~Kernel() = default;
    std::uint32_t resident_groups = 0;   ///< that one processor runs at once; 0: the driver doesn't say
    std::uint32_t calls_per_thread = 0;  ///< as Info::calls_per_thread, or fewer: its own loops need room
    const void* home = nullptr;          ///< as Allocation::home
};

}  // namespace kf::driver
