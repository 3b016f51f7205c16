// kf.Differentiable: a host value whose gradient accumulates in Python.
#pragma once

#include "python/common.h"
#include "python/tensor.h"

namespace kf::python {

/// `value` is a number, a list, an array, or a kf.Tensor or kf.Buffer with gradients, whose `grad` is then
/// its own: a buffer's is a writable kf.Buffer, which may be given.
struct Differentiable {
    using PythonClass = Differentiable;

    explicit Differentiable(const py::object& value, bool needs_grad = true);

    void set_value(const py::object& new_value);
    [[nodiscard]] py::object grad();
    void set_grad(const py::object& new_grad);
    /// Whether backward calls add to `grad`; of others it is None.
    [[nodiscard]] bool needs_grad() const { return needs_grad_; }
    /// grad = grad + contribution.
    void add(const py::object& contribution);
    /// The same of a list with one gradient for each call; `grad` becomes it where that has another shape.
    void add_pushed(const py::object& list);

    py::object value;

private:
    /// Zeros like it; None of a tensor or a buffer.
    py::object take(const py::object& new_value);
    /// The tensor, as a buffer where the value is one.
    [[nodiscard]] py::object with_tensor(const Tensor& tensor) const;

    py::object grad_;
    bool needs_grad_;
    bool is_list_ = false;   ///< the first value was a list or tuple, whose numbers have no dtype
    bool is_typed_ = false;  ///< a backward call gave `grad_` the parameter's dtype
};

/// Null when `value` isn't one.
Differentiable* as_differentiable(py::handle value);

}  // namespace kf::python
