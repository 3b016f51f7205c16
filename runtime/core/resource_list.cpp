// The one list of the resources that a call's kernels take beside their blocks.
#include "core/resource_list.h"

#include "core/kinds/questions.h"

namespace kf::manifest {

ResourceList call_resources(const Call& call) {
    ResourceList list;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        list_resources(call.arguments[i], call, static_cast<std::int64_t>(i), list);
    }
    return list;
}

std::vector<std::int64_t> resource_arguments(const Call& call) {
    std::vector<std::int64_t> arguments;
    for (const CallResource& resource : call_resources(call)) arguments.push_back(resource.argument);
    return arguments;
}

std::vector<ResourceSlot> resource_slots(const Call& call) {
    std::vector<ResourceSlot> slots;
    for (CallResource& resource : call_resources(call)) slots.push_back(std::move(resource.slot));
    return slots;
}

}  // namespace kf::manifest
