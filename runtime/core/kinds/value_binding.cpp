// What the binder asks of the kind "value".
#include "core/kinds/value_binding.h"

#include "core/bind_error.h"
#include "core/conversion_costs.h"
#include "core/convert.h"
#include "core/describe.h"
#include "core/kinds/element_binding.h"
#include "core/roles.h"
#include "core/views.h"

namespace kf::detail {

using manifest::Argument;

namespace {

/// Whether the value is a vector, all components of which one number can be.
bool takes_number(const Argument& argument) {
    return argument.element.extents.size() == 1 && argument.call_rank == 0 &&
           !is_only_written(argument.role) && ends_in_vector(argument);
}

/// One gradient for each call: in the tensor that is there, if that has the call's shape, else in a new one.
void bind_pushed(const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    const ScalarView& given = request.arguments[i].grad_out;
    Dims extents = binding.shape;
    for (const std::int64_t extent : argument.trailing) extents.push_back(extent);
    const ScalarView made = row_major_view(extents);
    BoundArgument& bound = binding.arguments[i];
    bound.makes_pushed = !given.present || !(given.extents == extents) || !(given.strides == made.strides);
    bound.grad_out = along_shape(bound.makes_pushed ? made : given, argument, binding.shape);
}

}  // namespace

std::string describe(const kinds::Value&, const Argument& argument) { return type_text(argument); }

std::optional<int> conversion_cost(const kinds::Value&, const Argument& argument, const ArgShape& given) {
    if (given.kind == ArgShape::Kind::tensor) {
        return std::nullopt;
    }
    if (given.kind == ArgShape::Kind::weak && given.shape.empty() && takes_number(argument)) {
        const std::optional<int> conversion = weak_cost(given, argument.element.scalar);
        return conversion ? std::optional(*conversion + repeated_cost) : std::nullopt;
    }
    const std::optional<int> cost = element_cost(argument, given);
    return cost && given.is_watched ? std::optional(*cost + tensor_as_number_cost) : cost;
}

/// Kernels write what is given for pushed gradients as the value's scalars.
void check_given(const kinds::Value&, const BindRequest& request, std::size_t i) {
    const ArgumentView& view = request.arguments[i];
    if (view.pushed == nullptr) return;
    const Argument& argument = request.call.arguments[i];
    const ElementType found = view.pushed->element();
    if (found.struct_size == 0 && found.scalar == argument.element.scalar) return;
    fail(request, i, ErrorCode::type_mismatch,
         "its pushed gradients are " + to_string(element_type(argument.element)) +
             ", and `pushed` is a tensor of " + (found.struct_size != 0 ? "structs" : to_string(found)) +
             ": give one of that type, or a null one, which the call replaces");
}

Dims flat_extents(const kinds::Value&, const Argument& argument, const ArgumentView&) {
    return Dims(argument.element.extents);
}

void bind_view(const kinds::Value&, const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    BoundArgument& bound = binding.arguments[i];
    const ScalarView dense = row_major_view(Dims(argument.element.extents));
    bound.data = along_call(argument, dense, binding.shape.size());
    if (runs_backward(request.pass) && request.arguments[i].value_gradient && is_pushed(argument)) {
        bind_pushed(request, i, binding);
    } else if (runs_backward(request.pass) && request.arguments[i].value_gradient) {
        (is_input(argument) ? bound.grad_out : bound.grad_in) = bound.data;
    }
}

bool is_flat(const kinds::Value&, const BindRequest& request, std::size_t i, Binding& binding) {
    return are_elements_flat(request, i, binding);
}

void pack_record(const kinds::Value&, const Argument& argument, const manifest::Record&, const void* source,
                 std::byte* target) {
    // A tangent that isn't given is 0, as the block is.
    if (source != nullptr) {
        put_value(element_type(argument.element), source, target);
    }
}

}  // namespace kf::detail
