// Planning values.
#include "plan/kinds/value.h"

#include "plan/accumulate.h"

namespace kf::gen::kinds {

using manifest::Argument;
using manifest::Role;

Outcome<Argument> feed_value(const KindSpec& kind, const KindTarget& target) {
    Outcome<Argument> fed = feed_element(kind, target, {});
    if (!fed) return fed;
    Argument& argument = fed.value();
    if (target.role != Role::in && argument.call_rank > 0) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": '" + kind.spelling + "' is a value whose parts " +
                              std::to_string(argument.call_rank) +
                              " dimension(s) of calls would write; only tensors are written by several calls",
                          {"give it " + std::string("tensor[") + std::to_string(argument.call_rank) + "]"});
    }
    const bool in_block = target.type.kind == TypeKind::scalar ||
                          (target.type.kind == TypeKind::vector && target.type.columns > 1);
    argument.kind = Value{target.role == Role::in && (argument.call_rank > 0 || !in_block)};
    return with_map(std::move(argument), kind, target);
}

std::string gradient_refusal(const Value&, const AccumulateWay& way) {
    return way.overwrite ? "it is for tensors; give it a kind such as tensor[0]" : "";
}

void become_tangent(const Value&, PlannedArgument& argument) {
    const bool in_block = argument.type.kind == TypeKind::scalar || argument.type.kind == TypeKind::vector;
    argument.host.kind = Value{argument.host.role == Role::in && (argument.host.call_rank > 0 || !in_block)};
}

}  // namespace kf::gen::kinds
