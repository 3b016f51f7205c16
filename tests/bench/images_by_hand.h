// Kernels on images written by hand, which fill and blur as ours do.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>

#include "core/driver.h"

namespace bench_support {

class ImagesByHand {
public:
    virtual ~ImagesByHand() = default;
    /// Fills a texture of the side that it was made with.
    virtual void fill(const std::array<float, 4>& color) = 0;
    /// Blurs a texture along its rows, and what comes of that along its columns.
    virtual void blur() = 0;
    virtual void wait() = 0;
};

/// Dispatched as ours are, by the driver below our device. `folder` holds fill.spv and blur.spv.
std::unique_ptr<ImagesByHand> images_on_vulkan(std::shared_ptr<kf::driver::Device> driver,
                                               const std::filesystem::path& folder, int side,
                                               std::span<const float> weights);

/// Launched by CUDA's runtime; on its first device.
std::unique_ptr<ImagesByHand> images_on_cuda(int side, std::span<const float> weights);

}  // namespace bench_support
