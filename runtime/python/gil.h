// Python's lock: let go of while a call waits for a device, and asked for signals meanwhile.
#pragma once

#include <memory>
#include <string_view>

#include "python/common.h"
#include "python/graph_block.h"

namespace kf::python {

/// Whether this thread handles signals and ends the interpreter.
[[nodiscard]] bool is_main_thread();

/// Lets other Python threads run while it lives, in what waits for a driver. A thread that finds the
/// interpreter ended when it comes back stops there for good: Python would end it by unwinding its stack,
/// past functions that must not throw.
class GilRelease {
public:
    GilRelease();
    ~GilRelease();
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

private:
    BlockWithoutLock block_;  // asked for with the lock
    PyThreadState* state_ = nullptr;
    bool was_inside_ = false;
};

/// Has the lock while it lives, in what may be called with or without it: a destructor that lets go of what
/// is Python's. False where the interpreter has ended, and all of that is gone or stays for good.
class GilHold {
public:
    GilHold();
    ~GilHold();
    GilHold(const GilHold&) = delete;
    GilHold& operator=(const GilHold&) = delete;
    explicit operator bool() const { return has_lock_; }

private:
    bool has_lock_ = false;
    bool was_inside_ = false;
    PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

/// An owner of a Python object that may be let go of by any thread, with or without the lock.
std::shared_ptr<void> shared_owner(py::object object);

/// Writes to sys.stdout what kernels print, for Device::show_lines(). Called with or without the lock.
void show_line(std::string_view line);

/// Runs Python's signal handlers, as driver::Device::while_waiting; throws what they raise, KeyboardInterrupt
/// among it. Called with or without the lock.
void check_signals();

}  // namespace kf::python
