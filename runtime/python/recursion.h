// Refuses what is nested without an end, such as a dict that holds itself.
#pragma once

#include "python/common.h"

namespace kf::python {

/// One level of a function that calls itself for what Python's values hold; throws RecursionError too deep.
class RecursionGuard {
public:
    explicit RecursionGuard(const char* where) {
        if (Py_EnterRecursiveCall(where) != 0) throw py::error_already_set();
    }
    ~RecursionGuard() { Py_LeaveRecursiveCall(); }
    RecursionGuard(const RecursionGuard&) = delete;
    RecursionGuard& operator=(const RecursionGuard&) = delete;
};

}  // namespace kf::python
