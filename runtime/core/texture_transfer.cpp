// Moves texels between textures, the host and tensors.
#include <kf/any_texture.h>
#include <kf/device.h>
#include <kf/error.h>
#include <kf/texture_kind.h>

#include <optional>
#include <string>

#include "core/describe.h"
#include "core/overlap.h"
#include "core/recording.h"
#include "core/tensor_state.h"
#include "core/texture_state.h"

namespace kf {
namespace {

using detail::state_of;
using detail::TensorState;
using detail::TextureState;

/// Extents of the texels in memory: layers, where the texture has them, then its own.
Dims texels_shape(const TextureShape& shape) {
    Dims extents;
    if (shape.is_array || shape.is_cube) extents.push_back(shape.layers);
    for (const std::int64_t extent : shape.extents) extents.push_back(extent);
    return extents;
}

ElementType texel_element(TextureFormat format) {
    const TextureFormatInfo& info = info_of(format);
    ElementType element;
    element.scalar = info.scalar;
    if (info.components > 1) {
        element.rank = 1;
        element.extents[0] = info.components;
    }
    return element;
}

/// A box of the view's first mip, in all of its layers.
struct Box {
    driver::ImageRegion region;
    std::int64_t texels = 0;
};

Box box_of(const TextureState& state, const Dims& offset, const Dims& extent) {
    Box box;
    box.region.mip = state.range.first_mip;
    box.region.first_layer = state.range.first_layer;
    box.region.layers = state.range.layers;
    box.texels = state.shape.layers;
    const std::size_t rank = extent.size();
    for (std::size_t i = 0; i < rank; ++i) {
        // From the last extent on: x, y, z.
        box.region.offset[rank - 1 - i] = static_cast<std::uint32_t>(offset[i]);
        box.region.extent[rank - 1 - i] = static_cast<std::uint32_t>(extent[i]);
        box.texels *= extent[i];
    }
    return box;
}

Box whole(const TextureState& state) {
    return box_of(state, Dims(state.shape.extents.size(), 0), state.shape.extents);
}

/// A box that the caller names.
Box checked_box(const char* what, const TextureState& state, const Dims& offset, const Dims& extent) {
    const Dims& there = state.shape.extents;
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        throw ArgumentError(code, std::string(what) + ": offset " + to_string(offset) + ", extent " +
                                      to_string(extent) + why + "; the texture has shape " +
                                      to_string(there));
    };
    if (offset.size() != there.size() || extent.size() != there.size())
        refuse(ErrorCode::rank_mismatch, " have other dimensions (neither layers nor channels count)");
    for (std::size_t i = 0; i < there.size(); ++i) {
        const bool is_inside =
            offset[i] >= 0 && offset[i] < there[i] && extent[i] >= 1 && extent[i] <= there[i] - offset[i];
        if (!is_inside) refuse(ErrorCode::index_range, " lie outside of it");
    }
    return box_of(state, offset, extent);
}

void check_bytes(const char* what, const TextureState& state, const Box& box, std::size_t bytes) {
    const std::size_t texel = info_of(state.shape.format).size();
    if (bytes == static_cast<std::size_t>(box.texels) * texel) return;
    throw ArgumentError(ErrorCode::shape_mismatch,
                        std::string(what) + ": " + std::to_string(box.texels) + " texels of " +
                            std::to_string(texel) + " bytes (" +
                            std::string(info_of(state.shape.format).name) + ") are " +
                            std::to_string(static_cast<std::size_t>(box.texels) * texel) +
                            " bytes, the host side has " + std::to_string(bytes));
}

void read_box(const char* what, const TextureState& state, const Box& box, std::span<std::byte> bytes) {
    check_bytes(what, state, box, bytes.size());
    detail::check_read(what, *state.image);
    state.device->driver().read_back_image(state.image, box.region, bytes);
    state.device->take_reports();
}

void write_box(const char* what, const TextureState& state, const Box& box,
               std::span<const std::byte> bytes) {
    check_bytes(what, state, box, bytes.size());
    state.image->note_written();
    driver::Device& driver = state.device->driver();
    driver.admit(bytes.size());
    driver.upload_image(state.image, box.region, bytes);
}

/// Refuses a tensor that doesn't hold the texels of the view's first mip as they are.
void check_tensor(const char* what, const TextureState& texture, const AnyTensor& given) {
    const TensorState& tensor = state_of(given);
    const ElementType texel = texel_element(texture.shape.format);
    const Dims shape = texels_shape(texture.shape);
    const std::string found =
        detail::with_article(to_string(tensor.element)) + " tensor of shape " + to_string(tensor.shape);
    const std::string format(info_of(texture.shape.format).name);
    if (!tensor.device->is_same(*texture.device)) {
        throw ArgumentError(ErrorCode::device_mismatch, std::string(what) + ": the texture is on " +
                                                            texture.device->info().id + ", the tensor on " +
                                                            tensor.device->info().id);
    }
    if (tensor.element.struct_size != 0 || tensor.element.scalar != texel.scalar) {
        throw ArgumentError(ErrorCode::type_mismatch,
                            std::string(what) + ": texels of " + format + " are " + to_string(texel) +
                                ", found " + found +
                                "; nothing is converted: a function that writes a texture of " + format +
                                " from a tensor (or reads it into one) does that");
    }
    Dims scalars = shape;
    if (texel.rank != 0) scalars.push_back(texel.extents[0]);
    Dims one = shape;
    one.push_back(1);
    const bool by_texels = tensor.element == texel && tensor.shape == shape;
    const bool by_scalars =
        tensor.element.rank == 0 && (tensor.shape == scalars || (texel.rank == 0 && tensor.shape == one));
    if (!by_texels && !by_scalars) {
        throw ArgumentError(ErrorCode::shape_mismatch,
                            std::string(what) + ": expected " + detail::with_article(to_string(texel)) +
                                " tensor of shape " + to_string(shape) +
                                (texel.rank == 0 ? std::string()
                                                 : " (or " + detail::with_article(to_string(texel.scalar)) +
                                                       " tensor of shape " + to_string(scalars) + ")") +
                                ", found " + found);
    }
    if (!detail::is_dense(tensor.shape, tensor.strides)) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            std::string(what) + ": the tensor isn't contiguous; it has shape " +
                                to_string(tensor.shape) + " and strides " + to_string(tensor.strides));
    }
}

