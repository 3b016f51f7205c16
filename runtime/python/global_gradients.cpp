// Refuses globals that PyTorch would have to follow.
#include "python/global_gradients.h"

#include "python/errors.h"
#include "python/search.h"
#include "python/torch_state.h"

namespace kf::python {

void check_gradients(const FunctionInfo& function, const GlobalValues& globals, bool grad_enabled) {
    const Torch* const torch = globals.size() == 0 ? nullptr : Torch::loaded();
    if (torch == nullptr) return;
    const auto is_followed = [&](py::handle value) {
        if (torch_kind(value.ptr()) == TorchKind::none) return false;
        return (grad_enabled && torch->requires_grad(value.ptr())) || torch->has_tangent(value);
    };
    for (std::size_t i = 0; i < globals.size(); ++i) {
        if (!contains(globals.value(i), is_followed, &function.global_fields)) continue;
        refuse(
            ErrorCode::not_differentiable, {function.function.name, {}},
            "the global '" + std::string(py::str(globals.name(i))) +
                "' is set to a tensor that requires grad or has a tangent, and globals carry no gradients: "
                "set its detach(), pass it as an argument, or call under torch.no_grad()");
    }
}

py::tuple tensors_in(const FunctionInfo& function, const GlobalValues& globals) {
    py::list found;
    const auto add = [&](py::handle value) {
        if (torch_kind(value.ptr()) != TorchKind::none) found.append(value);
        return false;
    };
    for (std::size_t i = 0; i < globals.size() && Torch::loaded() != nullptr; ++i)
        (void)contains(globals.value(i), add, &function.global_fields);
    return py::tuple(found);
}

}  // namespace kf::python
