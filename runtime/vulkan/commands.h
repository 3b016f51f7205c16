// One command buffer: records commands with the barriers they need, and owns what they use.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/driver.h"
#include "core/owners.h"
#include "vulkan/descriptors.h"
#include "vulkan/foreign_owners.h"
#include "vulkan/hazards.h"
#include "vulkan/host_pool.h"
#include "vulkan/images.h"
#include "vulkan/kernel.h"
#include "vulkan/known_resources.h"
#include "vulkan/memory.h"
#include "vulkan/timestamps.h"

namespace kf::vulkan {

/// Not thread-safe. A command that throws has recorded nothing, and the list can be used on.
class CommandList {
public:
    /// How often a list is submitted, between two times that it is emptied.
    enum class Runs : std::uint8_t { once, often };

    /// `parameters` serves kernels whose blocks lie in memory.
    CommandList(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters,
                Runs runs = Runs::once);
    /// Records into a command buffer of the caller's, which is being recorded.
    CommandList(std::shared_ptr<Context> context, std::shared_ptr<HostPool> parameters,
                VkCommandBuffer callers);
    ~CommandList();
    CommandList(const CommandList&) = delete;
    CommandList& operator=(const CommandList&) = delete;

    void dispatch(const driver::Dispatch& dispatch);
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word);
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size);
    void copy_in(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
                 const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset);
    void copy_out(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset, std::uint64_t size,
                  const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset);

    void copy_to_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                       const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset);
    void copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                         const std::shared_ptr<driver::Image>& source, const driver::ImageRegion& region);
    void copy_image_in(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                       const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset);
    void copy_image_out(const std::shared_ptr<driver::Image>& source, const driver::ImageRegion& region,
                        const std::shared_ptr<HostPool::Chunk>& chunk, std::uint64_t chunk_offset);
    /// Fills a mip by scaling the one before it.
    void scale_down(const std::shared_ptr<driver::Image>& image, std::uint32_t mip, std::uint32_t first_layer,
                    std::uint32_t layers);
    /// Takes a fresh image out of no layout, for what comes next in this list and after it.
    void begin_image(VulkanImage& image);

    void write(const std::shared_ptr<VulkanTimestamp>& timestamp);

    [[nodiscard]] std::size_t size() const { return size_; }  ///< commands
    /// Memory and images of others that the commands use. Letting go of it is up to the caller.
    [[nodiscard]] ForeignOwners& foreign() { return foreign_; }
    /// Calls `take` with all memory that the commands use, others' included, with some of it several times.
    template <class Take>
    void each_memory(Take take) const {
        for (const std::shared_ptr<driver::Allocation>& one : allocations_.all()) {
            take(static_cast<VulkanAllocation&>(*one));
        }
        for (VulkanAllocation* one : foreign_.memory()) take(*one);
    }
    /// All images but others', some of them several times.
    [[nodiscard]] std::span<const std::shared_ptr<driver::Image>> images() const { return images_.all(); }
    /// Returns the images that begin_image() was called with.
    [[nodiscard]] std::span<VulkanImage* const> begun() const { return begun_; }
    /// Ends the command buffer, unless it is ended already, and returns it. The caller's own isn't ended:
    /// what follows in it sees what was written.
    VkCommandBuffer finish();
    [[nodiscard]] bool is_callers() const { return pool_ == VK_NULL_HANDLE; }
    /// Set for a list that runs often, once it is to be emptied as soon as the GPU is done with it.
    bool is_over = false;
    /// Empties the list for its next use and lets go of what it owned. The GPU must be done with it.
    void reset();

    [[nodiscard]] const Context* context() const { return context_.get(); }
    /// Checks that it is memory of this list's device and that the bytes lie inside; throws
    /// kf::ArgumentError (device_mismatch, index_range).
    static VulkanAllocation& checked(const Context* context, driver::Allocation* allocation,
                                     std::uint64_t offset, std::uint64_t size, const char* what);
    /// Checks the same of a texture and its region, which has `bytes` bytes.
    static VulkanImage& checked(const Context* context, driver::Image* image,
                                const driver::ImageRegion& region, std::uint64_t bytes, const char* what);