/// Returns whether the tensor begins where drivers can address texels: at a multiple of their size.
bool is_aligned(const TensorState& tensor, std::size_t texel) { return tensor.offset % texel == 0; }

}  // namespace

namespace detail {

std::size_t texel_count(const AnyTexture& texture, const Dims& offset, const Dims& extent) {
    return static_cast<std::size_t>(
        checked_box("region_to_vector", state_of(texture), offset, extent).texels);
}

void check_texel(TextureFormat format, const ElementType& element) {
    const ElementType texel = texel_element(format);
    if (element == texel) return;
    throw ArgumentError(ErrorCode::type_mismatch, "texels of " + std::string(info_of(format).name) + " are " +
                                                      to_string(texel) + " on the host, which has " +
                                                      to_string(element));
}

}  // namespace detail

std::size_t AnyTexture::size_bytes() const {
    const TextureState& state = state_of(*this);
    return static_cast<std::size_t>(whole(state).texels) * info_of(state.shape.format).size();
}

void AnyTexture::read(std::span<std::byte> bytes) const {
    const TextureState& state = state_of(*this);
    read_box("read", state, whole(state), bytes);
}

void AnyTexture::write(std::span<const std::byte> bytes) const {
    detail::check_unrecorded("write");
    detail::write_unrecorded(*this, bytes);
}

void detail::write_unrecorded(const AnyTexture& texture, std::span<const std::byte> bytes) {
    const TextureState& state = state_of(texture);
    write_box("write", state, whole(state), bytes);
}

void AnyTexture::read_region(const Dims& offset, const Dims& extent, std::span<std::byte> bytes) const {
    const TextureState& state = state_of(*this);
    read_box("read_region", state, checked_box("read_region", state, offset, extent), bytes);
}

void AnyTexture::write_region(const Dims& offset, const Dims& extent,
                              std::span<const std::byte> bytes) const {
    const TextureState& state = state_of(*this);
    detail::check_unrecorded("write_region");
    write_box("write_region", state, checked_box("write_region", state, offset, extent), bytes);
}

void AnyTexture::copy_from(const AnyTensor& tensor) const {
    const TextureState& state = state_of(*this);
    check_tensor("copy_from", state, tensor);
    detail::check_unrecorded("copy_from");
    const TensorState& source = state_of(tensor);
    detail::check_read("copy_from", *source.allocation);
    state.image->note_written();
    driver::Device& driver = state.device->driver();
    driver.admit();
    const std::uint64_t bytes = size_bytes();
    if (is_aligned(source, info_of(state.shape.format).size())) {
        driver.copy_to_image(state.image, whole(state).region, source.allocation, source.offset);
        return;
    }
    const std::shared_ptr<driver::Allocation> aligned = state.device->allocate_scratch(bytes);
    driver.copy(aligned, 0, source.allocation, source.offset, bytes);
    driver.copy_to_image(state.image, whole(state).region, aligned, 0);
}

void AnyTexture::copy_to(const AnyTensor& tensor) const {
    const TextureState& state = state_of(*this);
    check_tensor("copy_to", state, tensor);
    detail::check_unrecorded("copy_to");
    detail::check_read("copy_to", *state.image);
    const TensorState& target = state_of(tensor);
    target.allocation->note_written();
    driver::Device& driver = state.device->driver();
    driver.admit();
    const std::uint64_t bytes = size_bytes();
    if (is_aligned(target, info_of(state.shape.format).size())) {
        driver.copy_from_image(target.allocation, target.offset, state.image, whole(state).region);
        return;
    }
    const std::shared_ptr<driver::Allocation> aligned = state.device->allocate_scratch(bytes);
    driver.copy_from_image(aligned, 0, state.image, whole(state).region);
    driver.copy(target.allocation, target.offset, aligned, 0, bytes);
}

AnyTensor AnyTexture::to_tensor() const {
    const TextureState& state = state_of(*this);
    AnyTensor made = AnyTensor::empty(device(), texel_element(state.shape.format), texels_shape(state.shape));
    copy_to(made);
    return made;
}

void AnyTexture::generate_mips() const {
    const TextureState& state = state_of(*this);
    if (!info_of(state.shape.format).is_float()) {
        throw ArgumentError(ErrorCode::type_mismatch,
                            "generate_mips: texels of " + std::string(info_of(state.shape.format).name) +
                                " are integers, which have no mean; write each mip(i) by a function");
    }
    if (state.shape.mips == 1) return;
    detail::check_unrecorded("generate_mips");
    driver::Device& driver = state.device->driver();
    driver.admit();
    driver.generate_mips(state.image, state.range);
}

}  // namespace kf
