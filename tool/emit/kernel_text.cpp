// Writes words that kernels are made of.
#include "emit/kernel_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/join.h"
#include "emit/adapter.h"
#include "emit/block.h"
#include "emit/kinds/questions.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// "(a, b)"
std::string listed(const std::vector<std::string>& arguments) { return "(" + join(arguments) + ")"; }

}  // namespace

std::string identifier(const std::string& name) {
    std::string text;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
            text += c;
        } else if (text.back() != '_') {
            text += '_';
        }
    }
    return text;
}

std::string differential_name(const Type& type) {
    if (type.kind == TypeKind::array) {
        return "Array<" + differential_name(type.element.front()) + ", " + std::to_string(type.extent) + ">";
    }
    return type.kind == TypeKind::structure ? type.name + ".Differential" : declared_name(type);
}

std::string pass_name(const PlannedCall& call, PassKind pass) {
    if (call.is_jvp) return ".jvp";
    constexpr std::array names{".forward", ".backward", ".fused"};
    return names.at(static_cast<std::size_t>(pass));
}

std::vector<std::string> call_statements(const PlannedCall& call, PassKind pass,
                                         const CallOperands& operands) {
    const std::string called = called_name(call);
    if (call.is_jvp) return {operands.result + "fwd_diff(" + called + ")" + listed(operands.passed)};
    std::vector<std::string> calls;
    // The derivative leaves gradients where the values were: the function goes first.
    if (pass != PassKind::backward)
        calls.push_back(operands.result + called +
                        listed(pass == PassKind::fused ? operands.primal : operands.passed));
    if (pass != PassKind::forward) calls.push_back("bwd_diff(" + called + ")" + listed(operands.passed));
    return calls;
}

std::vector<std::string> imports_of(const Plan& plan, const PlannedCall& call, const Needs& needs) {
    // A function of another module is imported alone: one of the spec's may have its name.
    std::vector<std::string> imports =
        call.module.empty() ? plan.imports : std::vector<std::string>{call.module};
    const bool tensors =
        std::any_of(call.arguments.begin(), call.arguments.end(),
                    [](const PlannedArgument& argument) { return supply_of(argument.host) == Supply::view; });
    if (std::any_of(call.parameters.begin(), call.parameters.end(),
                    [](const PlannedParameter& parameter) { return holds_own_struct(parameter.type); }))
        imports.insert(imports.begin(), "kf_own");
    if (needs.exact) imports.insert(imports.begin(), "kf_exact");
    if (needs.gathers) imports.insert(imports.begin(), "kf_gathers");
    if (needs.integers) imports.insert(imports.begin(), "kf_integers");
    if (needs.quads) imports.insert(imports.begin(), "kf_runs");
    if (needs.textures) imports.insert(imports.begin(), "kf_textures");
    if (tensors) imports.insert(imports.begin(), "kf");
    const auto takes = [&](const auto& has_form) {
        return std::any_of(call.arguments.begin(), call.arguments.end(),
                           [&](const PlannedArgument& argument) {
                               return argument.type.kind == TypeKind::tensor && has_form(argument.type.form);
                           });
    };
    if (takes([](TensorForm form) { return is_view(form); })) imports.insert(imports.begin(), "kf_views");
    if (takes([](TensorForm form) { return form == TensorForm::diff_texture; }))
        imports.insert(imports.begin(), "kf_diff_textures");
    if (takes([](TensorForm form) { return form == TensorForm::diff_output; }))
        imports.insert(imports.begin(), "slangpy");
    return imports;
}

std::string narrowed(const std::string& value, ScalarType scalar, const std::string& type) {
    switch (scalar) {
        case ScalarType::boolean: return value + " != 0";
        case ScalarType::int8:
        case ScalarType::int16:
        case ScalarType::uint8:
        case ScalarType::uint16:
        case ScalarType::float16: return type + "(" + value + ")";
        default: return value;
    }
}

}  // namespace kf::gen
