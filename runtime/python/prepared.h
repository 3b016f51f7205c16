// kf.Prepared and kf.Graph: calls that are settled once and run often.
#pragma once

#include "python/encoder.h"

namespace kf::python {

/// The kf.Prepared of the one call that was recorded; `result`: what it returned.
py::object make_prepared(RecordedCalls& recorded, py::object result);

/// A kf.Node, which records one call of a function, or of a pass of one.
py::object make_node(py::object function);

}  // namespace kf::python
