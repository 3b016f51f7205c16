// What a device does with textures and samplers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/driver_objects.h"

namespace kf::driver {

struct Info;

/// Errors are kf::ArgumentError for what no texture may be, and kf::DeviceError (missing_feature) for what
/// the device lacks, each with what it is. A driver without textures refuses all of it. Thread-safe, as
/// Device is.
class ImageDevice {
public:
    virtual ~ImageDevice() = default;
    [[nodiscard]] virtual const Info& info() const = 0;

    /// Texels undefined.
    virtual std::shared_ptr<Image> make_image(const ImageShape& shape);
    /// An image of somebody else's, under the terms of wrap().
    virtual std::shared_ptr<Image> wrap_image(ForeignImage image);
    /// Where equal samplers are one, it may be an older one.
    virtual std::shared_ptr<Sampler> make_sampler(const SamplerDescription& description);
    /// Copies texels in before it returns: packed rows, then slices, then layers.
    virtual void upload_image(const std::shared_ptr<Image>& target, const ImageRegion& region,
                              std::span<const std::byte> texels);
    /// Flushes, waits and copies out, packed as upload_image() takes them.
    virtual void read_back_image(const std::shared_ptr<Image>& source, const ImageRegion& region,
                                 std::span<std::byte> texels);
    /// Copies packed texels from memory, from byte `offset` on, and to it.
    virtual void copy_to_image(const std::shared_ptr<Image>& target, const ImageRegion& region,
                               const std::shared_ptr<Allocation>& source, std::uint64_t offset);
    virtual void copy_from_image(const std::shared_ptr<Allocation>& target, std::uint64_t offset,
                                 const std::shared_ptr<Image>& source, const ImageRegion& region);
    /// Fills each mip of the range behind its first: a texel is the linear sample of the mip before at its
    /// own middle. Throws kf::DeviceError (missing_feature) for formats that the device can't sample so.
    virtual void generate_mips(const std::shared_ptr<Image>& image, const ImageRange& range);
};

}  // namespace kf::driver
