// Lists of commands that a driver takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/driver_objects.h"

namespace kf::driver {

/// Groups in x, y and z. Nothing runs where one of them is 0.
using Grid = std::array<std::uint32_t, 3>;

struct Dispatch {
    Kernel* kernel = nullptr;  ///< lent, as what is used
    Grid groups{};
    std::span<const std::byte> block;          ///< the packed parameter block, copied before the call returns
    std::span<const Use> uses;                 ///< the memory that addresses in the block lead to
    std::span<const Resource> resources = {};  ///< one for each slot of the kernel's; they need no Use
    std::string_view label = {};               ///< what tools show; empty: the kernel's name
};

/// An ordered list of commands. Hazards between them are found from their uses. Not thread-safe.
class Recorder {
public:
    virtual ~Recorder() = default;
    virtual void dispatch(const Dispatch& dispatch) = 0;
    /// Fills bytes [offset, offset + size) with a repeated 32-bit word; both multiples of 4.
    virtual void fill(const std::shared_ptr<Allocation>& target, std::uint64_t offset, std::uint64_t size,
                      std::uint32_t word) = 0;
    virtual void copy(const std::shared_ptr<Allocation>& target, std::uint64_t target_offset,
                      const std::shared_ptr<Allocation>& source, std::uint64_t source_offset,
                      std::uint64_t size) = 0;
};

/// A list of commands that is recorded once and runs often: Device::replay(). Hazards between them, and with
/// what else runs, are found from their uses. One thread at a time.
class Graph : public Recorder {
public:
    /// Replaces the block of dispatch number `index`, counted as they were recorded, for later runs.
    virtual void set_block(std::size_t index, std::span<const std::byte> block) = 0;
};

}  // namespace kf::driver
