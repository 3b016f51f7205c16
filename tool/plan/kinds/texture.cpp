// Planning textures.
#include "plan/kinds/texture.h"

#include "plan/accumulate.h"
#include "plan/kinds/constant.h"

namespace kf::gen::kinds {

std::string gradient_refusal(const Texture&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "a texture has no gradient" : "";
}

void become_tangent(const Texture&, PlannedArgument& argument) {
    argument.host.kind = Constant{{"0"}};
    argument.host.element = {ScalarType::uint64, {}};
    argument.host.trailing.clear();
    argument.host.rank = argument.host.inner_rank = 0;
}

}  // namespace kf::gen::kinds
