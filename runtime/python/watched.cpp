// Calls that PyTorch watches.
#include "python/watched.h"

#include <array>
#include <vector>

#include "core/items.h"
#include "core/pass_rules.h"
#include "python/errors.h"
#include "python/function_types.h"
#include "python/global_gradients.h"
#include "python/parameter_names.h"

namespace kf::python {

using detail::PassKind;
using manifest::Role;

namespace {

/// Keeps torch.compile from what is called while this lives. Behind a break of a graph it traces each frame
/// of Python, those of kernelfunctions.torch among them: slow, and not always right.
class Untraced {
public:
    Untraced() {
        // Its way in, in which a debugger may be, too.
        if (_PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get()) == _PyEval_EvalFrameDefault)
            return;
        static PyObject* const set = set_eval_frame().release().ptr();
        if (set == Py_None) return;
        previous_ = py::reinterpret_steal<py::object>(PyObject_CallOneArg(set, Py_None));
        if (!previous_) throw py::error_already_set();
        set_ = set;
    }
    ~Untraced() {
        if (set_ == nullptr) return;
        const auto result = py::reinterpret_steal<py::object>(PyObject_CallOneArg(set_, previous_.ptr()));
        if (!result) PyErr_WriteUnraisable(set_);
    }
    Untraced(const Untraced&) = delete;
    Untraced& operator=(const Untraced&) = delete;

private:
    /// Returns PyTorch's function that sets what a thread's frames are traced by; None where it has none.
    static py::object set_eval_frame() {
        py::object found = py::module_::import("torch._C");
        for (const char* name : {"_dynamo", "eval_frame", "set_eval_frame"})
            found = py::getattr(found, name, py::none());
        return found;
    }

    PyObject* set_ = nullptr;
    py::object previous_;
};

/// Calls `visit` with each parameter that something is given for, and its number among positional arguments
/// and keywords' values.
template <class Visit>
void each_given(const FunctionInfo& info, const Arguments& arguments, Visit visit) {
    const std::size_t places = arguments.positional.size();
    for (std::size_t i = 0; i < places && i < info.places.size(); ++i)
        visit(info.parameters[info.places[i]], i);
    const Keywords& keywords = arguments.keywords;
    for (std::size_t k = 0; k < keywords.size(); ++k) {
        for (std::size_t p = 0; p < info.parameters.size(); ++p) {
            const HostParameter& parameter = info.parameters[p];
            const bool is_it =
                info.names[p].ptr() == keywords.name(k) || keywords.text(k) == parameter.keyword;
            if (is_it && !parameter.hidden && !parameter.is_global) visit(parameter, places + k);
        }
    }
}

/// A call's arguments without those that ask for outputs as torch.Tensors, which they are in any case.
class WithoutRequests {
public:
    WithoutRequests(const FunctionInfo& info, const Arguments& given) : arguments_(given) {
        const std::size_t places = given.positional.size();
        const auto value = [&](std::size_t i) {
            return i < places ? given.positional[i] : given.keywords.values[i - places];
        };
        each_given(info, given, [&](const HostParameter& parameter, std::size_t i) {
            if (!manifest::is_only_written(parameter.role) || asked_form(value(i)) != ResultForm::torch)
                return;
            for (std::size_t k = values_.size(); k < places + given.keywords.size(); ++k)
                values_.push_back(value(k));
            values_[i] = Py_None;
        });
        if (values_.empty()) return;
        arguments_.positional = std::span(values_).first(places);
        arguments_.keywords.values = values_.data() + places;
    }
    WithoutRequests(const WithoutRequests&) = delete;
    WithoutRequests& operator=(const WithoutRequests&) = delete;

