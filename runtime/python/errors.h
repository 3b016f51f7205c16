// kf::Error and Python's exceptions.
#pragma once

#include <kf/error.h>

#include <string>

#include "python/common.h"

namespace kf::python {

/// Throws ArgumentError with `where` in front of the message.
[[noreturn]] void refuse(ErrorCode code, const Where& where, const std::string& message);

/// repr(value), shortened to about 60 characters; never throws a Python error.
std::string shown(py::handle value);

/// type(value).__name__
std::string type_name(py::handle value);

}  // namespace kf::python
