// Dispatches the kernels on images written by hand for Vulkan.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "images_by_hand.h"
#include "spirv_kernel.h"

namespace bench_support {

namespace {

constexpr std::uint32_t group = 16;

using kf::manifest::ResourceKind;
using kf::manifest::ResourceSlot;

class OnVulkan : public ImagesByHand {
public:
    OnVulkan(std::shared_ptr<kf::driver::Device> driver, const std::filesystem::path& folder, int side,
             std::span<const float> weights)
        : driver_(std::move(driver)),
          groups_((static_cast<std::uint32_t>(side) + group - 1) / group),
          weights_(driver_->allocate(weights.size_bytes())) {
        driver_->upload(weights_, 0, std::as_bytes(weights));
        for (std::shared_ptr<kf::driver::Image>& image : images_) {
            kf::driver::ImageShape shape;
            shape.width = shape.height = static_cast<std::uint32_t>(side);
            shape.is_writable = true;
            image = driver_->make_image(shape);
        }
        const ResourceSlot read{.name = "image", .kind = ResourceKind::texture, .texel = "float"};
        const ResourceSlot written{.name = "written",
                                   .kind = ResourceKind::writable_texture,
                                   .writes = true,
                                   .format = "rgba32f",
                                   .texel = "float"};
        const ResourceSlot buffer{.name = "weights", .stride = sizeof(float)};
        fill_ = load(folder / "fill.spv", 4 * sizeof(float), {written});
        blur_ = load(folder / "blur.spv", sizeof(std::int32_t), {read, written, buffer});
    }

    void fill(const std::array<float, 4>& color) override {
        const std::array<kf::driver::Resource, 1> resources{binding(0)};
        dispatch(*fill_, std::as_bytes(std::span(color)), resources);
    }

    void blur() override {
        for (const std::int32_t is_column : {0, 1}) {
            const std::array<kf::driver::Resource, 3> resources{
                binding(is_column == 0 ? 0 : 1), binding(is_column == 0 ? 1 : 2),
                kf::driver::BufferRange{weights_, 0, weights_->size}};
            dispatch(*blur_, std::as_bytes(std::span(&is_column, 1)), resources);
        }
    }

    void wait() override { driver_->wait(); }

private:
    std::shared_ptr<kf::driver::Kernel> load(const std::filesystem::path& path, std::int64_t block,
                                             std::vector<ResourceSlot> slots) {
        kf::manifest::Kernel kernel = spirv_kernel(path, group, block, {});
        kernel.group_size = {group, group, 1};
        for (std::size_t i = 0; i < slots.size(); ++i)
            kernel.layouts["vulkan"].resource_places.push_back(static_cast<std::int64_t>(i));
        kernel.resources = std::move(slots);
        return driver_->load_kernel(kernel);
    }

    [[nodiscard]] kf::driver::ImageBinding binding(std::size_t image) const {
        return {images_[image], {}, {}};
    }

    void dispatch(kf::driver::Kernel& kernel, std::span<const std::byte> block,
                  std::span<const kf::driver::Resource> resources) {
        kf::driver::Dispatch dispatch;
        dispatch.kernel = &kernel;
        dispatch.groups = {groups_, groups_, 1};
        dispatch.block = block;
        dispatch.resources = resources;
        driver_->dispatch(dispatch);
    }

    std::shared_ptr<kf::driver::Device> driver_;
    std::uint32_t groups_;
    std::shared_ptr<kf::driver::Allocation> weights_;
    std::array<std::shared_ptr<kf::driver::Image>, 3> images_;
    std::shared_ptr<kf::driver::Kernel> fill_;
    std::shared_ptr<kf::driver::Kernel> blur_;
};

}  // namespace

std::unique_ptr<ImagesByHand> images_on_vulkan(std::shared_ptr<kf::driver::Device> driver,
                                               const std::filesystem::path& folder, int side,
                                               std::span<const float> weights) {
    return std::make_unique<OnVulkan>(std::move(driver), folder, side, weights);
}

}  // namespace bench_support
