// Commands of command lists on images: changes of layout, and copies of texels.
#include <kf/error.h>

#include <algorithm>
#include <string>

#include "core/dispatch.h"
#include "core/image_checks.h"
#include "vulkan/commands.h"
#include "vulkan/samplers.h"

namespace kf::vulkan {
namespace {

VkImageSubresourceRange range_of(const ImagePart& part) {
    return {VK_IMAGE_ASPECT_COLOR_BIT, part.first_mip, part.mips, part.first_layer, part.layers};
}

ImagePart part_of(const driver::ImageRegion& region) {
    return {region.mip, 1, region.first_layer, region.layers};
}

VkBufferImageCopy copy_of(const driver::ImageRegion& region, std::uint64_t offset) {
    VkBufferImageCopy copy{};
    copy.bufferOffset = offset;
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, region.mip, region.first_layer, region.layers};
    copy.imageOffset = {static_cast<std::int32_t>(region.offset[0]),
                        static_cast<std::int32_t>(region.offset[1]),
                        static_cast<std::int32_t>(region.offset[2])};
    copy.imageExtent = {region.extent[0], region.extent[1], region.extent[2]};
    return copy;
}

bool is_linear(const driver::SamplerDescription& sampler) {
    return sampler.minify == driver::Filter::linear || sampler.magnify == driver::Filter::linear ||
           sampler.mip == driver::Filter::linear;
}

/// Texels lie in memory at multiples of their size.
void check_place(std::uint64_t offset, const driver::ImageShape& shape) {
    const std::size_t size = info_of(shape.format).size();
    if (offset % size != 0) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            "vulkan: texels of " + std::string(info_of(shape.format).name) +
                                " are copied at multiples of " + std::to_string(size) + " bytes, not at " +
                                std::to_string(offset));
    }
}

}  // namespace

VulkanImage& CommandList::checked(const Context* context, driver::Image* image,
                                  const driver::ImageRegion& region, std::uint64_t bytes, const char* what) {
    const bool is_own = image != nullptr && image->home == context;
    driver::check_region(context->physical.info, is_own ? image : nullptr, region, bytes, what);
    return static_cast<VulkanImage&>(*image);
}

void CommandList::keep(VulkanImage& image) {
    if (image.is_foreign()) {
        foreign_.add(image);
    } else {
        images_.add(image);
    }
}

ImageStates& CommandList::track(VulkanImage& image) {
    keep(image);
    if (const auto found = tracked_.find(image.handle()); found != tracked_.end()) {
        return found->second.states;
    }
    const ImageStates states(image.shape.mips, image.shape.layers, image.resting_layout());
    return tracked_.emplace(image.handle(), Tracked{&image, states}).first->second.states;
}

void CommandList::begin_image(VulkanImage& image) {
    begin();
    keep(image);
    tracked_.insert_or_assign(
        image.handle(),
        Tracked{&image, ImageStates(image.shape.mips, image.shape.layers, VK_IMAGE_LAYOUT_UNDEFINED)});
    begun_.push_back(&image);
    ++size_;
}

void CommandList::change_layout(VkImage image, ImageStates& states, const ImagePart& part,
                                VkImageLayout layout) {
    transitions_.clear();
    states.move(part, layout, transitions_);
    for (const ImageStates::Transition& one : transitions_) {
        VkImageMemoryBarrier& barrier = barriers_.emplace_back();
        barrier = {};
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
        barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        barrier.oldLayout = one.from;
        barrier.newLayout = layout;
        barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image;
        barrier.subresourceRange = range_of(one.part);
    }
}

bool CommandList::conflicts(std::span<ImageAccess> images) {
    bool found = false;
    for (ImageAccess& one : images) {
        if (one.states == nullptr) one.states = &track(*one.image);
        found = one.states->conflicts(one.part, one.layout, one.writes, epoch_) || found;
    }
    return found;
}

void CommandList::note(std::span<const ImageAccess> images) const {
    for (const ImageAccess& one : images) one.states->note(one.part, one.writes, epoch_);
}

void CommandList::describe_image(const VulkanKernel& kernel, std::size_t index,
                                 const driver::ImageBinding& given) {
    const manifest::ResourceSlot& slot = kernel.resources()[index];
    const auto refuse = [&](ErrorCode code, const std::string& why) {
        throw ArgumentError(code,
                            "vulkan: kernel '" + kernel.name() + "': texture '" + slot.name + "' " + why);
    };
    if (given.image->home != context_.get()) refuse(ErrorCode::device_mismatch, "is not of this device");
    auto& image = static_cast<VulkanImage&>(*given.image);
    const bool storage = bound_resources_[index].type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    VkDescriptorImageInfo& info = bound_resources_[index].image;
    if (bound_resources_[index].type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER) {
        info.sampler = describe_sampler(kernel, index, *given.sampler);
        if (is_linear(given.sampler->description) &&
            (image.features() & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT) == 0) {
            refuse(ErrorCode::value_range, "of " + std::string(info_of(image.shape.format).name) +
                                               " has a linear sampler, which the format can't take: it needs "
                                               "nearest texels and mips");
        }
    }
    info.imageView = image.view(given.range, storage);
    ImageAccess& access = accesses_.emplace_back();
    access.image = &image;
    access.part = {given.range.first_mip, storage ? 1 : given.range.mips, given.range.first_layer,
                   given.range.layers};
    access.layout = storage ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    access.writes = storage;
}

VkSampler CommandList::describe_sampler(const VulkanKernel& kernel, std::size_t index,
                                        driver::Sampler& sampler) {
    if (sampler.home != context_.get()) {
        throw ArgumentError(ErrorCode::device_mismatch, "vulkan: kernel '" + kernel.name() + "': sampler '" +
                                                            kernel.resources()[index].name +
                                                            "' is not of this device");
    }
    return static_cast<VulkanSampler&>(sampler).handle();
}

