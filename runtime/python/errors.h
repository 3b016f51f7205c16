// kf::Error and Python's exceptions.
#pragma once

#include <cxxabi.h>
#include <kf/error.h>

#include <string>

#include "core/given.h"
#include "python/common.h"

namespace kf::python {

/// Throws ArgumentError with `where` in front of the message.
[[noreturn]] void refuse(ErrorCode code, const Where& where, const std::string& message);
[[noreturn]] inline void refuse(const detail::Refusal& refusal, const Where& where) {
    refuse(refusal.code, where, refusal.text);
}

/// Sets Python's error from what was caught; for a catch block of a function that Python calls directly.
void set_python_error() noexcept;

/// Runs the body of a function that Python calls directly: returns a new reference, or null with Python's
/// error set.
template <class Body>
PyObject* guarded(const Body& body) {
    try {
        return py::object(body()).release().ptr();
    } catch (abi::__forced_unwind&) {
        throw;  // the thread ends in Python code that the body called
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

/// repr(value), shortened to about 60 characters; never throws a Python error.
std::string shown(py::handle value);

/// type(value).__name__
std::string type_name(py::handle value);

}  // namespace kf::python
