// What is asked of PyTorch.
#include "python/torch_state.h"

#include <array>
#include <utility>

#include "python/attributes.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

py::object attribute_path(py::object from, std::initializer_list<const char*> names) {
    for (const char* name : names) from = from.attr(name);
    return from;
}

PyTypeObject* kept_type(py::object type) { return reinterpret_cast<PyTypeObject*>(type.release().ptr()); }

/// Returns what raises the version counters of an iterable of tensors; null where this PyTorch has it
/// otherwise.
py::object find_increment(const py::module_& torch) {
    const py::object found = py::getattr(torch.attr("_C"), "_increment_version", py::none());
    if (found.is_none()) return {};
    const py::object tensor = torch.attr("empty")(0);
    const auto version = [&] { return py::cast<int>(tensor.attr("_version")); };
    try {
        const int before = version();
        (void)found(py::make_tuple(tensor));
        return version() > before ? found : py::object();
    } catch (py::error_already_set& error) {  // it takes one tensor, or is told otherwise
        if (!error.matches(PyExc_Exception)) throw;
        return {};
    }
}

/// Returns the globals that say whether a profiler is on; null where this PyTorch has it otherwise.
py::object find_profiler(const py::module_& torch) {
    const py::object profiler = py::getattr(torch.attr("autograd"), "profiler", py::none());
    if (profiler.is_none() || !py::hasattr(profiler, "record_function")) return {};
    return profiler.attr("__dict__");
}

}  // namespace

TorchFunction::TorchFunction(py::object definition) : definition_(std::move(definition)) {
    PyObject* const object = definition_.ptr();
    if (PyCFunction_CheckExact(object) != 0) {
        if (PyCFunction_GET_FLAGS(object) == METH_NOARGS) {
            call_ = PyCFunction_GET_FUNCTION(object);
            owner_ = PyCFunction_GET_SELF(object);
        }
    } else if (Py_TYPE(object) == &PyMethodDescr_Type) {
        const PyMethodDef* const method = reinterpret_cast<PyMethodDescrObject*>(object)->d_method;
        if (method->ml_flags == METH_NOARGS) call_ = method->ml_meth;
    } else if (Py_TYPE(object) == &PyGetSetDescr_Type) {
        const PyGetSetDef* const attribute = reinterpret_cast<PyGetSetDescrObject*>(object)->d_getset;
        get_ = attribute->get;
        closure_ = attribute->closure;
    }
}

py::object TorchFunction::operator()(PyObject* self) const {
    PyObject* result = nullptr;
    if (call_ != nullptr) {
        result = call_(self != nullptr ? self : owner_, nullptr);
    } else if (get_ != nullptr) {
        result = get_(self, closure_);
    } else if (PyCallable_Check(definition_.ptr()) == 0) {
        return definition_.attr("__get__")(py::handle(self));
    } else {
        result = self == nullptr ? PyObject_CallNoArgs(definition_.ptr())
                                 : PyObject_CallOneArg(definition_.ptr(), self);
    }
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
}

const Torch* Torch::loaded() {
    static const Torch* found = nullptr;
    if (found != nullptr) return found;
    static PyObject* const name = PyUnicode_InternFromString("torch");
    const auto module = py::reinterpret_steal<py::object>(PyImport_GetModule(name));
    if (!module) {
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        return nullptr;
    }
    // Half imported, it has no tensors yet.
    if (!py::hasattr(module, "nn") || !py::hasattr(module, "autograd") || !py::hasattr(module, "func"))
        return nullptr;
    found = new Torch(py::reinterpret_borrow<py::module_>(module));
    return found;
}

