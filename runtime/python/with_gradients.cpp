// Gradients of arguments that aren't the tensor's own.
#include "python/with_gradients.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "core/describe.h"
#include "core/kinds/questions.h"
#include "core/tensor_state.h"
#include "python/arrays.h"
#include "python/buffer.h"
#include "python/errors.h"
#include "python/host.h"
#include "python/host_imports.h"
#include "python/pushed_gradient.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

/// Whether the backward pass has a gradient for it: to write for what is read, to read for an output.
bool has_derivative(const CallItems& items, std::size_t i) {
    const HostItem& item = items.item(i);
    const auto count = static_cast<std::size_t>(item.structure != nullptr ? item.structure->leaves : 1);
    return std::ranges::any_of(
        std::span(items.call().arguments).subspan(item.leaf, count), [&](const manifest::Argument& leaf) {
            const bool is_written = items.is_output(i) || manifest::writes_elements(leaf);
            return is_written ? leaf.differentiable : leaf.gradient != manifest::Gradient::never;
        });
}

py::object torch_grad(const py::object& tensor) {
    py::object grad = tensor.attr("grad");
    return grad.is_none() ? py::object() : grad;
}

/// The shape of item `i`'s gradient in PyTorch, which has one element for each call.
Dims pushed_torch_shape(CallItems& items, std::size_t i) {
    Dims shape = pushed_shape(items.call(), items.leaf_shapes(), items.leaf(i));
    if (const manifest::StructScalars* const structs = items.host(i).scalars) {
        for (const std::int64_t extent : structs->extents) shape.push_back(extent);
    }
    return shape;
}

/// Zeros of what a call adds to for `tensor`: of its shape, or, of a pushed one, of the call's.
py::object new_zeros(CallItems& items, std::size_t i, const py::object& tensor) {
    if (!items.is_pushed(i)) return Torch::loaded()->zeros_like(tensor.attr("detach")());
    return tensor.attr("detach")().attr("new_zeros")(to_tuple(pushed_torch_shape(items, i)));
}

/// Refuses the gradient of structs whose scalars a tensor holds, where it doesn't hold theirs.
void check_struct_gradient(CallItems& items, std::size_t i, const char* name, const AnyTensor& gradient) {
    const manifest::StructScalars* const structs = items.host(i).scalars;
    if (structs == nullptr || !gradient) return;
    const Dims& shape = gradient.shape();
    const std::vector<std::int64_t>& extents = structs->extents;
    if (gradient.element().struct_size == 0 && shape.size() >= extents.size() &&
        std::equal(extents.rbegin(), extents.rend(), std::make_reverse_iterator(shape.end())))
        return;
    refuse(ErrorCode::shape_mismatch, items.where(i),
           std::string(name) + ": expected " + to_string(Dims(extents)) +
               " as its last extents, found shape " + to_string(shape));
}

/// What is given as a tensor that a backward call takes for itself: a leaf's gradient is its `grad`.
void find_own(CallItems& items, std::size_t i, const Host& host, HeldGradients& found) {
    const Torch& torch = *Torch::loaded();
    const py::object& tensor = host.torch->given;
    if (!torch.requires_grad(tensor.ptr()) || !has_derivative(items, i)) return;
    if (items.is_output(i)) {
        if (torch.is_leaf(tensor.ptr()) || py::cast<bool>(tensor.attr("retains_grad")))
            found.in.given = torch_grad(tensor);
        return;
    }
    if (!torch.is_leaf(tensor.ptr())) {
        refuse(ErrorCode::not_differentiable, items.where(i),
               "it requires grad and isn't a leaf, so that its gradient has no place: give "
               "kf.differentiable(x), or x.detach() where none is wanted");
    }
    found.out.given = torch_grad(tensor);
    if (found.out.given) return;
    found.out.given = new_zeros(items, i, tensor);
    found.leaf = tensor;
}

void find_differentiable(CallItems& items, std::size_t i, Host& host, HeldGradients& found) {
    const py::object grad = host.differentiable->grad();
    if (items.is_output(i)) {
        found.in.given = grad;
        return;
    }
    found.out.given = grad;
    if (!items.is_pushed(i)) return;
    const Dims shape = pushed_torch_shape(items, i);
    if (py::cast<py::tuple>(grad.attr("shape")).equal(to_tuple(shape))) return;
    found.out.given = new_zeros(items, i, host.torch->given);
    host.differentiable->set_grad(found.out.given);
}

[[noreturn]] void refuse_gradient(CallItems& items, std::size_t i, const char* name,
                                  const std::string& text) {
    refuse(ErrorCode::type_mismatch, items.where(i), std::string(name) + ": " + text);
}

/// Makes memory of what is given as a gradient.
void hold(CallItems& items, std::size_t i, HeldGradient& gradient, const char* name, bool is_written,
          const Context& context) {
    if (!gradient.given) return;
    if (const Tensor* tensor = as_tensor(gradient.given)) {
        gradient.memory = tensor->any;
        return;
    }
    const TorchKind kind = torch_kind(gradient.given.ptr());
    if (kind != TorchKind::plain) {
        refuse_gradient(items, i, name,
                        "a torch.Tensor or a kf.Tensor is needed, not " +
                            detail::with_article(type_name(gradient.given)));
    }
    gradient.torch = see_torch(*Torch::loaded(), gradient.given);
    TorchTensor& seen = *gradient.torch;
    if (!seen.is_readable()) refuse_gradient(items, i, name, seen.fault.text);
    if (is_written && seen.is_copy) {
        refuse_gradient(items, i, name,
                        "it is a negative view, whose memory has other signs, and is added to: give "
                        "grad.resolve_neg()");
    }
    if (seen.array) {
        if (is_written) check_writable(*seen.array, items.where(i));
        gradient.memory = import_gradient(items, *seen.array, seen.memory.scalar, is_written, context);
        gradient.is_imported = static_cast<bool>(gradient.memory);
        if (!gradient.is_imported) gradient.memory = upload(context.device(), *seen.array, items.where(i));
    } else {
        gradient.memory = items.on_device_of_call(seen, i, true, is_written);
    }
}