VkPipeline CommandList::pipeline_of(const VulkanKernel& kernel, const driver::Dispatch& dispatch) {
    if (kernel.comparing().empty()) return kernel.pipeline();
    std::vector<driver::SamplerDescription> samplers;
    for (const std::size_t slot : kernel.comparing()) {
        samplers.push_back(driver::sampler_of(dispatch.resources[slot])->description);
    }
    return kernel.pipeline_for(samplers);
}

void CommandList::settle_layouts() {
    const auto is_written = [&](const ImageAccess& sampled) {
        return std::ranges::any_of(accesses_, [&](const ImageAccess& other) {
            return other.writes && other.image->handle() == sampled.image->handle() &&
                   other.part.overlaps(sampled.part);
        });
    };
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
        if (accesses_[i].writes || !is_written(accesses_[i])) continue;
        // All that is sampled of it, since views may share mips of which one alone is written.
        for (ImageAccess& other : accesses_) {
            if (other.image->handle() == accesses_[i].image->handle()) other.layout = VK_IMAGE_LAYOUT_GENERAL;
        }
    }
    std::size_t next = 0;
    for (Descriptor& one : bound_resources_) {
        if (one.image.imageView != VK_NULL_HANDLE) one.image.imageLayout = accesses_[next++].layout;
    }
}

void CommandList::copy_to_image(const std::shared_ptr<driver::Image>& target,
                                const driver::ImageRegion& region,
                                const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset) {
    const std::uint64_t bytes = target == nullptr ? 0 : driver::region_bytes(target->shape, region);
    VulkanImage& to = checked(context_.get(), target.get(), region, bytes, "copy to");
    const VulkanAllocation& from = checked(context_.get(), source.get(), offset, bytes, "copy from");
    check_place(from.offset() + offset, to.shape);
    if (bytes == 0) {
        return;
    }
    begin();
    keep(*source);
    ImageAccess access{&to, part_of(region), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, true};
    order({{from.hazard_key(), false}}, {&access, 1});
    const VkBufferImageCopy copy = copy_of(region, from.offset() + offset);
    context_->vk.vkCmdCopyBufferToImage(buffer_, from.buffer(), to.handle(), access.layout, 1, &copy);
    ++size_;
}

void CommandList::copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                                  const std::shared_ptr<driver::Image>& source,
                                  const driver::ImageRegion& region) {
    const std::uint64_t bytes = source == nullptr ? 0 : driver::region_bytes(source->shape, region);
    VulkanImage& from = checked(context_.get(), source.get(), region, bytes, "copy from");
    const VulkanAllocation& to = checked(context_.get(), target.get(), offset, bytes, "copy to");
    check_place(to.offset() + offset, from.shape);
    if (bytes == 0) {
        return;
    }
    begin();
    keep(*target);
    ImageAccess access{&from, part_of(region), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, false};
    order({{to.hazard_key(), true}}, {&access, 1});
    const VkBufferImageCopy copy = copy_of(region, to.offset() + offset);
    context_->vk.vkCmdCopyImageToBuffer(buffer_, from.handle(), access.layout, to.buffer(), 1, &copy);
    ++size_;
}

void CommandList::copy_image_in(const std::shared_ptr<driver::Image>& target,
                                const driver::ImageRegion& region,
                                const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset) {
    auto& to = static_cast<VulkanImage&>(*target);
    begin();
    keep(chunk);
    ImageAccess access{&to, part_of(region), VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, true};
    order({}, {&access, 1});
    const VkBufferImageCopy copy = copy_of(region, chunk_offset);
    context_->vk.vkCmdCopyBufferToImage(buffer_, chunk->buffer().buffer, to.handle(), access.layout, 1,
                                        &copy);
    ++size_;
}

void CommandList::copy_image_out(const std::shared_ptr<driver::Image>& source,
                                 const driver::ImageRegion& region,
                                 const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset) {
    auto& from = static_cast<VulkanImage&>(*source);
    begin();
    keep(chunk);
    ImageAccess access{&from, part_of(region), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, false};
    order({}, {&access, 1});
    const VkBufferImageCopy copy = copy_of(region, chunk_offset);
    context_->vk.vkCmdCopyImageToBuffer(buffer_, from.handle(), access.layout, chunk->buffer().buffer, 1,
                                        &copy);
    ++size_;
}

void CommandList::scale_down(const std::shared_ptr<driver::Image>& image, std::uint32_t mip,
                             std::uint32_t first_layer, std::uint32_t layers) {
    auto& known = static_cast<VulkanImage&>(*image);
    begin();
    std::array accesses{
        ImageAccess{&known, {mip - 1, 1, first_layer, layers}, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, false},
        ImageAccess{&known, {mip, 1, first_layer, layers}, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, true}};
    order({}, accesses);
    const auto corner = [&](std::uint32_t of) {
        const std::array<std::uint32_t, 3> extent = driver::mip_extent(known.shape, of);
        return VkOffset3D{static_cast<std::int32_t>(extent[0]), static_cast<std::int32_t>(extent[1]),
                          static_cast<std::int32_t>(extent[2])};
    };
    VkImageBlit blit{};
    blit.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, mip - 1, first_layer, layers};
    blit.srcOffsets[1] = corner(mip - 1);
    blit.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, mip, first_layer, layers};
    blit.dstOffsets[1] = corner(mip);
    context_->vk.vkCmdBlitImage(buffer_, known.handle(), accesses[0].layout, known.handle(),
                                accesses[1].layout, 1, &blit, VK_FILTER_LINEAR);
    ++size_;
}

}  // namespace kf::vulkan
