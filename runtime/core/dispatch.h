// What both drivers check of a command before they run it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/driver.h"

namespace kf::driver {

[[nodiscard]] inline bool is_empty(const Grid& groups) {
    return groups[0] == 0 || groups[1] == 0 || groups[2] == 0;
}

[[noreturn]] void fail_grid(const Info& info, const std::string& kernel, const Grid& groups);

/// Throws kf::ArgumentError (value_range), naming the dimension, where the device can't run so many groups. A
/// grid without groups is always fine.
inline void check_grid(const Info& info, const std::string& kernel, const Grid& groups) {
    const Grid& most = info.max_groups;
    if ((groups[0] > most[0] || groups[1] > most[1] || groups[2] > most[2]) && !is_empty(groups)) {
        fail_grid(info, kernel, groups);
    }
}

[[noreturn]] void fail_block(const Info& info, const std::string& kernel, std::size_t takes,
                             std::size_t given);
[[noreturn]] void fail_range(const Info& info, const Allocation* ours, std::uint64_t offset,
                             std::uint64_t size, const char* what);

/// Throws kf::ArgumentError (layout_mismatch) for a block of another size than the kernel takes.
inline void check_block(const Info& info, const std::string& kernel, std::size_t takes, std::size_t given) {
    if (given != takes) fail_block(info, kernel, takes, given);
}

/// Throws kf::ArgumentError: device_mismatch for no memory of the device's own, which `ours` is, and
/// index_range for bytes outside of it. `what`: what is done with them, as in "copy to".
inline void check_range(const Info& info, const Allocation* ours, std::uint64_t offset, std::uint64_t size,
                        const char* what) {
    if (ours == nullptr || offset > ours->size || size > ours->size - offset)
        fail_range(info, ours, offset, size, what);
}

/// Throws kf::ArgumentError (layout_mismatch) for what isn't filled in words. `place`: of the first byte.
void check_fill(const Info& info, std::uint64_t place, std::uint64_t size);

/// Throws kf::ArgumentError (aliasing) for places in one memory that overlap.
void check_copy(const Info& info, std::uint64_t to, std::uint64_t from, std::uint64_t size);

/// "3 x 4 x 5", or "3" where y and z are 1.
[[nodiscard]] std::string to_string(const Grid& groups);

/// The memory of a resource that is a buffer; null for others.
[[nodiscard]] inline std::shared_ptr<Allocation> memory_of(const Resource& resource) {
    const auto* buffer = std::get_if<BufferRange>(&resource);
    return buffer == nullptr ? nullptr : buffer->allocation;
}

/// The image of a resource that is a texture; null for others.
[[nodiscard]] inline Image* image_of(const Resource& resource) {
    const auto* image = std::get_if<ImageBinding>(&resource);
    return image == nullptr ? nullptr : image->image.get();
}

/// The sampler of a resource that is one, or has one; else null.
[[nodiscard]] inline Sampler* sampler_of(const Resource& resource) {
    if (const auto* image = std::get_if<ImageBinding>(&resource)) return image->sampler.get();
    const auto* sampler = std::get_if<SamplerBinding>(&resource);
    return sampler == nullptr ? nullptr : sampler->sampler.get();
}

/// Throws kf::DeviceError (missing_feature), naming the resource, where the kernel takes one that the driver
/// doesn't bind, and kf::ArtifactError where `layout` doesn't have a place for each. `textures`: the driver
/// binds textures and samplers.
void check_resource_slots(const Info& info, const manifest::Kernel& kernel,
                          const manifest::BlockLayout& layout, bool textures = false);

void check_each_resource(const Info& info, const std::string& kernel,
                         std::span<const manifest::ResourceSlot> slots, std::span<const Resource> given);

/// Throws kf::ArgumentError unless each slot is given its resource: layout_mismatch where there are more or
/// fewer, or of another kind, missing_argument for no memory, index_range for bytes, mips or layers outside
/// of it, shape_mismatch for a texture that can't be seen so, value_range for one that can't be written to.
inline void check_resources(const Info& info, const std::string& kernel,
                            std::span<const manifest::ResourceSlot> slots, std::span<const Resource> given) {
    if (!slots.empty() || !given.empty()) {
        check_each_resource(info, kernel, slots, given);
    }
}

}  // namespace kf::driver
