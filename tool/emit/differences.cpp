// Prepares the view of a function of differences; the text is in templates/differences.slang.mustache.
#include "emit/differences.h"

#include "emit/render.h"
#include "emit_templates.h"

namespace kf::gen {

namespace {

double step_of(ScalarType scalar) {
    return scalar == ScalarType::float16 ? 1.0 / 4 : (scalar == ScalarType::float32 ? 1.0 / 64 : 1.0 / 512);
}

std::string own_name(std::size_t index) { return "a" + std::to_string(index); }

/// The function's call with all but one argument as they are.
std::string call_text(const Function& function, std::size_t moved) {
    std::string arguments;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        arguments += i == 0 ? "" : ", ";
        arguments += i == moved ? "moved" : own_name(i);
        if (i != moved && is_differentiated(function.parameters[i])) arguments += ".p";
    }
    return function.name + "(" + arguments + ")";
}

/// The product of how the result changed and what flows into it.
std::string product_text(const Type& result) {
    if (result.kind != TypeKind::vector) return "change * flowing";
    std::string sum;
    for (int i = 0; i < result.columns; ++i) {
        const std::string at = "[" + std::to_string(i) + "]";
        sum += (i == 0 ? "change" : " + change") + at + " * flowing" + at;
    }
    return sum;
}

}  // namespace

bool is_differentiated(const Parameter& parameter) {
    return parameter.type.differentiable && !parameter.no_diff;
}

Outcome<std::string> emit_differences(const Function& function, const std::string& name, double factor) {
    View::List parameters;
    View::List gradients;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const Type& type = function.parameters[i].type;
        const bool moves = is_differentiated(function.parameters[i]);
        const std::string declared = moves ? "inout DifferentialPair<" + type.name + ">" : type.name;
        parameters.emplace_back(View::Object{{"declaration", declared + " " + own_name(i)}});
        if (!moves) continue;
        const bool is_vector = type.kind == TypeKind::vector;
        gradients.emplace_back(
            View::Object{{"own", own_name(i)},
                         {"type", type.name},
                         {"scalars", std::to_string(is_vector ? type.columns : 1)},
                         {"scalar", is_vector ? type.name.substr(0, type.name.size() - 1) : type.name},
                         {"at", is_vector ? "[i]" : ""},
                         {"step", std::to_string(factor * step_of(type.scalar))},
                         {"call", call_text(function, i)},
                         {"product", product_text(function.result)}});
    }
    return render("differences.slang.mustache", templates::differences_slang_mustache,
                  View(View::Object{{"name", name},
                                    {"parameters", std::move(parameters)},
                                    {"result", function.result.name},
                                    {"gradients", std::move(gradients)}}));
}

}  // namespace kf::gen
