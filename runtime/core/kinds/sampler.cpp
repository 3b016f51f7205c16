// The kind of parameters that are samplers: its rules in manifests, and its resource.
#include "core/kinds/sampler.h"

#include "core/consistency.h"
#include "core/resource_list.h"

namespace kf::manifest::kinds {

using artifact::require;

void check_consistency(const Sampler&, const Call&, const Argument& argument, const std::string& where) {
    require(argument.role == Role::in && argument.gradient == Gradient::never && !argument.differentiable &&
                argument.tangent_of == -1,
            where, "a sampler that isn't only given");
    require(argument.rank == 0 && argument.call_rank == 0 && argument.inner_rank == 0 &&
                argument.pitch == 0 && argument.trailing.empty() && argument.element.extents.empty(),
            where, "a sampler with dimensions");
    require(argument.accumulate == Accumulate::automatic, where, "a sampler that is accumulated");
}

void list_resources(const Sampler& sampler, const Call& call, std::int64_t index, ResourceList& list) {
    ResourceSlot slot{call.arguments[static_cast<std::size_t>(index)].name, ResourceKind::sampler};
    slot.is_comparison = sampler.is_comparison;
    list.push_back({index, std::move(slot)});
}

}  // namespace kf::manifest::kinds
