// Tensors of which each call reads or writes one element.
#include "emit/kinds/tensor.h"

#include "emit/element.h"
#include "emit/kinds/value.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// "[d0, any, 3]"
std::string dimensions(const manifest::Argument& argument) {
    std::string text = "[";
    const auto calls = static_cast<std::size_t>(argument.call_rank);
    const auto leading = calls + static_cast<std::size_t>(argument.inner_rank);
    for (std::int64_t i = 0; i < argument.rank; ++i) {
        const auto at = static_cast<std::size_t>(i);
        text += i == 0 ? "" : ", ";
        if (at < calls && at < argument.map.size())
            text += "d" + std::to_string(argument.map[at]);
        else if (at >= calls && at < leading)
            text += "any";
        else if (at >= leading && at - leading < argument.trailing.size())
            text += std::to_string(argument.trailing[at - leading]);
    }
    return text + "]";
}

}  // namespace

std::string tensor_text(const PlannedArgument& item, bool contiguous_only) {
    return with_enum(item.element_name, item.type) + " tensor " + dimensions(item.host) +
           (contiguous_only ? ", contiguous" : "");
}

}  // namespace kf::gen

namespace kf::gen::kinds {

std::string cpp_passed_type(const Tensor&, const PlannedArgument& item, const CppStructs& structs) {
    // A read-only buffer is enough for an input.
    if (item.from_buffer && item.host.role == manifest::Role::in)
        return "kf::Buffer<" + structs.type(item) + ">";
    return structs.tensor_type(item);
}

PythonTypes python_types(const Tensor&, const PlannedArgument& item, bool) {
    const bool number =
        item.host.call_rank == 0 && item.host.element.extents.empty() && !holds_structs(item.type);
    const PythonTypes numbers = number ? value_types(item.host.element, false, false) : PythonTypes(0);
    return static_cast<PythonTypes>(python_tensor_types | numbers);
}

std::string described(const Tensor& tensor, const PlannedArgument& item) {
    return role_text(item.host.role) + ", " + tensor_text(item, tensor.contiguous_only);
}

}  // namespace kf::gen::kinds
