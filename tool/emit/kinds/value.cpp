// Values.
#include "emit/kinds/value.h"

#include <optional>

#include "emit/element.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {

PythonTypes value_types(const manifest::Element& element, bool takes_gradient, bool vector) {
    PythonTypes types = python_sequence;
    if (vector) {
        types |= python_components;
        types |= python_bool;
        if (element.scalar != ScalarType::boolean) types |= python_int;
        if (is_floating(element.scalar)) types |= python_float;
    }
    if (element.extents.empty()) {
        types = python_bool;
        if (element.scalar != ScalarType::boolean) types |= python_int;
        if (is_floating(element.scalar)) types |= python_float;
    }
    if (takes_gradient) types |= python_differentiable;
    return types;
}

PythonTypes own_types(const Type& type) {
    if (type.own == OwnStruct::tuple) return python_sequence;
    if (type.own != OwnStruct::optional || type.fields.empty()) return 0;
    const Type& value = type.fields.front().type;
    if (holds_structs(value))
        return value.kind == TypeKind::array ? PythonTypes(python_sequence)
                                             : static_cast<PythonTypes>(python_struct | own_types(value));
    const std::optional<manifest::Element> element = element_of(value);
    return element ? value_types(*element, false, value.kind == TypeKind::vector) : 0;
}

}  // namespace kf::gen

namespace kf::gen::kinds {

PythonTypes python_types(const Value&, const PlannedArgument& item, bool takes_gradient) {
    if (holds_structs(item.type)) {
        PythonTypes object = item.type.kind == TypeKind::array ? python_sequence : python_struct;
        object |= own_types(item.type);
        if (takes_gradient) object |= python_differentiable;
        return object;
    }
    const bool vector = item.type.kind == TypeKind::vector && item.host.call_rank == 0;
    return value_types(item.host.element, takes_gradient, vector);
}

std::string described(const Value&, const PlannedArgument& item) {
    return role_text(item.host.role) + ", " + with_enum(item.element_name, item.type);
}

}  // namespace kf::gen::kinds
