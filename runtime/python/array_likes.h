// What is like an array or a list, without being one of ours.
#pragma once

#include <optional>

#include "core/given.h"
#include "python/common.h"
#include "python/context.h"

namespace kf::python {

/// Whether the object can be iterated, and once only: a generator, a map().
bool is_iterator(PyObject* value);

/// Returns what stands for an object of another library, or of a class of the caller's: a NumPy array for a
/// buffer (an array.array, a memoryview) and for what has __array__() or lies on the CPU and has
/// __dlpack__(); a kf.Tensor where that lies on a device; a list for an iterator or another sequence. Null
/// for anything else, texts and what the runtime knows itself among it.
py::object stand_in(py::handle value);

/// Returns the same as an array, or an array itself; nothing for what isn't like one.
std::optional<py::array> array_of(py::handle value);

/// The array that a list stands for.
struct Stack {
    py::object array;    ///< null where the list holds anything but arrays and tensors
    ContextPtr context;  ///< of the kf.Tensors in it, which were read back; null for none
};

/// Stacks a list of NumPy arrays and kf.Tensors, nested or not. Those of several shapes, dtypes or devices
/// set `why`, and so do tensors of PyTorch's.
Stack stacked(py::handle list, detail::Refusal* why);

}  // namespace kf::python
