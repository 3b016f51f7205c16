// Values.
#include "emit/kinds/value.h"

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

}  // namespace kf::gen

namespace kf::gen::kinds {

PythonTypes python_types(const Value&, const PlannedArgument& item, bool takes_gradient) {
    if (holds_structs(item.type)) {
        PythonTypes object = item.type.kind == TypeKind::array ? python_sequence : python_struct;
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
