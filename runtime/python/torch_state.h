// What is asked of PyTorch, once it is imported: its classes, and what watches its tensors.
#pragma once

#include <kf/types.h>

#include <array>
#include <optional>
#include <string>

#include "python/common.h"

namespace kf::python {

/// What an object is to PyTorch.
enum class TorchKind : std::uint8_t {
    none,        ///< no tensor
    plain,       ///< a torch.Tensor, or one of a class that leaves operations to it, such as nn.Parameter
    dispatching  ///< of a class with a __torch_dispatch__ of its own, such as FakeTensor and DTensor
};

/// A function, a method without arguments or an attribute of PyTorch's, called without Python's detours where
/// it is one that C code defines.
class TorchFunction {
public:
    /// `definition`: a built-in function, a method descriptor or an attribute descriptor.
    explicit TorchFunction(py::object definition);

    /// What it returns; `self` is null for functions. Throws what it raises.
    [[nodiscard]] py::object operator()(PyObject* self = nullptr) const;
    [[nodiscard]] bool is_true(PyObject* self = nullptr) const {
        const py::object answer = (*this)(self);
        return answer.ptr() == Py_True || (answer.ptr() != Py_False && PyObject_IsTrue(answer.ptr()) == 1);
    }

private:
    py::object definition_;
    PyCFunction call_ = nullptr;
    PyObject* owner_ = nullptr;  ///< of a function: its module
    getter get_ = nullptr;
    void* closure_ = nullptr;
};

/// The imported PyTorch. Made once and never destroyed. Needs the GIL.
class Torch {
public:
    /// Null while PyTorch isn't imported.
    static const Torch* loaded();

    [[nodiscard]] TorchKind kind(PyTypeObject* type) const {
        if (is_own(type)) return TorchKind::plain;
        if (PyType_IsSubtype(type, tensor_) == 0) return TorchKind::none;
        return kind_of_derived(type);
    }

    /// Whether tensors of the class take functions into their own hands, by __torch_function__().
    [[nodiscard]] bool has_torch_function(PyTypeObject* type) const {
        return !is_own(type) && is_torch_function_enabled_.is_true() && overrides_functions(type);
    }

    // Asks about one tensor.
    [[nodiscard]] bool requires_grad(PyObject* tensor) const { return requires_grad_.is_true(tensor); }
    [[nodiscard]] bool is_leaf(PyObject* tensor) const { return is_leaf_.is_true(tensor); }
    /// Whether its elements have the other sign than what lies in memory.
    [[nodiscard]] bool is_negative(PyObject* tensor) const { return is_neg_.is_true(tensor); }
    [[nodiscard]] bool is_inference(PyObject* tensor) const { return is_inference_.is_true(tensor); }

    /// Whether forward-mode differentiation is under way and the tensor has a tangent.
    [[nodiscard]] bool has_tangent(py::handle tensor) const;

    [[nodiscard]] py::object device(PyObject* tensor) const { return device_(tensor); }
    [[nodiscard]] py::object dtype(PyObject* tensor) const { return dtype_(tensor); }
    [[nodiscard]] py::object dimensions(PyObject* tensor) const { return ndim_(tensor); }
    /// The scalar type of one of PyTorch's dtypes; nothing for those that kernels don't have.
    [[nodiscard]] std::optional<ScalarType> scalar(py::handle dtype) const;
    /// Returns whether the class is torch.Tensor or torch.nn.Parameter itself.
    [[nodiscard]] bool is_own(PyTypeObject* type) const { return type == tensor_ || type == parameter_; }

