// The kernel that makes mips.
#pragma once

#include <cstdint>

#include "core/manifest.h"
#include "cuda/textures.h"

namespace kf::cuda {

/// A mip: the twin of mip_kernel.slang's.
struct MipSurface {
    CUsurfObject object = 0;
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint32_t depth_or_layers = 1;
    std::uint32_t first_layer = 0;
    std::uint32_t format = 0;
    std::uint32_t dimensions = 2;
};

struct MipBlock {
    MipSurface from;
    MipSurface to;
};

struct MipDispatch {
    MipBlock block;
    driver::Grid groups{};
};

/// Returns the kernel as load_kernel() takes it; its PTX is embedded.
[[nodiscard]] manifest::Kernel mip_kernel();

/// The dispatch that makes this mip of the one before, in the range's layers.
[[nodiscard]] MipDispatch mip_dispatch(const CudaImage& image, const driver::ImageRange& range,
                                       std::uint32_t mip);

}  // namespace kf::cuda