/// Adds to a tensor what a call found for a value, or stores it where the gradient is new.
void add_value(CallItems& items, std::size_t i, const HeldGradient& gradient, bool is_new,
               const py::object& contribution) {
    if (torch_kind(gradient.given.ptr()) != TorchKind::plain) {
        refuse_gradient(items, i, "grad_out",
                        "the gradient of a value is a torch.Tensor, not " +
                            detail::with_article(type_name(gradient.given)));
    }
    const py::module_ torch = py::module_::import("torch");
    const py::object part =
        torch.attr("as_tensor")(contribution, py::arg("dtype") = gradient.given.attr("dtype"),
                                py::arg("device") = gradient.given.attr("device"));
    gradient.given.attr("detach")().attr(is_new ? "copy_" : "add_")(part);
}

}  // namespace

const WithGradients* as_with_gradients(py::handle value) { return held<WithGradients>(value); }

std::unique_ptr<HeldGradients> find_gradients(CallItems& items, std::size_t i) {
    Host& host = items.host(i);
    if (!host.given || !runs_backward(items.pass())) return nullptr;
    HeldGradients found;
    if (const WithGradients* given = as_with_gradients(host.given)) {
        found.in.given = given->in;
        found.out.given = given->out;
        found.is_new = given->is_new;
    } else if (host.torch != nullptr && host.differentiable != nullptr) {
        find_differentiable(items, i, host, found);
    } else if (host.torch != nullptr) {
        find_own(items, i, host, found);
    }
    if (!found.in.given && !found.out.given) return nullptr;
    return std::make_unique<HeldGradients>(std::move(found));
}

AnyTensor with_gradients(CallItems& items, std::size_t i, const AnyTensor& tensor, const Context& context) {
    HeldGradients* const held = items.host(i).gradients.get();
    if (held == nullptr) return tensor;
    hold(items, i, held->in, "grad_in", false, context);
    hold(items, i, held->out, "grad_out", true, context);
    check_struct_gradient(items, i, "grad_in", held->in.memory);
    check_struct_gradient(items, i, "grad_out", held->out.memory);
    try {
        AnyTensor made = tensor.with_grads(held->in.memory, held->out.memory);
        if (!held->is_new) return made;
        detail::TensorState state = *made.state();
        state.grad_is_new = true;
        return AnyTensor(std::make_shared<const detail::TensorState>(std::move(state)));
    } catch (const ArgumentError& error) {
        throw ArgumentError(error.code(), prefix(items.where(i)) + error.what(), error.native_code());
    }
}

void store_gradients(CallItems& items, std::size_t i, const py::object& contribution) {
    HeldGradients* const held = items.host(i).gradients.get();
    if (held == nullptr || !held->out.given) return;
    if (contribution) {
        add_value(items, i, held->out, held->is_new, contribution);
    } else if (held->out.torch != nullptr && held->out.torch->array) {
        if (!held->out.is_imported)
            download_into({held->out.memory, nullptr, nullptr}, *held->out.torch->array);
    }
    if (held->out.torch != nullptr) Torch::loaded()->note_writes(py::make_tuple(held->out.given));
    if (held->leaf) held->leaf.attr("grad") = held->out.given;
}

py::object flowing_value(CallItems& items, std::size_t i) {
    const Host& host = items.host(i);
    if (host.gradients == nullptr)
        return host.differentiable != nullptr ? host.differentiable->grad() : py::object();
    const py::object& given = host.gradients->in.given;
    if (!given) return {};
    if (torch_kind(given.ptr()) == TorchKind::none) return given;
    // Not by numpy(), after which the tensor's memory can't be resized.
    return *see_torch(*Torch::loaded(), given.attr("detach")().attr("cpu")())->array;
}

void bind_with_gradients(py::module_& module) {
    const auto or_null = [](const py::object& value) { return value.is_none() ? py::object() : value; };
    py::class_<WithGradients>(module, "_WithGradients",
                              "An argument of a backward call, with the gradients that the call reads and "
                              "adds to, in the place of any that it has itself.")
        .def_property_readonly("value", [](const WithGradients& self) { return self.value; });
    module.def(
        "with_gradients",
        [or_null](const py::object& value, const py::object& grad_in, const py::object& grad_out,
                  bool is_new) {
            const py::object out = or_null(grad_out);
            return WithGradients{value, or_null(grad_in), out, is_new && static_cast<bool>(out)};
        },
        py::arg("value"), py::arg("grad_in") = py::none(), py::arg("grad_out") = py::none(),
        py::arg("is_new") = false,
        "One argument of a backward call with exactly these gradients, torch.Tensors or kf.Tensors; a "
        "tensor's grad_out that is new is stored to, not added to.");
}

}  // namespace kf::python
