// How commands print one overload of a function.
#include "run/overload.h"

#include "plan/generators.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::ArgumentKind;
using manifest::Role;

std::string kind_text(const manifest::Argument& argument) {
    if (argument.kind == ArgumentKind::generator) return generator_text(argument);
    const std::string element = slang_name(argument.element);
    if (argument.kind == ArgumentKind::value) return "value<" + element + ">";
    return "tensor<" + element + ">[" + std::to_string(argument.rank) + "]";
}

}  // namespace

std::string overload_text(const std::vector<manifest::Argument>& arguments, std::int64_t rank) {
    std::string text = "(";
    std::string result;
    for (const manifest::Argument& argument : arguments) {
        if (argument.role == Role::result) {
            result = " -> " + kind_text(argument);
            continue;
        }
        if (text.size() > 1) text += ", ";
        if (argument.role == Role::out) text += "out ";
        if (argument.role == Role::inout) text += "inout ";
        text += argument.name + ": " + kind_text(argument);
    }
    return text + ")" + result + ", rank " + std::to_string(rank);
}

}  // namespace kf::gen
