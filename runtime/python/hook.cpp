// kf.HookContext: what a hook, which is called before each dispatch of a function, is given.
#include "python/hook.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/encoder_state.h"
#include "python/differentiable.h"
#include "python/encoder.h"
#include "python/errors.h"
#include "python/global_gradients.h"
#include "python/search.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

/// The device of the first tensor in a value; null where there is none.
ContextPtr first_device(py::handle value) {
    ContextPtr found;
    const auto has_device = [&](py::handle part) {
        if (const Tensor* tensor = as_tensor(part)) found = tensor->context;
        return found != nullptr;
    };
    const Differentiable* const given = as_differentiable(value);
    (void)contains(given != nullptr ? py::handle(given->value) : value, has_device);
    return found;
}

}  // namespace

void HookContext::check_open() const {
    if (arguments_ == nullptr) {
        refuse(ErrorCode::hook_context, {info_->function.name, {}},
               "a hook's context is used after its call; it is good until the hook returns");
    }
}

void HookContext::set(const py::object& values, const py::kwargs& named) {
    check_open();
    const KeptArguments given(py::tuple(), named);
    const std::string& name = info_->function.name;
    const Keywords& keywords = given.view().keywords;
    const std::vector<py::object>& globals = info_->globals;
    // Whether autograd watches the call can't be told here: an operator of PyTorch's may be making it.
    check_gradients(*info_, set_values(name, {}, globals, globals, values, keywords), true);
    // What others set while values are looked at doesn't take from under it what it looks at.
    const GlobalValues before = globals_;
    GlobalValues changed = set_values(name, before, globals, info_->written_globals, values, keywords);
    check_open();
    globals_ = std::move(changed);
}

/// Returns the device of what was given to the call, which may end meanwhile: looking at values runs Python.
ContextPtr HookContext::device_of_arguments() const {
    std::vector<py::object> values;
    const auto add = [&](PyObject* value) { values.push_back(py::reinterpret_borrow<py::object>(value)); };
    std::ranges::for_each(arguments_->positional, add);
    const Keywords& keywords = arguments_->keywords;
    for (std::size_t i = 0; i < keywords.size(); ++i) add(keywords.values[i]);
    for (std::size_t i = 0; i < globals_.size(); ++i) {
        const auto is_it = [&](const py::object& reached) { return reached.ptr() == globals_.name(i); };
        if (std::ranges::any_of(info_->globals, is_it)) add(globals_.value(i));
    }
    for (const py::object& value : values) {
        if (ContextPtr found = first_device(value)) return found;
    }
    return default_context();
}

py::object HookContext::encoder() {
    check_open();
    if (!encoder_) {
        const ContextPtr device = device_ != nullptr ? device_ : device_of_arguments();
        check_open();
        if (!encoder_)
            encoder_ = py::cast(RecordedCalls(device, detail::hook_encoder(device->device().state())));
    }
    return encoder_;
}

void HookContext::end() noexcept {
    arguments_ = nullptr;
    auto* const recorded = encoder_ ? held<RecordedCalls>(encoder_) : nullptr;
    if (recorded != nullptr && !recorded->is_in_use()) detail::close_hook_encoder(recorded->encoder());
}

std::optional<Encoder> HookContext::take_recorded() {
    arguments_ = nullptr;
    if (!encoder_) return std::nullopt;
    auto& recorded = py::cast<RecordedCalls&>(encoder_);
    const EncoderUse use(&recorded);
    return detail::taken_hook_encoder(recorded.encoder());
}

py::tuple with_hook(const std::string& function, const py::object& hooks, const py::object& callback) {
    if (PyCallable_Check(callback.ptr()) == 0) {
        refuse(ErrorCode::type_mismatch, {function, "hook"},
               "a callable is needed, which takes a kf.HookContext, not " + shown(callback));
    }
    const py::tuple one = py::make_tuple(callback);
    return hooks ? py::tuple(hooks + one) : one;
}

void call_hook(const std::string& function, const py::handle& hook, const py::object& context) {
    const py::object returned = hook(context);
    if (PyCoro_CheckExact(returned.ptr()) == 0) return;
    returned.attr("close")();
    refuse(ErrorCode::type_mismatch, {function, "hook"},
           shown(hook) + " is a coroutine function, for which no call waits: write a plain one");
}

void bind_hook(py::module_& module) {
    py::class_<HookContext, std::shared_ptr<HookContext>>(
        module, "HookContext",
        "One call of a function, which its hooks are given before anything of it runs. Good until the hook "
        "returns.")
        .def("set", &HookContext::set, py::arg("values") = py::none(), py::pos_only(),
             "Sets global parameters for this call alone: set(tint=(1, 0, 0)), set({\"look.tint\": …}).")
        .def_property_readonly(
            "encoder", &HookContext::encoder,
            "What is recorded here with append_to() runs right before the call: in the encoder of the "
            "call's own append_to(), and on the device where the call is made directly. None of it does "
            "where the call is refused or a hook raises.");
}

}  // namespace kf::python
