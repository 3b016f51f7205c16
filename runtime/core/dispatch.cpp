// What both drivers check of a command before they run it.
#include "core/dispatch.h"

#include <kf/error.h>

#include "core/image_checks.h"

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

namespace {

bool binds(manifest::ResourceKind kind, bool textures) {
    switch (kind) {
        case manifest::ResourceKind::buffer: return true;
        case manifest::ResourceKind::acceleration_structure: return false;
        default: return textures;
    }
}

/// How messages begin; nothing is written while all is well.
struct Who {
    const Info& info;
    const std::string& kernel;

    [[nodiscard]] std::string text() const { return info.backend + ": kernel '" + kernel + "'"; }
};

void check_buffer(const Who& who, const manifest::ResourceSlot& slot, const BufferRange& buffer) {
    const auto what = [&] { return " for its buffer '" + slot.name + "'"; };
    if (buffer.allocation == nullptr || buffer.size == 0) {
        throw ArgumentError(ErrorCode::missing_argument, who.text() + " is given no memory" + what());
    }
    const std::uint64_t whole = buffer.allocation->size;
    if (buffer.offset > whole || buffer.size > whole - buffer.offset) {
        throw ArgumentError(ErrorCode::index_range, who.text() + " is given " + std::to_string(buffer.size) +
                                                        " bytes at " + std::to_string(buffer.offset) +
                                                        " of " + std::to_string(whole) + what());
    }
}

void check_sampler(const Who& who, const manifest::ResourceSlot& slot, const Sampler* sampler) {
    if (sampler == nullptr) {
        throw ArgumentError(ErrorCode::missing_argument,
                            who.text() + " is given no sampler for '" + slot.name + "'");
    }
    if ((sampler->description.compare != Compare::none) != slot.is_comparison) {
        throw ArgumentError(ErrorCode::type_mismatch,
                            who.text() + " takes a sampler that " +
                                (slot.is_comparison ? "compares" : "doesn't compare") + " for '" + slot.name +
                                "', and is given one that does" + (slot.is_comparison ? "n't" : ""));
    }
}

/// What shaders read of such texels, in the words of ResourceSlot::texel.
std::string_view texel_word(TexelClass texel) {
    switch (texel) {
        case TexelClass::sint: return "int";
        case TexelClass::uint: return "uint";
        default: return "float";
    }
}

/// Returns whether the kernel's code can read and write the texels.
bool has_texels(const manifest::ResourceSlot& slot, const TextureFormatInfo& format) {
    return (slot.format.empty() || slot.format == format.name) &&
           (slot.texel.empty() || slot.texel == texel_word(format.texel));
}

/// "a 2D texture array of rgba8"
std::string wanted(const manifest::ResourceSlot& slot) {
    std::string text = "a " + view_name(static_cast<ImageDimension>(slot.dimension), slot.is_array);
    if (!slot.format.empty()) return text + " of " + slot.format;
    return slot.texel.empty() ? text : text + " of " + slot.texel + "s";
}

void check_image(const Who& who, const manifest::ResourceSlot& slot, const ImageBinding& given) {
    if (given.image == nullptr) {
        throw ArgumentError(ErrorCode::missing_argument,
                            who.text() + " is given no texture for '" + slot.name + "'");
    }
    if (!is_range_of(given.image->shape, given.range)) {
        fail_image_range(who.text() + ", '" + slot.name + "'", given.image->shape, given.range);
    }
    const TextureFormatInfo& format = info_of(given.image->shape.format);
    if (given.range.dimension != static_cast<ImageDimension>(slot.dimension) ||
        given.range.is_array != slot.is_array || !has_texels(slot, format)) {
        throw ArgumentError(
            ErrorCode::type_mismatch,
            who.text() + " takes " + wanted(slot) + " for '" + slot.name + "', and is given a " +
                view_name(given.range.dimension, given.range.is_array) + " of " + std::string(format.name));
    }
    if (slot.kind == manifest::ResourceKind::combined_texture) check_sampler(who, slot, given.sampler.get());
    if (slot.kind == manifest::ResourceKind::writable_texture && !given.image->shape.is_writable) {
        throw ArgumentError(ErrorCode::value_range, who.text() + " writes to '" + slot.name +
                                                        "' and is given " + to_string(given.image->shape) +
                                                        ", which was made read-only");
    }
}

}  // namespace

void check_resource_slots(const Info& info, const manifest::Kernel& kernel,
                          const manifest::BlockLayout& layout, bool textures) {
    bool whole = layout.resource_places.size() == kernel.resources.size();
    for (const manifest::ResourceSlot& slot : kernel.resources) {
        if (!binds(slot.kind, textures)) {
            const char* kind = manifest::resource_kind_names.at(static_cast<std::size_t>(slot.kind));
            throw DeviceError(ErrorCode::missing_feature, info.backend + ": kernel '" + kernel.name +
                                                              "' takes '" + slot.name + "' of the kind '" +
                                                              kind + "', which this driver doesn't bind");
        }
        whole = whole && (slot.kind != manifest::ResourceKind::buffer || slot.stride > 0);
    }
    if (!whole) {
        throw ArtifactError(ErrorCode::artifact_corrupt,
                            info.backend + ": kernel '" + kernel.name + "' has no places for its resources");
    }
}

void check_each_resource(const Info& info, const std::string& kernel,
                         std::span<const manifest::ResourceSlot> slots, std::span<const Resource> given) {
    const Who who{info, kernel};
    if (given.size() != slots.size()) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            who.text() + " takes " + std::to_string(slots.size()) + " resources, not " +
                                std::to_string(given.size()));
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const manifest::ResourceSlot& slot = slots[i];
        const auto* buffer = std::get_if<BufferRange>(&given[i]);
        const auto* image = std::get_if<ImageBinding>(&given[i]);
        const auto* sampler = std::get_if<SamplerBinding>(&given[i]);
        const bool is_buffer = slot.kind == manifest::ResourceKind::buffer;
        const bool is_sampler = slot.kind == manifest::ResourceKind::sampler;
        if (is_buffer ? buffer == nullptr : is_sampler ? sampler == nullptr : image == nullptr) {
            const std::string kind = manifest::resource_kind_names.at(static_cast<std::size_t>(slot.kind));
            throw ArgumentError(ErrorCode::layout_mismatch, who.text() + " is given no " + kind +
                                                                " for its " + kind + " '" + slot.name + "'");
        }
        if (buffer != nullptr) check_buffer(who, slot, *buffer);
        if (sampler != nullptr) check_sampler(who, slot, sampler->sampler.get());
        if (image != nullptr) check_image(who, slot, *image);
    }
}

}  // namespace kf::driver