    [[nodiscard]] const Arguments& arguments() const { return arguments_; }

private:
    std::vector<PyObject*> values_;
    Arguments arguments_;
};

/// Refuses what PyTorch's own functions refuse, in their words, before anything is done.
void refuse_writes(const Function& function, const Arguments& arguments) {
    const FunctionInfo& info = function.info();
    const Torch& torch = *Torch::loaded();
    each_given(info, arguments, [&](const HostParameter& parameter, std::size_t i) {
        const std::size_t places = arguments.positional.size();
        PyObject* const value = i < places ? arguments.positional[i] : arguments.keywords.values[i - places];
        if (value == Py_None) return;
        if (manifest::is_only_written(parameter.role)) {
            throw ArgumentError(ErrorCode::not_differentiable,
                                info.function.name +
                                    "(): functions with out=... arguments don't support automatic "
                                    "differentiation, but one of the arguments requires grad.");
        }
        if (parameter.role != Role::inout || torch_kind(value) == TorchKind::none) return;
        if (torch.requires_grad(value) && torch.is_leaf(value)) {
            refuse(ErrorCode::not_differentiable, {info.function.name, parameter.keyword},
                   "a leaf Variable that requires grad is being used in an in-place operation.");
        }
    });
}

/// Makes a call of plain tensors and numbers as kernelfunctions.torch made one like it before; null where
/// none is known. The object's `_torch_quick` has them by what _flat_key() of _watched.py says of the
/// arguments.
py::object call_known(const py::object& object, const Arguments& arguments) {
    const Torch& torch = *Torch::loaded();
    if (arguments.keywords.size() != 0 || torch.is_thread_watched() || torch.is_transforming() ||
        torch.is_autocast())
        return {};
    static PyObject* const name = interned("_torch_quick").release().ptr();
    const auto attributes = py::reinterpret_steal<py::object>(PyObject_GenericGetDict(object.ptr(), nullptr));
    if (!attributes) throw py::error_already_set();
    PyObject* const known = PyDict_GetItemWithError(attributes.ptr(), name);
    if (known == nullptr || PyDict_GET_SIZE(known) == 0) return {};
    const std::size_t count = arguments.positional.size();
    std::size_t size = 0;
    for (PyObject* value : arguments.positional) size += torch.is_own(Py_TYPE(value)) ? 2 : 1;
    const py::tuple key(size);
    std::size_t at = 0;
    for (PyObject* value : arguments.positional) {
        if (torch.is_own(Py_TYPE(value))) {
            PyTuple_SET_ITEM(key.ptr(), at++, torch.dtype(value).release().ptr());
            PyTuple_SET_ITEM(key.ptr(), at++, torch.dimensions(value).release().ptr());
        } else {
            auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
            PyTuple_SET_ITEM(key.ptr(), at++, py::reinterpret_borrow<py::object>(type).release().ptr());
        }
    }
    PyObject* const found = PyDict_GetItemWithError(known, key.ptr());
    if (found == nullptr) {
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        return {};
    }
    const auto kept = py::reinterpret_borrow<py::tuple>(found);  // (apply, plan)
    const py::tuple given(1 + count);
    PyTuple_SET_ITEM(given.ptr(), 0, py::object(kept[1]).release().ptr());
    for (std::size_t i = 0; i < count; ++i) {
        PyTuple_SET_ITEM(given.ptr(), 1 + i,
                         py::reinterpret_borrow<py::object>(arguments.positional[i]).release().ptr());
    }
    PyObject* const result = PyObject_Call(py::object(kept[0]).ptr(), given.ptr(), nullptr);
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
}

/// Calls a function of kernelfunctions.torch's, with a kf.Function and its arguments.
py::object call_hook(PyObject* name, const py::object& object, const Arguments& arguments) {
    // No initializer of a static variable, which other threads would wait for while they hold the GIL.
    static PyObject* module = nullptr;
    if (module == nullptr) {
        py::object imported = py::module_::import("kernelfunctions.torch._watched");
        if (module == nullptr) module = imported.release().ptr();
    }
    py::tuple positional(arguments.positional.size());
    for (std::size_t i = 0; i < arguments.positional.size(); ++i)
        positional[i] = py::reinterpret_borrow<py::object>(arguments.positional[i]);
    py::dict named;
    for (std::size_t k = 0; k < arguments.keywords.size(); ++k)
        named[py::handle(arguments.keywords.name(k))] = py::handle(arguments.keywords.values[k]);
    const py::object hook = py::handle(module).attr(py::handle(name));
    const std::array<PyObject*, 3> given{object.ptr(), positional.ptr(), named.ptr()};
    PyObject* const result = PyObject_Vectorcall(hook.ptr(), given.data(), given.size(), nullptr);
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
}

}  // namespace

void TorchCall::meet(const Torch& torch, TorchKind kind, PyObject* tensor) {
    if (kind == TorchKind::dispatching || (!first_ && torch.is_thread_watched())) throw WatchedCall{false};
    if (pass_ == PassKind::forward && torch.has_torch_function(Py_TYPE(tensor))) throw WatchedCall{false};
    if (!first_) first_ = py::reinterpret_borrow<py::object>(tensor);
    if (pass_ == PassKind::forward && torch.requires_grad(tensor) && torch.is_grad_enabled())
        throw WatchedCall{true};
}

void meet_tensors(const Arguments& arguments, PassKind pass) {
    TorchCall met(pass);
    const auto meet = [&](PyObject* value) {
        const TorchKind kind = torch_kind(value);
        if (kind != TorchKind::none) met.meet(*Torch::loaded(), kind, value);
    };
    for (PyObject* value : arguments.positional) meet(value);
    for (std::size_t k = 0; k < arguments.keywords.size(); ++k) meet(arguments.keywords.values[k]);
}

py::object call_watched(const py::object& object, const Function& function, PassKind pass, bool is_recorded,
                        const Arguments& given, const WatchedCall& watched) {
    const FunctionInfo& info = function.info();
    const char* const what = pass == PassKind::backward        ? "a backward pass"
                             : pass == PassKind::fused         ? "a fused call"
                             : manifest::is_jvp(info.function) ? "a forward derivative"
                             : is_recorded                     ? "a recorded call"
                                                               : nullptr;
    if (what != nullptr) {
        refuse(ErrorCode::not_differentiable, {info.function.name, {}},
               std::string(what) +
                   (watched.by_autograd_alone
                        ? " isn't followed by autograd, and one of the arguments requires grad: detach() it, "
                          "or call under torch.no_grad()"
                        : " can't be traced or transformed by PyTorch: call the function itself"));
    }
    const Untraced untraced;
    const WithoutRequests others(info, given);
    const Arguments& arguments = others.arguments();
    check_gradients(info, function.globals(), Torch::loaded()->is_grad_enabled());
    if (watched.by_autograd_alone) {
        if (py::object result = call_known(object, arguments)) return result;
        refuse_writes(function, arguments);
    }
    static PyObject* const name = interned("watched_call").release().ptr();
    return call_hook(name, object, arguments);
}

bool is_autocast() {
    const Torch* const torch = Torch::loaded();
    return torch != nullptr && torch->is_autocast();
}

bool is_refused_under_autocast(const ArgumentError& error) {
    const bool is_of_types =
        error.code() == ErrorCode::type_mismatch || error.code() == ErrorCode::no_overload;
    return is_of_types && is_autocast();
}

py::object call_with_casts(const py::object& object, const Arguments& arguments) {
    const Untraced untraced;
    static PyObject* const name = interned("call_with_casts").release().ptr();
    py::object result = call_hook(name, object, arguments);
    return result.ptr() == Py_NotImplemented ? py::object() : result;
}

}  // namespace kf::python
