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

/// A call that code of its own arguments, such as a property, may make another call from; throws
/// RecursionError too deep. Python counts levels, but calls need more of a thread's stack than it expects.
class NestedCall {
public:
    NestedCall() {
        if (depth() == deepest) {
            PyErr_SetString(PyExc_RecursionError,
                            "maximum depth of calls from within arguments of other calls exceeded");
            throw py::error_already_set();
        }
        ++depth();
    }
    ~NestedCall() { --depth(); }
    NestedCall(const NestedCall&) = delete;
    NestedCall& operator=(const NestedCall&) = delete;

private:
    static constexpr int deepest = 40;
    static int& depth() {
        thread_local int levels = 0;
        return levels;
    }
};

}  // namespace kf::python
