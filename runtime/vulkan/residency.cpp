// How many groups of a kernel one processor runs at once.
#include "vulkan/residency.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kf::vulkan {
namespace {

// A processor is four parts, each with registers for its own subgroups; a subgroup's come in pieces.
constexpr std::uint64_t parts = 4;
constexpr std::uint64_t registers_of_part = 16384;
constexpr std::uint64_t registers_in_piece = 8;  // a lane
/// Shared memory of the smallest processors, in bytes, for all their groups.
constexpr std::uint64_t shared_of_processor = 64ULL << 10;

}  // namespace

bool tells_residency(const Context& context) {
    const Limits& limits = context.physical.limits;
    return context.owned && limits.statistics && limits.resident_subgroups != 0 &&
           context.vk.vkGetPipelineExecutableStatisticsKHR != nullptr;
}

std::uint32_t groups_at_once(const PipelineNeeds& needs, std::uint32_t threads, std::uint32_t lanes,
                             std::uint32_t subgroups) {
    if (needs.registers == 0 || threads == 0 || lanes == 0) {
        return 0;
    }
    const std::uint64_t each =
        (needs.registers + registers_in_piece - 1) / registers_in_piece * registers_in_piece * lanes;
    const std::uint64_t fitting = std::min<std::uint64_t>(subgroups, parts * (registers_of_part / each));
    const std::uint64_t in_group = (threads + lanes - 1) / lanes;
    std::uint64_t groups = fitting / in_group;
    if (needs.shared_bytes != 0) {
        groups = std::min(groups, shared_of_processor / needs.shared_bytes);
    }
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, groups));
}

std::uint32_t groups_at_once(const Context& context, VkPipeline pipeline, std::uint32_t threads) {
    VkPipelineExecutableInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
    info.pipeline = pipeline;
    std::uint32_t count = 0;
    const auto ask = context.vk.vkGetPipelineExecutableStatisticsKHR;
    if (ask(context.device, &info, &count, nullptr) < 0) {
        return 0;
    }
    VkPipelineExecutableStatisticKHR empty{};
    empty.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    std::vector<VkPipelineExecutableStatisticKHR> statistics(count, empty);
    if (ask(context.device, &info, &count, statistics.data()) < 0) {
        return 0;
    }
    PipelineNeeds needs;
    for (const VkPipelineExecutableStatisticKHR& statistic : statistics) {
        if (statistic.format != VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR) {
            continue;
        }
        const std::string_view name = statistic.name;
        if (name == "Register Count") needs.registers = statistic.value.u64;
        if (name == "Shared Memory Size") needs.shared_bytes = statistic.value.u64;
    }
    return groups_at_once(needs, threads, context.physical.info.subgroup_size,
                          context.physical.limits.resident_subgroups);
}

}  // namespace kf::vulkan
