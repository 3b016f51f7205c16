// A compute pipeline made from a kernel's SPIR-V image.
#include "vulkan/kernel.h"

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <set>
#include <vector>

#include "core/checked_image.h"
#include "core/dispatch.h"
#include "core/interface.h"
#include "core/join.h"
#include "core/spirv_code.h"
#include "vulkan/formats.h"
#include "vulkan/labels.h"
#include "vulkan/residency.h"
#include "vulkan/result.h"
#include "vulkan/spirv_adapt.h"
#include "vulkan/spirv_compare.h"
#include "vulkan/spirv_layers.h"
#include "vulkan/spirv_loops.h"

namespace kf::vulkan {
namespace {

constexpr const char* float_atomics = "float32_atomic_add";
constexpr const char* subnormals = "denorm_preserve";

const manifest::Image& find_image(const manifest::Kernel& kernel) {
    for (const manifest::Image& image : kernel.images) {
        if (image.format == "spirv") {
            return image;
        }
    }
    throw ArtifactError(ErrorCode::artifact_no_image,
                        "vulkan: kernel '" + kernel.name +
                            "' has no SPIR-V image; generate it with the target "
                            "\"vulkan\"");
}

bool offers(const Context& context, const std::string& feature) {
    return vulkan::offers(context.physical, feature.c_str());
}

VkDescriptorType descriptor_type(manifest::ResourceKind kind) {
    switch (kind) {
        case manifest::ResourceKind::texture: return VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
        case manifest::ResourceKind::writable_texture: return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
        case manifest::ResourceKind::sampler: return VK_DESCRIPTOR_TYPE_SAMPLER;
        case manifest::ResourceKind::combined_texture: return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
        default: break;
    }
    return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

/// Constants may say how large groups are: the code has the size that it was compiled with.
void set_group_size(Words& words, const std::array<std::uint32_t, 3>& size) {
    (void)spirv::each_instruction(words, [&](std::span<std::uint32_t> one) {
        if (spirv::opcode_of(one) == spirv::op_execution_mode && one.size() == 6 &&
            one[2] == spirv::mode_local_size)
            std::ranges::copy(size, one.begin() + 3);
    });
}

/// The image as this device can run it.
Words adapted(const Context& context, const manifest::Kernel& kernel, const manifest::Image& image) {
    const SharedBytes bytes = manifest::checked_bytes(image, kernel.name);
    Words words = spirv::module_of(bytes.span());
    if (words.size() < spirv::header_words || words.front() != spirv::magic) {
        throw ArtifactError(ErrorCode::artifact_corrupt,
                            "vulkan: the image of kernel '" + kernel.name + "' is not SPIR-V");
    }
    // Drivers take the name on trust.
    if (manifest::spirv_entry_points(bytes.span()) != std::vector{image.entry_point}) {
        throw ArtifactError(ErrorCode::artifact_corrupt, "vulkan: the image of kernel '" + kernel.name +
                                                             "' has no entry point '" + image.entry_point +
                                                             "' alone");
    }
    if (context.physical.info.is_cpu) {
        words = comparing_layers(keeping_loops(words));
    }
    if (!offers(context, float_atomics)) {
        words = without_float_atomics(words);
    }
    words = bounding_layers(words);
    if (!kernel.group_extents.empty()) set_group_size(words, kernel.group_size);
    return kernel.exact && offers(context, subnormals) ? keeping_subnormals(words) : words;
}

void check_features(const Context& context, const manifest::Kernel& kernel, const manifest::Image& image,
                    const Words& words) {
    std::vector<std::string> missing;
    for (const std::string& feature : image.features) {
        if (!offers(context, feature) && (feature != float_atomics || uses_float_atomics(words))) {
            missing.push_back(feature);
        }
    }
    const Limits& limits = context.physical.limits;
    std::uint64_t threads = 1;
    for (std::size_t i = 0; i < kernel.group_size.size(); ++i) {
        threads *= kernel.group_size[i];
        if (kernel.group_size[i] > limits.max_group_size[i]) {
            missing.push_back("groups of " + std::to_string(kernel.group_size[i]) +
                              " threads along dimension " + std::to_string(i) + " (at most " +
                              std::to_string(limits.max_group_size[i]) + ")");
        }
    }
    if (threads > limits.max_group_invocations) {
        missing.push_back("groups of " + std::to_string(threads) + " threads (at most " +
                          std::to_string(limits.max_group_invocations) + ")");
    }
    const auto count = [&](std::initializer_list<VkDescriptorType> types) {
        return static_cast<std::size_t>(
            std::ranges::count_if(kernel.resources, [&](const manifest::ResourceSlot& slot) {
                return std::ranges::find(types, descriptor_type(slot.kind)) != types.end();
            }));
    };
    const auto at_most = [&](std::size_t taken, const char* what, std::size_t most) {
        if (taken > most) {
            missing.push_back(std::to_string(taken) + " " + what + " (at most " + std::to_string(most) + ")");
        }
    };
    const std::size_t buffers = count({VK_DESCRIPTOR_TYPE_STORAGE_BUFFER});
    const std::size_t sampled =
        count({VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER});
    const std::size_t storage = count({VK_DESCRIPTOR_TYPE_STORAGE_IMAGE});
    at_most(buffers, "buffers", limits.max_buffers);
    at_most(sampled, "textures", limits.max_sampled_images);
    at_most(storage, "textures to write to", limits.max_storage_images);
    at_most(count({VK_DESCRIPTOR_TYPE_SAMPLER, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER}), "samplers",
            limits.max_samplers);
    if (sampled + storage != 0) {
        at_most(buffers + sampled + storage, "resources", limits.max_resources);
        if (!offers(context, robust_images_word)) missing.emplace_back(robust_images_word);
    }
    if (!missing.empty()) {
        throw DeviceError(ErrorCode::missing_feature, "vulkan: kernel '" + kernel.name + "' can't run on " +
                                                          context.physical.info.name +
                                                          ", which lacks: " + join(missing));
    }
}

const manifest::BlockLayout& find_layout(const Context& context, const manifest::Kernel& kernel) {
    const auto found = kernel.layouts.find("vulkan");
    if (found == kernel.layouts.end() || found->second.size < 0 || found->second.size % 4 != 0 ||
        found->second.size > (1 << 16)) {
        throw ArtifactError(ErrorCode::artifact_corrupt,
                            "vulkan: kernel '" + kernel.name + "' has no usable parameter layout");
    }
    const manifest::BlockLayout& layout = found->second;
    if (layout.passing == manifest::Passing::uniform && layout.size > manifest::max_uniform_block) {
        throw ArtifactError(
            ErrorCode::artifact_corrupt,
            "vulkan: kernel '" + kernel.name + "' has a parameter layout too large for a uniform buffer");
    }
    if (layout.passing == manifest::Passing::value &&
        layout.size > static_cast<std::int64_t>(context.physical.info.max_block_size)) {
        throw DeviceError(ErrorCode::missing_feature,
                          "vulkan: kernel '" + kernel.name + "' passes " + std::to_string(layout.size) +
                              " bytes of parameters by value; " + context.physical.info.name + " takes " +
                              std::to_string(context.physical.info.max_block_size));
    }
    return layout;
}

/// The code names no descriptors but those for which the layout has numbers; what it doesn't use it may leave
/// out.
void check_descriptors(const manifest::Kernel& kernel, const manifest::BlockLayout& layout,
                       const Words& words) {
    std::set<std::int64_t> named;
    bool known = true;
    for (const auto& [set, number] : descriptors_of(words)) {
        if (set == VulkanKernel::resource_set) {
            named.insert(number);
        } else {
            known = known && set == 0;
        }
    }
    const auto& numbers = layout.resource_places;
    const std::set places(numbers.begin(), numbers.end());
    const bool all_known = std::includes(places.begin(), places.end(), named.begin(), named.end());
    if (!known || !all_known || places.size() != numbers.size()) {
        throw ArtifactError(ErrorCode::artifact_corrupt, "vulkan: the image of kernel '" + kernel.name +
                                                             "' takes other resources than the kernel");
    }
}

constexpr std::size_t most_comparing = 16;  ///< whose choices fit into 64 bits

/// What code by comparing_itself() is told of a sampler.
std::uint64_t choices_of(const driver::SamplerDescription& sampler) {
    constexpr std::uint64_t less = 1;
    constexpr std::uint64_t equal = 2;
    constexpr std::uint64_t greater = 4;
    constexpr std::uint64_t blended = 8;
    std::uint64_t choices = sampler.magnify == driver::Filter::linear ? blended : 0;
    switch (sampler.compare) {
        case driver::Compare::less: return choices | less;
        case driver::Compare::equal: return choices | equal;
        case driver::Compare::less_equal: return choices | less | equal;
        case driver::Compare::greater: return choices | greater;
        case driver::Compare::not_equal: return choices | less | greater;
        case driver::Compare::greater_equal: return choices | greater | equal;
        case driver::Compare::always: return choices | less | equal | greater;
        case driver::Compare::none:
        case driver::Compare::never: break;
    }
    return choices;
}

/// The slots of the samplers, by their binding numbers.
std::vector<std::size_t> comparing_slots(const manifest::Kernel& kernel, const manifest::BlockLayout& layout,
                                         const Compared& compared) {
    std::vector<std::size_t> slots;
    for (const std::uint32_t number : compared.samplers) {
        const auto place = std::ranges::find(layout.resource_places, std::int64_t{number});
        const auto slot = static_cast<std::size_t>(place - layout.resource_places.begin());
        if (slot == kernel.resources.size() || !kernel.resources[slot].is_comparison) {
            throw ArtifactError(ErrorCode::artifact_corrupt,
                                "vulkan: the image of kernel '" + kernel.name +
                                    "' compares texels by what is no sampler for it");
        }
        slots.push_back(slot);
    }
    return slots;
}

/// Returns how many calls a thread may be given. The device limits them because it ends all loops of a thread
/// together; few leave room for loops of the function, or of sums.
std::uint32_t calls_per_thread_of(const driver::Info& info, const manifest::Kernel& kernel,
                                  const Words& words) {
    if (info.calls_per_thread == 0) {
        return 0;
    }
    std::ptrdiff_t loops = 0;
    (void)spirv::each_instruction(words, [&](spirv::Instruction one) {
        loops += spirv::opcode_of(one) == spirv::op_loop_merge ? 1 : 0;
    });
    // Over calls, or over tiles, rows and calls.
    const bool in_rows = kernel.variant == manifest::Variant::rows;
    const std::ptrdiff_t over_calls = in_rows ? 4 : (kernel.calls_per_thread > 1 ? 2 : 1);
    constexpr std::uint32_t few = 8;
    return loops > over_calls ? std::min(few, info.calls_per_thread) : info.calls_per_thread;
}

}  // namespace

VulkanKernel::VulkanKernel(std::shared_ptr<const Context> context, const manifest::Kernel& kernel)
    : context_(std::move(context)),
      name_(kernel.name),
      resources_(kernel.resources),
      constants_(kernel.chosen) {
    home = context_.get();
    const manifest::Image& image = find_image(kernel);
    const Words words = adapted(*context_, kernel, image);
    calls_per_thread = calls_per_thread_of(context_->physical.info, kernel, words);
    check_features(*context_, kernel, image, words);
    const manifest::BlockLayout& layout = find_layout(*context_, kernel);
    driver::check_resource_slots(context_->physical.info, kernel, layout, true);
    check_descriptors(kernel, layout, words);
    block_size_ = static_cast<std::uint32_t>(layout.size);
    passing_ = layout.passing;
    resource_numbers_ = layout.resource_places;
    for (const manifest::ResourceSlot& slot : resources_) {
        resource_types_.push_back(descriptor_type(slot.kind));
    }
    const Compared compared = comparing_itself(words);
    comparing_ = comparing_slots(kernel, layout, compared);
    if (!compared.refused.empty() || comparing_.size() > most_comparing) {
        throw DeviceError(
            ErrorCode::missing_feature,
            "vulkan: kernel '" + kernel.name + "' can't have " +
                (compared.refused.empty() ? "more than 16 samplers that compare" : compared.refused));
    }
    entry_point_ = image.entry_point;
    try {
        create(kernel, compared.words);
    } catch (...) {
        destroy();
        throw;
    }
}

VulkanKernel::~VulkanKernel() {
    if (context_->process.is_here()) {
        destroy();
    }
}

void VulkanKernel::create(const manifest::Kernel& kernel, const Words& words) {
    const DeviceFunctions& vk = context_->vk;
    const VkDevice device = context_->device;
    VkPushConstantRange range{};
    range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    range.size = passing_ == manifest::Passing::value ? block_size_ : 8;
    const bool uniform = passing_ == manifest::Passing::uniform;
    if (!resources_.empty()) {
        create_resource_layout();
    }
    const std::array sets{context_->block_layout, resource_layout_};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = !resources_.empty() ? 2 : (uniform ? 1 : 0);
    layout.pSetLayouts = sets.data();
    layout.pushConstantRangeCount = range.size == 0 || uniform ? 0 : 1;
    layout.pPushConstantRanges = &range;
    check(vk.vkCreatePipelineLayout(device, &layout, nullptr, &layout_), "vkCreatePipelineLayout");

    VkShaderModuleCreateInfo source{};
    source.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    source.codeSize = words.size() * sizeof(std::uint32_t);
    source.pCode = words.data();
    const VkResult result = vk.vkCreateShaderModule(device, &source, nullptr, &module_);
    if (result < 0) {
        fail(result, "vkCreateShaderModule failed for kernel '" + name_ + "'");
    }
    name_object(*context_, VK_OBJECT_TYPE_SHADER_MODULE, module_, name_);
    // Kernels reduce over subgroups; full ones keep that on the fast path where the group allows it.
    const Limits& limits = context_->physical.limits;
    full_subgroups_ = limits.full_subgroups && limits.max_subgroup_size != 0 &&
                      kernel.group_size[0] % limits.max_subgroup_size == 0;
    pipeline_ = make_pipeline(0);
    if (comparing_.empty()) {
        vk.vkDestroyShaderModule(device, module_, nullptr);
        module_ = VK_NULL_HANDLE;
    }
    if (tells_residency(*context_)) {
        resident_groups = groups_at_once(*context_, pipeline_,
                                         kernel.group_size[0] * kernel.group_size[1] * kernel.group_size[2]);
    }
}

VkPipeline VulkanKernel::make_pipeline(std::uint64_t choices) const {
    std::vector<std::uint64_t> values;  // the lowest bytes of each
    std::vector<VkSpecializationMapEntry> entries;
    const auto add = [&](std::uint32_t number, std::uint64_t bits, std::size_t size) {
        entries.push_back({number, static_cast<std::uint32_t>(values.size() * sizeof(bits)), size});
        values.push_back(bits);
    };
    for (std::uint32_t i = 0; i < 4 * comparing_.size(); ++i)
        add(Compared::first_constant + i, choices >> i & 1U, sizeof(VkBool32));
    for (const manifest::ChosenConstant& one : constants_) add(one.number, one.bits, one.size);
    VkSpecializationInfo constants{};
    constants.mapEntryCount = static_cast<std::uint32_t>(entries.size());
    constants.pMapEntries = entries.data();
    constants.dataSize = values.size() * sizeof(std::uint64_t);
    constants.pData = values.data();
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module_;
    info.stage.pName = entry_point_.c_str();
    info.stage.pSpecializationInfo = entries.empty() ? nullptr : &constants;
    info.stage.flags = full_subgroups_ ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0;
    info.flags = tells_residency(*context_) ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0;
    info.layout = layout_;
    info.basePipelineIndex = -1;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = context_->vk.vkCreateComputePipelines(context_->device, context_->pipeline_cache,
                                                                  1, &info, nullptr, &pipeline);
    if (result < 0) {
        fail(result, "vkCreateComputePipelines failed for kernel '" + name_ + "'");
    }
    name_object(*context_, VK_OBJECT_TYPE_PIPELINE, pipeline, name_);
    return pipeline;
}

VkPipeline VulkanKernel::pipeline_for(std::span<const driver::SamplerDescription> samplers) const {
    std::uint64_t choices = 0;
    for (std::size_t i = 0; i < samplers.size(); ++i) choices |= choices_of(samplers[i]) << 4 * i;
    const std::lock_guard lock(mutex_);
    VkPipeline& pipeline = by_choices_[choices];
    if (pipeline == VK_NULL_HANDLE) pipeline = make_pipeline(choices);
    return pipeline;
}

void VulkanKernel::create_resource_layout() {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (std::size_t i = 0; i < resource_numbers_.size(); ++i) {
        VkDescriptorSetLayoutBinding& binding = bindings.emplace_back();
        binding.binding = static_cast<std::uint32_t>(resource_numbers_[i]);
        binding.descriptorType = resource_types_[i];
        binding.descriptorCount = 1;
        binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    info.bindingCount = static_cast<std::uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    check(context_->vk.vkCreateDescriptorSetLayout(context_->device, &info, nullptr, &resource_layout_),
          "vkCreateDescriptorSetLayout");
}

void VulkanKernel::destroy() {
    context_->vk.vkDestroyPipeline(context_->device, pipeline_, nullptr);
    for (const auto& [choices, pipeline] : by_choices_) {
        context_->vk.vkDestroyPipeline(context_->device, pipeline, nullptr);
    }
    context_->vk.vkDestroyShaderModule(context_->device, module_, nullptr);
    context_->vk.vkDestroyPipelineLayout(context_->device, layout_, nullptr);
    context_->vk.vkDestroyDescriptorSetLayout(context_->device, resource_layout_, nullptr);
}

}  // namespace kf::vulkan
