// Planning samplers.
#include "plan/kinds/sampler.h"

#include "plan/accumulate.h"
#include "plan/kinds/constant.h"

namespace kf::gen::kinds {

Outcome<manifest::Argument> feed_sampler(const KindSpec& kind, const KindTarget& target) {
    if (kind.kind != Kind::sampler) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": '" + kind.spelling + "' can't feed a parameter of type '" +
                              target.type.name + "'",
                          {"give it sampler"});
    }
    if (target.type.kind != TypeKind::sampler) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": '" + kind.spelling + "' can't feed a parameter of type '" +
                              target.type.name + "'",
                          {target.type.kind == TypeKind::texture && target.type.texture.is_combined
                               ? "what is given for a '" + target.type.name +
                                     "' is a texture with its sampler: give it the texture's kind"
                               : "it feeds SamplerState and SamplerComparisonState"});
    }
    if (target.role != manifest::Role::in) {
        return feed_error(
            kind, "argument-type",
            target_name(target) +
                ": a sampler goes into a call; none can come out of it, as a result or as an out "
                "or inout parameter");
    }
    manifest::Argument argument;
    argument.name = target.argument;
    argument.kind = Sampler{target.type.texture.is_comparison};
    return argument;
}

std::string gradient_refusal(const Sampler&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "a sampler has no gradient" : "";
}

void become_tangent(const Sampler&, PlannedArgument& argument) {
    argument.host.kind = Constant{{"0"}};
    argument.host.element = {ScalarType::uint64, {}};
}

}  // namespace kf::gen::kinds
