// The kernel that makes mips.
#include "cuda/mip_kernel.h"

#include <span>

#include "core/image_checks.h"
#include "core/sha256.h"
#include "core/texture_handle.h"
#include "mip_kernel_text.h"

namespace kf::cuda {
namespace {

constexpr const char* entry_point = "kf_generate_mip";
constexpr std::array<std::uint32_t, 3> group_size{16, 16, 1};

MipSurface surface_of(const CudaImage& image, const driver::ImageRange& range, std::uint32_t mip) {
    const driver::ImageShape& shape = image.shape;
    const std::array<std::uint32_t, 3> extent = mip_extent(shape, mip);
    const bool is_deep = shape.dimension == driver::ImageDimension::three;
    // Surfaces have a cube's faces as layers.
    const bool has_layers = image.arrays().has_layers() || shape.dimension == driver::ImageDimension::cube;
    MipSurface surface;
    surface.object = image.arrays().surface(mip);
    surface.width = extent[0];
    surface.height = extent[1];
    surface.depth_or_layers = is_deep ? extent[2] : range.layers;
    surface.first_layer = has_layers ? range.first_layer : driver::no_layers;
    surface.format = static_cast<std::uint32_t>(shape.format);
    surface.dimensions = is_deep ? 3 : 2;
    return surface;
}

}  // namespace

manifest::Kernel mip_kernel() {
    const auto text = std::as_bytes(std::span(embedded::mip_kernel_ptx()));
    manifest::Image image;
    image.format = "ptx";
    image.architecture = "sm_70";
    image.entry_point = entry_point;
    image.sha256 = sha256(text);
    image.bytes = SharedBytes(nullptr, text);
    manifest::Kernel kernel;
    kernel.name = "generate_mips";
    kernel.group_size = group_size;
    kernel.layouts["cuda"] = {sizeof(MipBlock), {}, manifest::Passing::value};
    kernel.images.push_back(std::move(image));
    return kernel;
}

MipDispatch mip_dispatch(const CudaImage& image, const driver::ImageRange& range, std::uint32_t mip) {
    MipDispatch made;
    made.block = {surface_of(image, range, mip - 1), surface_of(image, range, mip)};
    const auto groups = [](std::uint32_t extent, std::uint32_t threads) {
        return (extent + threads - 1) / threads;
    };
    made.groups = {groups(made.block.to.width, group_size[0]), groups(made.block.to.height, group_size[1]),
                   made.block.to.depth_or_layers};
    return made;
}

}  // namespace kf::cuda