private:
    /// The part of an image that a command uses, and how.
    struct ImageAccess {
        VulkanImage* image = nullptr;
        ImagePart part;
        VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
        bool writes = false;
        ImageStates* states = nullptr;  ///< in this list, once conflicts() was asked
    };
    struct Tracked {
        VulkanImage* image = nullptr;
        ImageStates states;
    };

    void begin();
    void keep(driver::Allocation& allocation);
    void keep(VulkanImage& image);
    void keep(const std::shared_ptr<HostPool::Chunk>& chunk);
    /// The image's states in this list, which owns it from now on.
    ImageStates& track(VulkanImage& image);
    /// Adds a barrier to barriers_ for each part that must change its layout.
    void change_layout(VkImage image, ImageStates& states, const ImagePart& part, VkImageLayout layout);
    /// Has all later commands wait for all earlier ones; the images are in their layouts then.
    void barrier(std::span<const ImageAccess> images = {});
    /// Puts a barrier where a command must wait that accesses memory so: by its hazard key, and whether it
    /// writes; and images.
    void order(std::initializer_list<std::pair<const void*, bool>> accesses,
               std::span<ImageAccess> images = {});
    /// The set of the dispatch's resources, which describe() was called for; the list owns them.
    VkDescriptorSet set_of(const VulkanKernel& kernel, const driver::Dispatch& dispatch);
    void bind(VkPipelineLayout layout, std::uint32_t number, VkDescriptorSet set,
              std::span<const std::uint32_t> offsets);
    /// Checks the resources, and sets bound_resources_ and accesses_ to them.
    void describe(const VulkanKernel& kernel, const driver::Dispatch& dispatch);
    void describe_buffer(const VulkanKernel& kernel, std::size_t index, const driver::BufferRange& buffer);
    void describe_image(const VulkanKernel& kernel, std::size_t index, const driver::ImageBinding& given);
    VkSampler describe_sampler(const VulkanKernel& kernel, std::size_t index, driver::Sampler& sampler);
    static VkPipeline pipeline_of(const VulkanKernel& kernel, const driver::Dispatch& dispatch);
    /// An image that a dispatch also writes to is sampled in the layout that it is written in.
    void settle_layouts();
    /// Returns whether the accesses have to wait for what came before.
    bool conflicts(std::span<ImageAccess> images);
    void note(std::span<const ImageAccess> images) const;
    /// The block's offset in blocks_, from where on `room` bytes lie in the buffer.
    std::uint64_t store_block(std::span<const std::byte> block, std::uint64_t room);

    std::shared_ptr<Context> context_;
    std::shared_ptr<HostPool> parameters_;
    VkCommandPool pool_ = VK_NULL_HANDLE;  ///< null for a command buffer of the caller's
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;
    Runs runs_ = Runs::once;
    bool recording_ = false;
    bool ended_ = false;
    std::size_t size_ = 0;
    Hazards hazards_;
    VkPipeline bound_ = VK_NULL_HANDLE;
    VkPipelineLayout bound_layout_ = VK_NULL_HANDLE;  ///< that descriptor sets were bound by last
    VkDescriptorSet bound_set_ = VK_NULL_HANDLE;      ///< of resources, for that layout; or null
    std::uint64_t epoch_ = 1;                         ///< of images: barriers so far
    Owners<driver::Allocation> allocations_;
    Owners<driver::Image> images_;
    Owners<driver::Sampler> samplers_;
    ForeignOwners foreign_;
    std::unordered_map<VkImage, Tracked> tracked_;
    std::vector<VulkanImage*> begun_;
    std::vector<std::shared_ptr<VulkanTimestamp>> timestamps_;
    Owners<driver::Kernel> kernels_;
    std::vector<std::shared_ptr<HostPool::Chunk>> chunks_;
    std::shared_ptr<HostPool::Chunk> blocks_;  ///< where parameter blocks go
    Descriptors descriptors_;
    KnownResources known_;
    // Resources of the last dispatch.
    std::vector<Descriptor> bound_resources_;
    std::vector<ImageAccess> accesses_;
    // Barriers of the command at hand.
    std::vector<ImageStates::Transition> transitions_;
    std::vector<VkImageMemoryBarrier> barriers_;
};

}  // namespace kf::vulkan
