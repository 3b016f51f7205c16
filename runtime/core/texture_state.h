// What an AnyTexture points to.
#pragma once

#include <kf/any_texture.h>

#include <cstddef>
#include <memory>
#include <span>

#include "core/device_state.h"

namespace kf::detail {

/// Immutable.
struct TextureState {
    std::shared_ptr<DeviceState> device;  ///< first: goes last
    std::shared_ptr<driver::Image> image;
    driver::ImageRange range;  ///< the view's mips and layers
    TextureShape shape;        ///< of the view
    Dims texels;      ///< the extents that feed a call: layers or faces, where it has them, and its own
    Sampler sampler;  ///< of a texture with one; else null
};

/// The texture's state; throws ArgumentError (missing_argument) where it is null.
[[nodiscard]] const TextureState& state_of(const AnyTexture& texture);
/// Does what AnyTexture::write() does, also while the thread records a graph: for a texture that nobody else
/// has.
void write_unrecorded(const AnyTexture& texture, std::span<const std::byte> bytes);
/// Somebody else's image as a texture, all of it. Throws what empty() and Device::wrap_image() throw.
[[nodiscard]] AnyTexture wrap_texture(const Device& device, const TextureShape& shape,
                                      driver::ForeignImage image);

}  // namespace kf::detail
