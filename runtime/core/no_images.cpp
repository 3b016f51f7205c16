// What a driver without textures says of them.
#include <kf/error.h>

#include <string>

#include "core/driver.h"

namespace kf::driver {
namespace {

[[noreturn]] void refuse(const ImageDevice& device, const char* what) {
    const Info& info = device.info();
    throw DeviceError(ErrorCode::missing_feature, info.backend + ": '" + info.name + "' has no " + what);
}

}  // namespace

std::shared_ptr<Image> ImageDevice::make_image(const ImageShape& /*shape*/) { refuse(*this, "textures"); }

// Drivers that have textures keep what they are given.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
std::shared_ptr<Image> ImageDevice::wrap_image(ForeignImage /*image*/) { refuse(*this, "textures"); }

std::shared_ptr<Sampler> ImageDevice::make_sampler(const SamplerDescription& /*description*/) {
    refuse(*this, "samplers");
}

void ImageDevice::upload_image(const std::shared_ptr<Image>& /*target*/, const ImageRegion& /*region*/,
                               std::span<const std::byte> /*texels*/) {
    refuse(*this, "textures");
}

void ImageDevice::read_back_image(const std::shared_ptr<Image>& /*source*/, const ImageRegion& /*region*/,
                                  std::span<std::byte> /*texels*/) {
    refuse(*this, "textures");
}

void ImageDevice::copy_to_image(const std::shared_ptr<Image>& /*target*/, const ImageRegion& /*region*/,
                                const std::shared_ptr<Allocation>& /*source*/, std::uint64_t /*offset*/) {
    refuse(*this, "textures");
}

void ImageDevice::copy_from_image(const std::shared_ptr<Allocation>& /*target*/, std::uint64_t /*offset*/,
                                  const std::shared_ptr<Image>& /*source*/, const ImageRegion& /*region*/) {
    refuse(*this, "textures");
}

void ImageDevice::generate_mips(const std::shared_ptr<Image>& /*image*/, const ImageRange& /*range*/) {
    refuse(*this, "textures");
}

}  // namespace kf::driver
