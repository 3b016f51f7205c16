// Functions and specs by hand, so that planning is tested without Slang.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "plan/resolve.h"
#include "plan/types.h"
#include "spec/parse.h"

namespace kf::gen::test {

/// The Slang type of this spelling: a scalar, vector, matrix, array of such ("float2[3]", or "float[]"
/// without a size), tensor of kf.slang's ("WTensor<float3, 2>", "TensorView<float>"), or void.
inline Type type_named(const std::string& name) {
    Type type;
    type.name = name;
    if (name == "void") {
        type.kind = TypeKind::void_type;
        return type;
    }
    if (const std::size_t angle = name.find('<'); angle != std::string::npos) {
        type.kind = TypeKind::tensor;
        type.form = form_named(name.substr(0, angle)).value();
        const std::size_t comma = is_view(type.form) ? name.size() - 1 : name.rfind(',');
        type.element = {type_named(name.substr(angle + 1, comma - angle - 1))};
        type.extent = is_view(type.form) ? 0 : std::stoll(name.substr(comma + 1));
        return type;
    }
    if (const std::size_t bracket = name.find('['); bracket != std::string::npos) {
        const std::size_t end = name.find(']', bracket);
        type.kind = TypeKind::array;
        type.extent = end == bracket + 1 ? 0 : std::stoll(name.substr(bracket + 1, end - bracket - 1));
        type.element = {type_named(name.substr(0, bracket) + name.substr(end + 1))};
        type.scalar = type.element.front().scalar;
        type.differentiable = type.element.front().differentiable;
        return type;
    }
    const manifest::Element element = parse_element(name).value();
    constexpr std::array kinds{TypeKind::scalar, TypeKind::vector, TypeKind::matrix};
    type.kind = kinds.at(element.extents.size());
    type.scalar = element.scalar;
    type.rows = type.kind == TypeKind::matrix ? element.extents.front() : 1;
    type.columns = element.extents.empty() ? 1 : element.extents.back();
    type.differentiable = is_floating(element.scalar);
    return type;
}

struct FieldText {
    std::string name;
    Type type;
    bool no_diff = false;
};

inline Type struct_of(const std::string& name, const std::vector<FieldText>& fields,
                      bool differentiable = true) {
    Type type;
    type.kind = TypeKind::structure;
    type.name = name;
    type.differentiable = differentiable;
    for (const FieldText& field : fields) type.fields.push_back({field.name, field.type, field.no_diff});
    return type;
}

inline Type array_of(const Type& element, std::int64_t extent) {
    Type type;
    type.kind = TypeKind::array;
    type.name = element.name + "[" + std::to_string(extent) + "]";
    type.extent = extent;
    type.element = {element};
    type.differentiable = element.differentiable;
    return type;
}

struct ParameterText {
    std::string type;
    std::string name;
    Direction direction = Direction::in;
    bool no_diff = false;
};

inline Function function_of(const std::string& result, const std::string& name,
                            const std::vector<ParameterText>& parameters, bool differentiable = true) {
    Function function;
    function.name = name;
    function.result = type_named(result);
    function.backward_differentiable = differentiable;
    function.forward_differentiable = differentiable;
    function.location = {"functions.slang", 3, 1};
    for (const ParameterText& parameter : parameters) {
        function.parameters.push_back(
            {parameter.name, type_named(parameter.type), parameter.direction, parameter.no_diff});
    }
    return function;
}

/// A spec whose only call is `call`, a JSON object.
inline Spec spec_of(const std::string& call) {
    const std::string text =
        R"({"version": 1, "name": "functions", "modules": ["functions.slang"], "calls": [)" + call + "]}";
    return parse_spec(text, "functions.kf.json").value();
}

inline Outcome<Plan> plan_of(const std::string& call, const std::vector<Function>& functions) {
    Module module;
    module.module_names = {"functions"};
    module.functions = functions;
    return resolve(spec_of(call), module);
}

inline std::vector<std::string> ids(const Outcome<Plan>& plan) {
    std::vector<std::string> found;
    if (plan) return found;
    for (const Diagnostic& error : plan.errors()) found.push_back(error.id);
    return found;
}

}  // namespace kf::gen::test
