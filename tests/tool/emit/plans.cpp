// Plans made by hand.
#include "tool/emit/plans.h"

#include "plan/types.h"

#include <utility>

namespace kf::gen::testing {

using manifest::Gradient;
using manifest::Role;

PlannedArgument value(const std::string& name, ScalarType scalar, std::vector<std::int64_t> extents) {
    PlannedArgument argument;
    argument.host.name = name;
    argument.host.element = {scalar, std::move(extents)};
    argument.host.trailing = argument.host.element.extents;
    argument.element_name = slang_name(argument.host.element);
    return argument;
}

PlannedArgument tensor(const std::string& name, std::int64_t call_rank, ScalarType scalar,
                       std::vector<std::int64_t> trailing) {
    PlannedArgument argument = value(name, scalar);
    argument.host.kind = manifest::kinds::Tensor{};
    argument.host.call_rank = call_rank;
    argument.host.rank = call_rank + static_cast<std::int64_t>(trailing.size());
    argument.host.trailing = std::move(trailing);
    for (std::int64_t i = 0; i < call_rank; ++i) argument.host.map.push_back(i);
    return argument;
}

PlannedArgument vector_tensor(const std::string& name, std::int64_t call_rank, std::int64_t length,
                              ScalarType scalar) {
    PlannedArgument argument = tensor(name, call_rank, scalar);
    argument.host.element.extents = {length};
    argument.element_name = slang_name(argument.host.element);
    argument.host.trailing = {length};
    return argument;
}

PlannedArgument with_role(PlannedArgument argument, Role role) {
    argument.host.role = role;
    if (role == Role::result) {
        argument.host.name = "result";
        argument.is_result = true;
    }
    return argument;
}

PlannedArgument differentiable(PlannedArgument argument) {
    argument.host.differentiable = true;
    const bool is_input = argument.host.role == Role::in || argument.host.role == Role::inout;
    argument.host.gradient = is_input ? Gradient::automatic : Gradient::never;
    return argument;
}

PlannedArgument at(PlannedArgument argument, std::int64_t line, std::int64_t column) {
    argument.location = {"spec.kf.json", line, column};
    return argument;
}

void set_leaves(PlannedCall& call) {
    call.parameters.clear();
    for (const PlannedArgument& argument : call.arguments) {
        PlannedParameter& leaf = call.parameters.emplace_back();
        leaf.host.name = argument.host.name;
        leaf.host.leaf = static_cast<std::int64_t>(call.parameters.size()) - 1;
        leaf.type = argument.type;
        leaf.role = argument.host.role;
        leaf.no_diff = argument.no_diff;
    }
}

PlannedCall call(std::int64_t rank, std::vector<PlannedArgument> arguments) {
    PlannedCall made;
    made.rank = rank;
    made.arguments = std::move(arguments);
    made.location = {"spec.kf.json", 5, 5};
    for (const PlannedArgument& argument : made.arguments)
        made.has_backward = made.has_backward || argument.host.gradient != Gradient::never;
    set_leaves(made);
    return made;
}

Plan plan(const std::string& name, std::vector<PlannedFunction> functions) {
    return {name, name, {name}, std::move(functions)};
}

Plan polynomial() {
    PlannedFunction function{"polynomial", "a * x * x + b * x + c.", {}};
    for (std::int64_t rank = 0; rank < 3; ++rank) {
        PlannedArgument x = rank == 0 ? value("x") : tensor("x", rank);
        PlannedArgument result = with_role(rank == 0 ? value("") : tensor("", rank), Role::result);
        function.calls.push_back(
            call(rank, {differentiable(value("a")), differentiable(value("b")), differentiable(value("c")),
                        differentiable(std::move(x)), differentiable(std::move(result))}));
    }
    return plan("polynomial", {std::move(function)});
}

Plan everything() {
    std::vector<PlannedFunction> functions;

    // Out, inout and result, as tensors and as values.
    functions.push_back(
        {"split",
         "Splits x into its whole part and the rest.\n\nScales `total` by it; a path: C:\\\n",
         {call(1, {differentiable(tensor("x", 1)), differentiable(with_role(tensor("whole", 1), Role::out)),
                   differentiable(with_role(tensor("total", 1), Role::inout)),
                   differentiable(with_role(tensor("", 1), Role::result))}),
          call(0, {differentiable(value("x")), differentiable(with_role(value("whole"), Role::out)),
                   differentiable(with_role(value("total"), Role::inout)),
                   differentiable(with_role(value(""), Role::result))})}});
    // No result, only an out parameter.
    functions.push_back(
        {"fill",
         "",
         {call(2, {value("seed", ScalarType::uint32), with_role(tensor("target", 2), Role::out)})}});
    // Every scalar; one name for all.
    PlannedFunction negate{"negate", "-x", {}};
    for (int i = 0; i < 12; ++i) {
        const auto scalar = static_cast<ScalarType>(i);
        negate.calls.push_back(call(0, {value("x", scalar), with_role(value("", scalar), Role::result)}));
        negate.calls.push_back(
            call(3, {tensor("x", 3, scalar), with_role(tensor("", 3, scalar), Role::result)}));
    }
    functions.push_back(std::move(negate));
    // Vectors: as values, as elements, as trailing extents.
    functions.push_back(
        {"normalize",
         "A vector of length 1.",
         {call(0, {differentiable(value("v", ScalarType::float32, {3})),
                   differentiable(with_role(value("", ScalarType::float32, {3}), Role::result))}),
          call(1, {differentiable(vector_tensor("v", 1, 3)),
                   differentiable(with_role(vector_tensor("", 1, 3), Role::result))}),
          call(1, {differentiable(tensor("v", 1, ScalarType::float32, {3})),
                   differentiable(with_role(vector_tensor("", 1, 3), Role::result))})}});
    functions.push_back(
        {"any_of",
         "Half and bool vectors, and no gradient.",
         {call(1, {value("limit", ScalarType::float16, {2}), vector_tensor("mask", 1, 4, ScalarType::boolean),
                   with_role(tensor("", 1, ScalarType::boolean), Role::result)})}});
    // Names that are words of C++ or Python, or that generated code uses itself.
    functions.push_back({"delete",
                         "Named by a keyword.",
                         {call(1, {differentiable(tensor("class", 1)), differentiable(value("lambda")),
                                   differentiable(value("out")), differentiable(value("result")),
                                   differentiable(value("encoder")), differentiable(value("args")),
                                   differentiable(value("backward")), differentiable(value("self")),
                                   differentiable(value("errno")),
                                   differentiable(with_role(tensor("", 1), Role::result))})}});
    // Double gradients and a dimension map.
    PlannedArgument turned = tensor("m", 2, ScalarType::float64);
    turned.host.map = {1, 0};
    turned.host.kind = manifest::kinds::Tensor{.contiguous_only = true};
    functions.push_back(
        {"turn",
         "",
         {call(2, {differentiable(std::move(turned)), differentiable(value("scale", ScalarType::float64)),
                   differentiable(with_role(tensor("", 2, ScalarType::float64), Role::result))})}});
    return {"everything", "app::kernels", {"everything"}, std::move(functions)};
}

}  // namespace kf::gen::testing
