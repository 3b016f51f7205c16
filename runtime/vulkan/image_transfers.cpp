// Textures and samplers of an open device.
#include <kf/error.h>

#include <cstring>
#include <string>

#include "core/image_checks.h"
#include "vulkan/device.h"
#include "vulkan/image_pieces.h"

namespace kf::vulkan {

std::shared_ptr<driver::Image> VulkanDevice::make_image(const driver::ImageShape& shape) {
    check_usable();
    try {
        return images_->make(shape);
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::out_of_memory) {
            throw;
        }
    }
    // Batches that are done let go of images, and blocks for buffers may be free.
    wait_for_all(&VulkanDevice::wait_for);
    memory_->trim();
    return images_->make(shape);
}

std::shared_ptr<driver::Image> VulkanDevice::wrap_image(driver::ForeignImage image) {
    check_usable();
    return images_->wrap(std::move(image));
}

std::shared_ptr<driver::Sampler> VulkanDevice::make_sampler(const driver::SamplerDescription& description) {
    check_usable();
    return samplers_->make(description);
}

void VulkanDevice::begin_fresh(driver::Image* image) {
    if (image == nullptr || image->home != context_.get()) {
        return;
    }
    auto& ours = static_cast<VulkanImage&>(*image);
    if (ours.is_fresh) {
        current().begin_image(ours);
        ours.is_fresh = false;
    }
}

void VulkanDevice::begin_fresh(const CommandList& list) {
    for (const std::shared_ptr<driver::Image>& image : list.images()) begin_fresh(image.get());
}

void VulkanDevice::upload_image(const std::shared_ptr<driver::Image>& target,
                                const driver::ImageRegion& region, std::span<const std::byte> texels) {
    const Lock lock(*this);
    check_usable();
    const VulkanImage& to =
        CommandList::checked(context_.get(), target.get(), region, texels.size(), "write");
    const std::size_t texel = info_of(to.shape.format).size();
    ImagePieces pieces(region, texel);
    while (!pieces.is_done()) {
        if (staging_ == nullptr || staging_->left() < texel) {
            staging_ = uploads_->acquire();
            if (staging_ == nullptr) {
                flush_current();
                wait_oldest();
                continue;
            }
        }
        const driver::ImageRegion piece = pieces.next(staging_->left());
        const std::size_t size = driver::region_bytes(to.shape, piece);
        const std::uint64_t place = staging_->take(size);
        std::memcpy(staging_->buffer().mapped + place, texels.data(), size);
        begin_fresh(target.get());
        current().copy_image_in(target, piece, staging_, place);
        staged_ += size;
        texels = texels.subspan(size);
        flush_if_full();
    }
}

void VulkanDevice::read_back_image(const std::shared_ptr<driver::Image>& source,
                                   const driver::ImageRegion& region, std::span<std::byte> texels) {
    check_usable();
    const VulkanImage& from =
        CommandList::checked(context_.get(), source.get(), region, texels.size(), "read");
    ImagePieces pieces(region, info_of(from.shape.format).size());
    read_pieces(texels, [&](const std::shared_ptr<HostPool::Chunk>& chunk) {
        const driver::ImageRegion piece = pieces.next(chunk->left());
        begin_fresh(source.get());
        current().copy_image_out(source, piece, chunk, 0);
        return driver::region_bytes(from.shape, piece);
    });
}

void VulkanDevice::copy_to_image(const std::shared_ptr<driver::Image>& target,
                                 const driver::ImageRegion& region,
                                 const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset) {
    const Lock lock(*this);
    begin_fresh(target.get());
    current().copy_to_image(target, region, source, offset);
    used_now(source.get());
    flush_if_full();
}

void VulkanDevice::copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                                   const std::shared_ptr<driver::Image>& source,
                                   const driver::ImageRegion& region) {
    const Lock lock(*this);
    begin_fresh(source.get());
    current().copy_from_image(target, offset, source, region);
    used_now(target.get());
    flush_if_full();
}

void VulkanDevice::generate_mips(const std::shared_ptr<driver::Image>& image,
                                 const driver::ImageRange& range) {
    const Lock lock(*this);
    check_usable();
    const driver::ImageRegion none{range.first_mip, range.first_layer, range.layers, {}, {0, 0, 0}};
    const VulkanImage& known = CommandList::checked(context_.get(), image.get(), none, 0, "make mips of");
    if (range.mips > known.shape.mips - range.first_mip) {
        throw ArgumentError(ErrorCode::index_range,
                            "vulkan: mips to make: " + std::to_string(range.first_mip) + " to " +
                                std::to_string(std::uint64_t{range.first_mip} + range.mips) + ", of " +
                                driver::to_string(known.shape));
    }
    constexpr VkFormatFeatureFlags needed = VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
                                            VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
    const bool can_filter = (known.features() & needed) == needed;
    if (!can_filter || !context_->physical.limits.graphics) {
        throw DeviceError(ErrorCode::missing_feature,
                          "vulkan: " + info_.name + " can't make mips of " + driver::to_string(known.shape) +
                              (can_filter ? ": its queue only computes" : ": it doesn't filter that format") +
                              "; make them with a kernel");
    }
    for (std::uint32_t mip = range.first_mip + 1; mip < range.first_mip + range.mips; ++mip) {
        begin_fresh(image.get());
        current().scale_down(image, mip, range.first_layer, range.layers);
        flush_if_full();
    }
}

}  // namespace kf::vulkan
