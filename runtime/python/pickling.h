// What pickle and copy say of the extension's objects.
#pragma once

#include "python/common.h"

namespace kf::python {

/// Refuses to pickle objects of the module's classes, by whatever protocol: of protocols 0 and 1, object's
/// own way makes an object of pybind11's base class, which ends the process.
void refuse_pickling(py::module_& module);

}  // namespace kf::python
