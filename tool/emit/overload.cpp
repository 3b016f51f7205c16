// How commands print one overload of a function.
#include "emit/overload.h"

#include "core/items.h"
#include "core/kinds/questions.h"
#include "plan/host_call.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Form;
using manifest::Role;

std::string leaf_text(const manifest::Argument& argument) {
    return spec_text(argument, argument.type.empty() ? slang_name(argument.element) : argument.type);
}

}  // namespace

std::string kind_text(const manifest::Call& call, const manifest::ParameterTree& parameter) {
    const manifest::Argument& first = call.arguments[static_cast<std::size_t>(parameter.leaf)];
    if (parameter.form == Form::leaf) return leaf_text(first);
    std::string text;
    if (parameter.form == Form::fields) {
        for (const manifest::ParameterTree& field : parameter.fields)
            text += (text.empty() ? "" : ", ") + field.name + ": " + kind_text(call, field);
        return "{" + text + "}";
    }
    text = parameter.type;
    for (const std::int64_t extent : parameter.extents) text += "[" + std::to_string(extent) + "]";
    return spec_text(first, text);
}

std::string overload_text(const manifest::Call& call) {
    std::string text = "(";
    std::string result;
    const auto add = [&](const std::string& name, Role role, const std::string& kind) {
        if (role == Role::result) {
            result = " -> " + kind;
            return;
        }
        if (text.size() > 1) text += ", ";
        if (role == Role::out) text += "out ";
        if (role == Role::inout) text += "inout ";
        text += name + ": " + kind;
    };
    for (const manifest::ParameterTree& parameter : call.parameters)
        add(parameter.name, manifest::role_of(call, parameter), kind_text(call, parameter));
    return text + ")" + result + ", rank " + std::to_string(call.rank);
}

std::string overload_text(const PlannedCall& call) { return overload_text(host_call(call)); }

}  // namespace kf::gen
