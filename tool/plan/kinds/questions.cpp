// Asks an argument's kind.
#include "plan/kinds/questions.h"

#include "plan/kinds/generator.h"
#include "plan/kinds/tensor.h"
#include "plan/kinds/value.h"
#include "plan/kinds/whole_tensor.h"

namespace kf::gen {

using manifest::Argument;

bool is_read(const Argument& argument) {
    return std::visit([&](const auto& kind) { return kinds::is_read(kind, argument); }, argument.kind);
}

bool is_written(const Argument& argument) {
    return std::visit([&](const auto& kind) { return kinds::is_written(kind, argument); }, argument.kind);
}

bool can_have_gradient(const Argument& argument) {
    return std::visit([](const auto& kind) { return kinds::can_have_gradient(kind); }, argument.kind);
}

std::int64_t least_call_rank(const Argument& argument) {
    return std::visit([&](const auto& kind) { return kinds::least_call_rank(kind, argument); },
                      argument.kind);
}

std::optional<Diagnostic> check_in_call(const PlannedArgument& argument, std::int64_t rank) {
    return std::visit([&](const auto& kind) { return kinds::check_in_call(kind, argument, rank); },
                      argument.host.kind);
}

std::string gradient_refusal(const Argument& argument, const AccumulateWay& way) {
    return std::visit([&](const auto& kind) { return kinds::gradient_refusal(kind, way); }, argument.kind);
}

void become_tangent(PlannedArgument& argument, manifest::Role role) {
    argument.host.role = role;
    const manifest::Kind kind = argument.host.kind;
    std::visit([&](const auto& one) { kinds::become_tangent(one, argument); }, kind);
}

}  // namespace kf::gen
