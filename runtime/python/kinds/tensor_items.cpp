// What both kinds of tensors have in common in calls from Python.
#include "python/kinds/tensor_items.h"

#include "core/tensor_state.h"
#include "python/arrays.h"
#include "python/buffer.h"
#include "python/errors.h"
#include "python/host.h"
#include "python/host_imports.h"
#include "python/pushed_gradient.h"
#include "python/structs.h"
#include "python/tensor.h"
#include "python/torch_outputs.h"
#include "python/with_gradients.h"

namespace kf::python {

using detail::Arg;

namespace {

/// The tensor as the call takes it: of a struct that is an array of others these.
Arg arg_of(CallItems& items, std::size_t i, const AnyTensor& tensor) {
    const HostItem& wanted = items.item(i);
    Host& host = items.host(i);
    if (wanted.type == nullptr || wanted.structure->extents.empty() || host.scalars != nullptr)
        return Arg::of(tensor);
    host.arrays = as_arrays(tensor, *wanted.structure, wanted.type->alignment, items.where(i));
    return Arg::of(host.arrays);
}

/// A tensor that the call made.
Tensor made_tensor(const CallItems& items, std::size_t i, const ContextPtr& context) {
    const HostItem& wanted = items.item(i);
    Tensor made = wrap(items.made(i), context);
    made.structure = wanted.type;
    if (wanted.type != nullptr && !wanted.structure->extents.empty())
        made.any = as_structs(made.any, *wanted.structure, wanted.type->element, wanted.type->alignment);
    return made;
}

void check_written(CallItems& items, std::size_t i) {
    const Host& host = items.host(i);
    if (!host.array || items.is_recorded()) {
        refuse(ErrorCode::type_mismatch, items.where(i),
               items.is_recorded() ? "it is written when the recorded call runs: give a kf.Tensor"
                                   : "it is written: give a kf.Tensor or a writable NumPy array");
    }
    check_writable(*host.array, items.where(i));
}

/// The tangent of a tensor that a struct which changes holds: what was read and written through it is that
/// still.
py::object given_tangent(CallItems& items, std::int64_t primal) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items.leaf(i).tangent_of == primal && items.host(i).given)
            return py::reinterpret_borrow<py::object>(items.host(i).given);
    }
    return py::none();
}

}  // namespace

Arg convert_tensor(CallItems& items, std::size_t i, const Context& context) {
    Host& host = items.host(i);
    if (host.form == ResultForm::torch && !items.is_torch_made(i)) refuse_form(items, i);
    if (!host.given) return Arg::none();
    // A gradient that the caller gave or views is added to as it is, or refused.
    if (host.tensor != nullptr && items.is_pushed(i) && host.tensor->made_grads) {
        host.uploaded =
            with_pushed(host.tensor->any, pushed_shape(items.call(), items.leaf_shapes(), items.leaf(i)));
        return arg_of(items, i, host.uploaded);
    }
    if (host.tensor != nullptr) {
        if (items.writes_input(i)) check_writable_buffer(host.content, items.where(i));
        host.passed = with_gradients(items, i, host.tensor->any, context);
        return arg_of(items, i, host.passed);
    }
    const ScalarType scalar = items.leaf(i).element.scalar;
    const ElementType element =
        host.structure != nullptr ? host.structure->element : ElementType{host.scalar, 0};
    if (items.may_be_imported(i) && (!items.is_output(i) || items.is_written(i))) {
        import_array(items, i, context);
    }
    if (host.is_imported) {
        // Nothing is copied.
    } else if (items.is_output(i)) {
        // Only its shape matters before the call; in a backward call 1 flows in.
        host.uploaded = items.may_be_mapped(i) ? detail::make_mapped(context.device(), element, host.shape)
                                               : AnyTensor::empty(context.device(), element, host.shape);
    } else if (host.array && items.may_be_mapped(i)) {
        host.uploaded = upload_mapped(context.device(), *host.array, element, host.shape);
    } else if (host.array) {
        host.uploaded = upload(context.device(), *host.array, items.where(i));
    } else {
        host.uploaded = upload(context.device(), *host.nested, scalar, items.where(i));
    }
    if (items.writes_input(i)) check_written(items, i);
    if (host.gradients != nullptr) {
        host.uploaded = with_gradients(items, i, host.uploaded, context);
    } else if (runs_backward(items.pass()) && host.differentiable != nullptr && !items.is_output(i)) {
        host.uploaded =
            items.is_pushed(i)
                ? with_pushed(host.uploaded, pushed_shape(items.call(), items.leaf_shapes(), items.leaf(i)))
                : host.uploaded.with_grads();
    }
    return arg_of(items, i, host.uploaded);
}

py::object gradient_of_tensor(CallItems& items, std::size_t i) {
    const Host& host = items.host(i);
    return download(Tensor{host.uploaded.grad(), nullptr, host.structure});
}

py::object result_of_tensor(CallItems& items, std::size_t i, const ContextPtr& context) {
    const Host& host = items.host(i);
    const manifest::Argument& argument = items.leaf(i);
    if (argument.tangent_of >= 0 && argument.role == manifest::Role::in) {
        return given_tangent(items, argument.tangent_of);
    }
    if (host.as_array()) return download(made_tensor(items, i, context));
    if (!host.given && host.output != nullptr && host.output->made()) return host.output->made();
    if (!host.given && items.returns_torch_host(i)) {
        const manifest::StructScalars* const structs = items.item(i).scalars;
        return to_torch_host(structs == nullptr ? items.made(i)
                                                : as_scalars(made_tensor(items, i, context), *structs).any);
    }
    if (!host.given) return py::cast(made_tensor(items, i, context));
    if (items.is_written(i)) fill_array(items, i);
    if (host.nested && items.returns_torch_host(i)) return to_torch_host(host.uploaded);
    if (host.nested) return py::cast(wrap(host.uploaded, context));
    return py::reinterpret_borrow<py::object>(host.given);
}

}  // namespace kf::python
