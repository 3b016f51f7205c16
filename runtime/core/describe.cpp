// The words for calls and arguments in error messages.
#include "core/describe.h"

#include "core/convert.h"
#include "core/generator.h"

namespace kf::detail {

std::string describe(const manifest::Argument& argument) {
    if (argument.kind == manifest::ArgumentKind::generator) {
        return generator_text(static_cast<GeneratorKind>(argument.generator),
                              static_cast<std::size_t>(argument.rank));
    }
    std::string text = to_string(element_type(argument.element));
    if (argument.kind == manifest::ArgumentKind::tensor) {
        text += " tensor[" + std::to_string(argument.rank) + "]";
    }
    return text;
}

std::string describe(const manifest::Function& function, const manifest::Call& call) {
    std::string text = function.name + "(";
    std::string result;
    bool first = true;
    for (const manifest::Argument& argument : call.arguments) {
        if (argument.role == manifest::Role::result) {
            result = " -> " + describe(argument);
            continue;
        }
        if (!has_host_value(argument)) {
            continue;
        }
        text += first ? "" : ", ";
        first = false;
        if (argument.role != manifest::Role::in) {
            text += argument.role == manifest::Role::out ? "out " : "inout ";
        }
        text += argument.name + ": " + describe(argument);
    }
    return text + ")" + result;
}

std::string describe_tensor(ScalarType scalar, const Dims& flat_shape) {
    return "a " + to_string(scalar) + " tensor of shape " + to_string(flat_shape);
}

}  // namespace kf::detail