Torch::Torch(const py::module_& torch)
    : module_(torch),
      tensor_(kept_type(torch.attr("Tensor"))),
      parameter_(kept_type(attribute_path(torch, {"nn", "Parameter"}))),
      no_dispatch_(attribute_path(torch, {"Tensor", "__torch_dispatch__"})),
      no_function_(attribute_path(torch, {"_C", "_disabled_torch_function_impl"})),
      is_torch_function_enabled_(attribute_path(torch, {"_C", "_is_torch_function_enabled"})),
      requires_grad_(attribute_path(torch, {"Tensor", "requires_grad"})),
      is_leaf_(attribute_path(torch, {"Tensor", "is_leaf"})),
      is_neg_(attribute_path(torch, {"Tensor", "is_neg"})),
      is_inference_(attribute_path(torch, {"Tensor", "is_inference"})),
      device_(attribute_path(torch, {"Tensor", "device"})),
      dtype_(attribute_path(torch, {"Tensor", "dtype"})),
      ndim_(attribute_path(torch, {"Tensor", "ndim"})),
      is_grad_enabled_(torch.attr("is_grad_enabled")),
      is_inference_mode_(torch.attr("is_inference_mode_enabled")),
      dispatch_modes_(attribute_path(torch, {"_C", "_len_torch_dispatch_stack"})),
      is_forward_enabled_(attribute_path(torch, {"_C", "_is_fwd_grad_enabled"})),
      tracing_state_(attribute_path(torch, {"_C", "_get_tracing_state"})),
      transforms_(attribute_path(torch, {"_C", "_are_functorch_transforms_active"})),
      is_autocast_(attribute_path(torch, {"_C", "_is_any_autocast_enabled"})),
      is_deterministic_(attribute_path(torch, {"_C", "_get_deterministic_algorithms"})),
      forward_(attribute_path(torch, {"autograd", "forward_ad", "__dict__"})),
      current_level_(py::reinterpret_steal<py::object>(PyUnicode_InternFromString("_current_level"))),
      profiler_(find_profiler(torch)),
      is_profiler_enabled_(
          py::reinterpret_steal<py::object>(PyUnicode_InternFromString("_is_profiler_enabled"))),
      increment_version_(find_increment(torch)),
      empty_(torch.attr("empty")),
      empty_keywords_(py::make_tuple("dtype", "device")),
      zeros_like_(torch.attr("zeros_like")),
      empty_like_(torch.attr("empty_like")),
      split_(torch.attr("unsafe_split_with_sizes")) {}

TorchKind Torch::kind_of_derived(PyTypeObject* type) const {
    const py::object own =
        attribute_or_null(reinterpret_cast<PyObject*>(type), py::str("__torch_dispatch__"));
    return !own || own.is(no_dispatch_) ? TorchKind::plain : TorchKind::dispatching;
}

bool Torch::overrides_functions(PyTypeObject* type) const {
    const py::object own =
        attribute_or_null(reinterpret_cast<PyObject*>(type), py::str("__torch_function__"));
    return own && !own.is(no_function_);
}

bool Torch::is_thread_watched() const {
    if (PyLong_AsLong(dispatch_modes_().ptr()) != 0) return true;
    return is_forward_mode() || !tracing_state_().is_none();
}

bool Torch::is_forward_mode() const {
    PyObject* const level = PyDict_GetItem(forward_.ptr(), current_level_.ptr());
    return level != nullptr && PyLong_AsLong(level) >= 0 && is_forward_enabled_.is_true();
}

bool Torch::has_tangent(py::handle tensor) const {
    return is_forward_mode() && !forward_["unpack_dual"](tensor).attr("tangent").is_none();
}

py::object Torch::begin_range(const std::string& name) const {
    const py::object fast =
        py::getattr(attribute_path(module_, {"_C", "_profiler"}), "_RecordFunctionFast", py::none());
    const py::object range = fast.is_none() ? profiler_["record_function"](name) : fast(name);
    (void)range.attr("__enter__")();
    return range;
}

void Torch::note_writes(const py::tuple& tensors) const {
    if (increment_version_) {
        const auto none =
            py::reinterpret_steal<py::object>(PyObject_CallOneArg(increment_version_.ptr(), tensors.ptr()));
        if (!none) throw py::error_already_set();
        return;
    }
    const py::object increment = attribute_path(module_, {"autograd", "graph", "increment_version"});
    for (const py::handle tensor : tensors) (void)increment(tensor);
}

py::object Torch::empty_like(PyObject* tensor) const {
    PyObject* const made = PyObject_CallOneArg(empty_like_.ptr(), tensor);
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
}

py::object Torch::split(PyObject* tensor, PyObject* sizes) const {
    const std::array<PyObject*, 2> arguments{tensor, sizes};
    PyObject* const parts = PyObject_Vectorcall(split_.ptr(), arguments.data(), 2, nullptr);
    if (parts == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(parts);
}

py::object Torch::dtype(ScalarType scalar) const {
    py::object& known = dtypes_[static_cast<std::size_t>(scalar)];
    if (!known) known = module_.attr(scalar == ScalarType::boolean ? "bool" : numpy_name(scalar));
    return known;
}

std::optional<ScalarType> Torch::scalar(py::handle wanted) const {
    for (std::size_t i = 0; i < dtypes_.size(); ++i)
        if (dtype(static_cast<ScalarType>(i)).is(wanted)) return static_cast<ScalarType>(i);
    return std::nullopt;
}

py::object Torch::empty(const py::tuple& shape, ScalarType scalar, const py::object& device) const {
    const py::object type = dtype(scalar);
    const std::array<PyObject*, 3> arguments{shape.ptr(), type.ptr(), device.ptr()};
    PyObject* const made = PyObject_Vectorcall(empty_.ptr(), arguments.data(), 1, empty_keywords_.ptr());
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
}

}  // namespace kf::python