    // Asks about this thread.
    [[nodiscard]] bool is_grad_enabled() const { return is_grad_enabled_.is_true(); }
    [[nodiscard]] bool is_inference_mode() const { return is_inference_mode_.is_true(); }
    /// Whether operations on plain tensors are watched: by a dispatch mode (a fake or a traced one), by
    /// forward-mode differentiation, or by torch.jit.trace().
    [[nodiscard]] bool is_thread_watched() const;
    /// Whether forward-mode differentiation is under way.
    [[nodiscard]] bool is_forward_mode() const;
    /// Whether vmap(), grad() or jvp() of torch.func are under way.
    [[nodiscard]] bool is_transforming() const { return transforms_.is_true(); }
    [[nodiscard]] bool is_autocast() const { return is_autocast_.is_true(); }
    /// Whether torch.use_deterministic_algorithms(True) is in force, which is the process's.
    [[nodiscard]] bool is_deterministic() const { return is_deterministic_.is_true(); }

    /// Whether one of PyTorch's profilers is on.
    [[nodiscard]] bool is_profiled() const {
        return profiler_ && PyDict_GetItem(profiler_.ptr(), is_profiler_enabled_.ptr()) == Py_True;
    }
    /// Begins a range of it, which the result's __exit__() ends.
    [[nodiscard]] py::object begin_range(const std::string& name) const;

    /// Notes that the elements of these tensors, a tuple of them, have changed.
    void note_writes(const py::tuple& tensors) const;

    /// torch.empty(shape, dtype=, device=)
    [[nodiscard]] py::object empty(const py::tuple& shape, ScalarType scalar, const py::object& device) const;
    [[nodiscard]] py::object from_numpy(const py::array& array) const {
        return module_.attr("from_numpy")(array);
    }
    [[nodiscard]] py::object zeros_like(const py::object& tensor) const { return zeros_like_(tensor); }
    [[nodiscard]] py::object empty_like(PyObject* tensor) const;
    /// torch.unsafe_split_with_sizes(tensor, sizes): parts with version counters of their own.
    [[nodiscard]] py::object split(PyObject* tensor, PyObject* sizes) const;

private:
    explicit Torch(const py::module_& torch);
    [[nodiscard]] TorchKind kind_of_derived(PyTypeObject* type) const;
    [[nodiscard]] bool overrides_functions(PyTypeObject* type) const;
    [[nodiscard]] py::object dtype(ScalarType scalar) const;

    py::object module_;
    PyTypeObject* tensor_;
    PyTypeObject* parameter_;
    py::object no_dispatch_;  ///< Tensor.__torch_dispatch__, which classes without one share
    py::object no_function_;  ///< the __torch_function__ of classes that leave functions to PyTorch
    TorchFunction is_torch_function_enabled_;
    TorchFunction requires_grad_;
    TorchFunction is_leaf_;
    TorchFunction is_neg_;
    TorchFunction is_inference_;
    TorchFunction device_;
    TorchFunction dtype_;
    TorchFunction ndim_;
    TorchFunction is_grad_enabled_;
    TorchFunction is_inference_mode_;
    TorchFunction dispatch_modes_;
    TorchFunction is_forward_enabled_;
    TorchFunction tracing_state_;
    TorchFunction transforms_;
    TorchFunction is_autocast_;
    TorchFunction is_deterministic_;
    py::object forward_;  ///< the globals of torch.autograd.forward_ad
    py::object current_level_;
    py::object
        profiler_;  ///< the globals of torch.autograd.profiler; null where this PyTorch has it otherwise
    py::object is_profiler_enabled_;
    py::object increment_version_;
    py::object empty_;
    py::tuple empty_keywords_;
    py::object zeros_like_;
    py::object empty_like_;
    py::object split_;
    mutable std::array<py::object, 12> dtypes_;  ///< by ScalarType, once asked for
};

/// What `value` is to PyTorch; fast where it is none of its tensors.
inline TorchKind torch_kind(PyObject* value) {
    PyTypeObject* const type = Py_TYPE(value);
    // Numbers, lists and arrays.
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) == 0) return TorchKind::none;
    const Torch* const torch = Torch::loaded();
    return torch == nullptr ? TorchKind::none : torch->kind(type);
}

}  // namespace kf::python
