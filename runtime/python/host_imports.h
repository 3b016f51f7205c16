// NumPy arrays of a call that kernels use where they lie.
#pragma once

#include <cstddef>

#include "python/call_items.h"

namespace kf::python {

/// Marks the arrays of a call that have to be copied although it waits: kernels would read them while they
/// write to others that overlap them.
void plan_imports(CallItems& items);

/// Makes the tensor of item `i`, which is a NumPy array, over its memory: the host's `uploaded`, and
/// `is_imported`; unless the array has to be copied.
void import_array(CallItems& items, std::size_t i, const Context& context);

/// A gradient on the host, or a result that is new, as a tensor over its memory. Null where it has to be
/// copied.
AnyTensor import_gradient(CallItems& items, const py::array& array, ScalarType scalar, bool is_written,
                          const Context& context);
AnyTensor import_result(const py::array& array, ScalarType scalar, const Context& context);

/// Waits, without Python's lock, until the call's kernels are done with the arrays that they use.
void wait_for_imports(CallItems& items);

/// Copies what the call wrote for item `i` to the array that was given for it, if one was, unless it is there
/// already.
void fill_array(CallItems& items, std::size_t i);

}  // namespace kf::python
