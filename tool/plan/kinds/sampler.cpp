// Planning samplers.
#include "plan/kinds/sampler.h"

#include "plan/accumulate.h"
#include "plan/kinds/constant.h"

namespace kf::gen::kinds {

std::string gradient_refusal(const Sampler&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "a sampler has no gradient" : "";
}

void become_tangent(const Sampler&, PlannedArgument& argument) {
    argument.host.kind = Constant{{"0"}};
    argument.host.element = {ScalarType::uint64, {}};
    argument.host.trailing.clear();
    argument.host.rank = argument.host.inner_rank = 0;
}

}  // namespace kf::gen::kinds
