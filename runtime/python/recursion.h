// Refuses what is nested without an end, such as a dict that holds itself.
#pragma once

#include "python/common.h"

namespace kf::python {

/// One level of what goes on within itself; throws RecursionError past `deepest` levels of a thread. Python's
/// own limit isn't enough: since 3.12 it lets C code go 10000 levels deep, however much of the stack each
/// needs.
template <int deepest>
class DepthGuard {
public:
    explicit DepthGuard(const char* where) {
        if (depth() == deepest) {
            PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded%s", where);
            throw py::error_already_set();
        }
        ++depth();
    }
    ~DepthGuard() { --depth(); }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;

private:
    static int& depth() {
        thread_local int levels = 0;
        return levels;
    }
};

/// A function that calls itself for what Python's values hold.
using RecursionGuard = DepthGuard<500>;
/// A call that code of its own arguments, such as a property, may make another call from.
using NestedCall = DepthGuard<40>;

}  // namespace kf::python
