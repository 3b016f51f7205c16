// The kinds that a starter spec gives a function's parameters: by their types alone.
#include "run/starter_calls.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "plan/types.h"
#include "spec/names.h"

namespace kf::gen {
namespace {

/// Returns whether each call takes one of it, which the host gives as a value or as an element of a tensor.
bool is_data(const Type& type) {
    switch (innermost_of_arrays(type).kind) {
        case TypeKind::scalar:
        case TypeKind::vector:
        case TypeKind::matrix:
        case TypeKind::structure:
        case TypeKind::interface:
        case TypeKind::other: return true;
        default: return false;
    }
}

/// Returns the kind of what is taken whole, or is one for all calls.
std::string whole_kind(const Type& type) {
    switch (type.kind) {
        case TypeKind::tensor: return "tensor[" + std::to_string(is_view(type.form) ? 1 : type.extent) + "]";
        case TypeKind::buffer:
            return std::string(type.is_writable ? "rw" : "") +
                   (type.name.find("ByteAddress") != std::string::npos ? "byteaddress" : "buffer");
        case TypeKind::texture: return texture_kind(type);
        case TypeKind::sampler: return "sampler";
        case TypeKind::pointer: return "pointer";
        default: return "value";
    }
}

/// Returns whether some of its fields are taken whole, so that each field has a kind of its own.
bool holds_whole(const Type& type) {
    const Type& inner = innermost_of_arrays(type);
    return inner.kind == TypeKind::structure &&
           std::any_of(inner.fields.begin(), inner.fields.end(),
                       [](const Field& field) { return !is_data(field.type) || holds_whole(field.type); });
}

std::string fields_kinds(const Type& type) {
    std::string text;
    for (const Field& field : innermost_of_arrays(type).fields) {
        const Type& inner = innermost_of_arrays(field.type);
        text += (text.empty() ? "" : ", ") + json_string(field.name) + ": " +
                (holds_whole(inner) ? fields_kinds(inner) : json_string(whole_kind(inner)));
    }
    return "{\"fields\": {" + text + "}}";
}

/// States the generic parameters: types are floats, and numbers 3.
std::string specialised(const Function& function) {
    if (!function.is_generic()) return function.name;
    const std::vector<std::string> names = name_parts(function.name);
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : ".") + names[i];
        std::string given;
        for (const GenericParameter& generic : function.generics) {
            if (generic.part != i) continue;
            given += given.empty() ? "" : ", ";
            given += generic.value_type.empty() ? "float" : generic.value_type == "bool" ? "true" : "3";
        }
        if (!given.empty()) text += "<" + given + ">";
    }
    return text;
}

class Maker {
public:
    Maker(const Function& function, bool is_overload) : function_(function), is_overload_(is_overload) {
        inputs_ = std::count_if(function.parameters.begin(), function.parameters.end(),
                                [&](const Parameter& one) { return !is_this(one) && is_input(one); });
    }

    [[nodiscard]] StarterCall make(bool batched, bool backward) const {
        StarterCall call{specialised(function_), {}, {}, backward, false};
        call.states_threads = function_.entry == EntryPoint::compute && function_.group_size[0] <= 0;
        bool first = true;
        for (const Parameter& parameter : function_.parameters) {
            if (is_this(parameter)) {
                // An object that is changed must come back; else one object serves all calls.
                const bool one = parameter.direction == Direction::in && (inputs_ > 0 || !batched);
                call.self = holds_whole(parameter.type) ? fields_kinds(parameter.type)
                            : one                       ? "\"value\""
                                                        : "\"tensor[1]\"";
                continue;
            }
            call.arguments.push_back({parameter.name, kinds(parameter, batched, first)});
            if (is_input(parameter)) first = false;
        }
        return call;
    }

private:
    [[nodiscard]] bool is_this(const Parameter& parameter) const {
        return function_.member == Member::method && &parameter == &function_.parameters.front();
    }

    static bool is_input(const Parameter& parameter) {
        return parameter.direction == Direction::in && is_data(parameter.type) &&
               !holds_whole(parameter.type);
    }

    [[nodiscard]] std::string kinds(const Parameter& parameter, bool batched, bool first) const {
        if (!is_data(parameter.type)) return json_string(whole_kind(parameter.type));
        if (holds_whole(parameter.type)) return fields_kinds(parameter.type);
        const std::string element = is_overload_ && element_of(parameter.type) && !parameter.type.is_enum
                                        ? "<" + kind_name(parameter.type) + ">"
                                        : "";
        std::string value = json_string("value" + element);
        std::string tensor = json_string("tensor" + element + "[1]");
        if (parameter.direction == Direction::out) return is_overload_ && batched ? tensor : "\"auto\"";
        if (parameter.direction == Direction::inout) return tensor;
        if (!batched) return value;
        // Alternatives multiply: from the fourth input on they would be many.
        constexpr std::ptrdiff_t few = 3;
        if (first || inputs_ > few) return tensor;
        std::string both = "[";
        both += value + ", " + tensor;
        return both + "]";
    }

    const Function& function_;
    bool is_overload_;
    std::ptrdiff_t inputs_ = 0;
};

}  // namespace

std::string json_string(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<StarterCall> starter_calls(const Function& function, bool is_overload) {
    const Maker maker(function, is_overload);
    std::vector<StarterCall> calls;
    for (const bool batched : {true, false}) {
        for (const bool backward : {true, false}) {
            if (backward && !function.backward_differentiable) continue;
            StarterCall call = maker.make(batched, backward);
            if (std::find(calls.begin(), calls.end(), call) == calls.end()) calls.push_back(std::move(call));
        }
    }
    return calls;
}

std::vector<std::string> call_lines(const StarterCall& call) {
    std::vector<std::string> lines{"\"function\": " + json_string(call.function)};
    if (!call.self.empty()) lines.push_back("\"this\": " + call.self);
    std::string arguments;
    for (const StarterCall::Argument& argument : call.arguments) {
        arguments += arguments.empty() ? "" : ", ";
        arguments += json_string(argument.name) + ": " + argument.kinds;
    }
    lines.push_back("\"args\": {" + arguments + "}");
    if (call.backward) lines.emplace_back("\"backward\": true");
    if (call.states_threads) lines.emplace_back("\"threads\": [256]");
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += ",";
    return lines;
}

}  // namespace kf::gen
