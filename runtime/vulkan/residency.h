// How many groups of a kernel one processor runs at once, where the driver says what a pipeline needs.
#pragma once

#include "vulkan/context.h"

namespace kf::vulkan {

/// Whether groups_at_once() can be asked: NVIDIA's driver, on a device of our own. Pipelines must then be
/// made with VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR.
[[nodiscard]] bool tells_residency(const Context& context);

/// The registers and memory that a pipeline needs for one thread and one group.
struct PipelineNeeds {
    std::uint64_t registers = 0;     ///< of 32 bits, a thread
    std::uint64_t shared_bytes = 0;  ///< a group
};

/// Returns how many groups of `threads` threads run on a processor for `subgroups` subgroups of `lanes`
/// lanes: registers are given out as in the CUDA Programming Guide, "Technical Specifications per Compute
/// Capability". 0 where `needs` is empty.
[[nodiscard]] std::uint32_t groups_at_once(const PipelineNeeds& needs, std::uint32_t threads,
                                           std::uint32_t lanes, std::uint32_t subgroups);

/// Returns the same of a pipeline, or 0 where the driver doesn't say after all.
[[nodiscard]] std::uint32_t groups_at_once(const Context& context, VkPipeline pipeline,
                                           std::uint32_t threads);

}  // namespace kf::vulkan
