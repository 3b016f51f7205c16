// Wrong arguments of what pybind11 binds.
#pragma once

#include "python/common.h"

namespace kf::python {

/// Has the module's functions and classes refuse wrong arguments as kf.ArgumentTypeErrors that say what they
/// take, instead of as TypeErrors that say what pybind11 makes of it. Once all are bound.
void reword_refusals(py::module_& module);

}  // namespace kf::python
