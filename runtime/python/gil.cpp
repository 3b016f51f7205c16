// Python's lock.
#include "python/gil.h"

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>

namespace kf::python {
namespace {

/// Of the process, as the interpreter is: true once that is gone, and with it all that belongs to threads.
std::atomic<bool>& interpreter_gone() {
    static std::atomic<bool> gone = false;
    return gone;
}

/// The process ends without this thread.
[[noreturn]] void stop_for_good() {
    while (true) (void)pause();
}

/// `take` takes the lock, or ends the thread.
template <class Take>
void take_lock(Take take) {
    if (interpreter_gone()) stop_for_good();
    try {
        take();
    } catch (abi::__forced_unwind&) {
        stop_for_good();
    }
}

class GilAcquire {
public:
    GilAcquire() {
        take_lock([this] { state_ = PyGILState_Ensure(); });
    }
    ~GilAcquire() { PyGILState_Release(state_); }
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;

private:
    PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

}  // namespace

GilRelease::~GilRelease() {
    take_lock([this] { PyEval_RestoreThread(state_); });
}

void check_signals() {
    const GilAcquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void bind_gil(py::module_& /*module*/) {
    if (Py_AtExit([] { interpreter_gone() = true; }) != 0) py::pybind11_fail("no room for an exit function");
}

}  // namespace kf::python
