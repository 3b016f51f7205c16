// An argument of a backward call with gradients of its own, and how they get there and back.
#pragma once

#include <memory>

#include "python/call_items.h"
#include "python/torch_tensors.h"

namespace kf::python {

/// What _kf.with_gradients() makes: a value, and exactly these gradients, of which calls read one and add to
/// the other. Tensors of PyTorch's or ours; null for none.
struct WithGradients {
    using PythonClass = WithGradients;

    py::object value;
    py::object in;
    py::object out;
    bool is_new = false;  ///< there is `out`, and what it holds doesn't count: calls store to it
};

/// Null when `value` isn't one.
const WithGradients* as_with_gradients(py::handle value);

/// One gradient while a call runs.
struct HeldGradient {
    py::object given;
    std::unique_ptr<TorchTensor> torch;  ///< null where it isn't PyTorch's
    AnyTensor memory;
    bool is_imported = false;  ///< that is the array's own memory
};

/// The gradients of one item that aren't the tensor's own: those of with_gradients(), of a
/// kf.differentiable() of PyTorch's, and of a tensor that requires them in a backward call.
struct HeldGradients {
    HeldGradient in;
    HeldGradient out;
    bool is_new = false;  ///< there is `out`, and what it holds doesn't count
    py::object leaf;      ///< the tensor whose `grad` becomes `out` once the call has run
};

/// Finds them; null where there are none.
std::unique_ptr<HeldGradients> find_gradients(CallItems& items, std::size_t i);

/// Returns `tensor`, which the call has for item `i`, with the gradients that find_gradients() found.
AnyTensor with_gradients(CallItems& items, std::size_t i, const AnyTensor& tensor, const Context& context);

/// Brings the gradients of the item to where they belong, once the call has run: those on the CPU back to
/// their memory, and a value's, which is `contribution`, unless it is null, added to what was there.
void store_gradients(CallItems& items, std::size_t i, const py::object& contribution);

/// Returns what flows into item `i`, an output by value, as a number or an array; null for nothing.
py::object flowing_value(CallItems& items, std::size_t i);

}  // namespace kf::python
