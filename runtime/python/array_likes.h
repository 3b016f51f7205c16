// What is like an array or a list, without being one of ours.
#pragma once

#include <optional>

#include "core/given.h"
#include "python/common.h"

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

/// Returns the array that a list of arrays stands for, nested or not; null where it holds anything else.
/// Arrays of several shapes or dtypes set `why`.
py::object stacked(py::handle list, detail::Refusal* why, int depth = 0);

}  // namespace kf::python
