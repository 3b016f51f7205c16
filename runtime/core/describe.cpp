// The words for calls and arguments in error messages.
#include "core/describe.h"

#include <algorithm>

#include "core/convert.h"
#include "core/items.h"
#include "core/kinds/binding.h"

namespace kf::detail {

std::string type_text(const manifest::Argument& argument) {
    return argument.type.empty() ? to_string(element_type(argument.element)) : argument.type;
}

bool ends_in_vector(const manifest::Argument& argument) {
    if (argument.element.extents.empty() || !argument.members.empty()) {
        return false;  // an enum may be called as a vector is
    }
    std::string name = type_text(argument);
    name.resize(std::min(name.find('['), name.size()));
    const std::size_t size = name.size();
    const auto is_length = [&](std::size_t i) { return name[i] >= '1' && name[i] <= '4'; };
    const bool matrix = size > 3 && name[size - 2] == 'x' && is_length(size - 3);
    return size > 1 && is_length(size - 1) && !matrix;
}

std::string describe(const manifest::Argument& argument) {
    return std::visit([&](const auto& kind) { return describe(kind, argument); }, argument.kind);
}

std::string describe(const manifest::Call& call, const manifest::ParameterTree& parameter) {
    const manifest::Argument& first = call.arguments[static_cast<std::size_t>(parameter.leaf)];
    switch (parameter.form) {
        case manifest::Form::leaf: return detail::describe(first);
        case manifest::Form::value: return parameter.type;
        case manifest::Form::tensor: return parameter.type + " tensor[" + std::to_string(first.rank) + "]";
        case manifest::Form::fields: break;
    }
    if (manifest::is_array(parameter)) {
        return "[" + std::to_string(parameter.fields.size()) + " of " +
               describe(call, parameter.fields.front()) + "]";
    }
    std::string text = "{";
    for (const manifest::ParameterTree& field : parameter.fields) {
        text += (text.size() > 1 ? ", " : "") + field.name + ": " + describe(call, field);
    }
    return text + "}";
}

namespace {

/// The struct that the host passes an argument in, and its name; null where the host passes the argument
/// itself.
struct OwningStruct {
    const manifest::ParameterTree* parameter = nullptr;
    std::string name;
};

OwningStruct find_owning_struct(const std::vector<manifest::ParameterTree>& parameters,
                                const std::string& before, std::int64_t argument) {
    for (const manifest::ParameterTree& parameter : parameters) {
        if (argument < parameter.leaf || argument >= parameter.leaf + parameter.leaves) {
            continue;
        }
        const std::string name =
            before.empty() ? parameter.name : manifest::field_path(before, parameter.name);
        if (parameter.form == manifest::Form::fields) {
            return find_owning_struct(parameter.fields, name, argument);
        }
        return parameter.form == manifest::Form::leaf ? OwningStruct() : OwningStruct{&parameter, name};
    }
    return {};
}

OwningStruct find_owning_struct(const manifest::Call& call, std::size_t i) {
    return find_owning_struct(call.parameters, "", static_cast<std::int64_t>(i));
}

}  // namespace

std::string host_name(const manifest::Call& call, std::size_t i) {
    const OwningStruct owner = find_owning_struct(call, i);
    return owner.parameter == nullptr ? call.arguments[i].name : owner.name;
}

std::string host_text(const manifest::Call& call, std::size_t i) {
    const OwningStruct owner = find_owning_struct(call, i);
    return owner.parameter == nullptr ? describe(call.arguments[i]) : describe(call, *owner.parameter);
}

Dims host_shape(const manifest::Call& call, std::size_t i, const Dims& flat_shape) {
    const OwningStruct owner = find_owning_struct(call, i);
    const auto rank = static_cast<std::size_t>(call.arguments[i].rank);
    if (owner.parameter == nullptr || owner.parameter->form != manifest::Form::tensor ||
        flat_shape.size() < rank) {
        return flat_shape;
    }
    Dims shape;
    for (std::size_t d = 0; d < rank; ++d) {
        shape.push_back(flat_shape[d]);
    }
    return shape;
}

Dims host_strides(const manifest::Call& call, std::size_t i, const Dims& flat_strides) {
    Dims strides = host_shape(call, i, flat_strides);
    const std::int64_t pitch = call.arguments[i].pitch;
    for (std::size_t d = 0; pitch > 0 && d < strides.size(); ++d) {
        strides[d] /= pitch;
    }
    return strides;
}

std::string describe(const manifest::Function& function, const manifest::Call& call) {
    std::string text = function.name + "(";
    std::string result;
    bool first = true;
    for (const manifest::ParameterTree& parameter : call.parameters) {
        const manifest::Role role = manifest::role_of(call, parameter);
        if (role == manifest::Role::result) {
            result = " -> " + describe(call, parameter);
            continue;
        }
        const bool leaf = parameter.form == manifest::Form::leaf;
        const bool tangent = call.arguments[static_cast<std::size_t>(parameter.leaf)].tangent_of >= 0;
        if (tangent && role != manifest::Role::in) {
            continue;  // comes with what it belongs to
        }
        if (manifest::is_global(parameter.name)) {
            continue;  // set beforehand
        }
        if (leaf && !has_host_value(call.arguments[static_cast<std::size_t>(parameter.leaf)])) {
            continue;
        }
        text += first ? "" : ", ";
        first = false;
        if (role != manifest::Role::in) {
            text += role == manifest::Role::out ? "out " : "inout ";
        }
        text += parameter.name + ": " + describe(call, parameter) + (tangent ? " = 0" : "");
    }
    return text + ")" + result;
}

std::string unset_global_text(const std::string& parameter) {
    return "the global '" + parameter.substr(manifest::global_prefix.size()) +
           "', which it reads, isn't set: set() does that";
}

void fail_unset_global(const std::string& function, const std::string& parameter) {
    throw ArgumentError(ErrorCode::missing_argument, function + ": " + unset_global_text(parameter));
}

std::string with_article(const std::string& noun) {
    constexpr std::string_view vowels = "aeioAEIO";  // "u" is that of "a uint"
    const bool vowel = !noun.empty() && vowels.find(noun.front()) != std::string_view::npos;
    return (vowel ? "an " : "a ") + noun;
}

std::string describe_tensor(ScalarType scalar, const Dims& flat_shape) {
    return with_article(to_string(scalar)) + " tensor of shape " + to_string(flat_shape);
}

}  // namespace kf::detail
