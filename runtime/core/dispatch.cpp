// What both drivers check of a command before they run it.
#include "core/dispatch.h"

#include <kf/error.h>

namespace kf::driver {

void fail_grid(const Info& info, const std::string& kernel, const Grid& groups) {
    std::size_t d = 0;
    while (groups.at(d) <= info.max_groups.at(d)) {
        ++d;
    }
    throw ArgumentError(ErrorCode::value_range, info.backend + ": kernel '" + kernel + "' is given " +
                                                    std::to_string(groups.at(d)) + " groups in " +
                                                    std::string("xyz").substr(d, 1) + "; at most " +
                                                    std::to_string(info.max_groups.at(d)) + " fit");
}

void fail_block(const Info& info, const std::string& kernel, std::size_t takes, std::size_t given) {
    throw ArgumentError(ErrorCode::layout_mismatch, info.backend + ": kernel '" + kernel + "' takes " +
                                                        std::to_string(takes) + " bytes of parameters, not " +
                                                        std::to_string(given));
}

void fail_range(const Info& info, const Allocation* ours, std::uint64_t offset, std::uint64_t size,
                const char* what) {
    if (ours == nullptr) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            info.backend + ": the memory to " + what + " is not of this device");
    }
    throw ArgumentError(ErrorCode::index_range, info.backend + ": bytes to " + what + ": " +
                                                    std::to_string(size) + " at " + std::to_string(offset) +
                                                    " of " + std::to_string(ours->size));
}

void check_fill(const Info& info, std::uint64_t place, std::uint64_t size) {
    if (place % 4 != 0 || size % 4 != 0) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            info.backend + ": a fill's offset and size are multiples of 4");
    }
}

void check_copy(const Info& info, std::uint64_t to, std::uint64_t from, std::uint64_t size) {
    if (to < from + size && from < to + size && size != 0)
        throw ArgumentError(ErrorCode::aliasing, info.backend + ": a copy's source and target overlap");
}

std::string to_string(const Grid& groups) {
    std::string text = std::to_string(groups[0]);
    if (groups[1] != 1 || groups[2] != 1) {
        text += " x " + std::to_string(groups[1]) + " x " + std::to_string(groups[2]);
    }
    return text;
}

void check_resource_slots(const Info& info, const manifest::Kernel& kernel,
                          const manifest::BlockLayout& layout) {
    bool whole = layout.resource_places.size() == kernel.resources.size();
    for (const manifest::ResourceSlot& slot : kernel.resources) {
        if (slot.kind != manifest::ResourceKind::buffer) {
            const char* kind = manifest::resource_kind_names.at(static_cast<std::size_t>(slot.kind));
            throw DeviceError(ErrorCode::missing_feature, info.backend + ": kernel '" + kernel.name +
                                                              "' takes '" + slot.name + "' of the kind '" +
                                                              kind + "', which this driver doesn't bind");
        }
        whole = whole && slot.stride > 0;
    }
    if (!whole) {
        throw ArtifactError(ErrorCode::artifact_corrupt,
                            info.backend + ": kernel '" + kernel.name + "' has no places for its resources");
    }
}

void check_each_resource(const Info& info, const std::string& kernel,
                         std::span<const manifest::ResourceSlot> slots, std::span<const Resource> given) {
    const std::string who = info.backend + ": kernel '" + kernel + "'";
    if (given.size() != slots.size()) {
        throw ArgumentError(ErrorCode::layout_mismatch, who + " takes " + std::to_string(slots.size()) +
                                                            " resources, not " +
                                                            std::to_string(given.size()));
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto check_buffer = [&](const BufferRange& buffer) {
            const std::string what = " for its buffer '" + slots[i].name + "'";
            if (buffer.allocation == nullptr || buffer.size == 0) {
                throw ArgumentError(ErrorCode::missing_argument, who + " is given no memory" + what);
            }
            const std::uint64_t whole = buffer.allocation->size;
            if (buffer.offset > whole || buffer.size > whole - buffer.offset) {
                throw ArgumentError(ErrorCode::index_range, who + " is given " + std::to_string(buffer.size) +
                                                                " bytes at " + std::to_string(buffer.offset) +
                                                                " of " + std::to_string(whole) + what);
            }
        };
        const auto* buffer = std::get_if<BufferRange>(&given[i]);
        if (buffer == nullptr) {
            throw ArgumentError(ErrorCode::layout_mismatch,
                                who + " is given no buffer for its buffer '" + slots[i].name + "'");
        }
        check_buffer(*buffer);
    }
}

}  // namespace kf::driver
