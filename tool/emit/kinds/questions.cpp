// Asks an argument's kind.
#include "emit/kinds/questions.h"

#include <algorithm>

#include "core/kinds/questions.h"
#include "emit/kinds/buffer.h"
#include "emit/kinds/constant.h"
#include "emit/kinds/generator.h"
#include "emit/kinds/pointer.h"
#include "emit/kinds/sampler.h"
#include "emit/kinds/tensor.h"
#include "emit/kinds/texture.h"
#include "emit/kinds/value.h"
#include "emit/kinds/whole_tensor.h"

namespace kf::gen {

using manifest::Argument;

Supply supply_of(const Argument& argument) {
    return std::visit([&](const auto& kind) { return kinds::supply_of(kind, argument); }, argument.kind);
}

std::optional<MadeValue> made_value(const MadeUse& use) {
    return std::visit([&](const auto& kind) { return kinds::made_value(kind, use); }, use.planned.host.kind);
}

bool counts_calls(const Argument& argument) {
    return std::visit([](const auto& kind) { return kinds::counts_calls(kind); }, argument.kind);
}

bool needs_indices(const PlannedCall& call) {
    return call.rank > 1 &&
           std::any_of(call.arguments.begin(), call.arguments.end(),
                       [](const auto& argument) { return counts_along_dimensions(argument.host); });
}

bool moves_along_calls(const Argument& argument) {
    return std::visit([&](const auto& kind) { return kinds::moves_along_calls(kind, argument); },
                      argument.kind);
}

bool is_found_without_strides(const Argument& argument) {
    return std::visit([&](const auto& kind) { return kinds::is_found_without_strides(kind, argument); },
                      argument.kind);
}

std::string cpp_passed_type(const PlannedArgument& item, const CppStructs& structs) {
    return std::visit([&](const auto& kind) { return kinds::cpp_passed_type(kind, item, structs); },
                      item.host.kind);
}

PythonTypes python_types(const PlannedArgument& item, bool takes_gradient) {
    return std::visit([&](const auto& kind) { return kinds::python_types(kind, item, takes_gradient); },
                      item.host.kind);
}

std::string described(const PlannedArgument& item) {
    return std::visit([&](const auto& kind) { return kinds::described(kind, item); }, item.host.kind);
}

}  // namespace kf::gen
