// Python's lock: let go of while a call waits for a device, and asked for signals meanwhile.
#pragma once

#include "python/common.h"

namespace kf::python {

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
    PyThreadState* state_ = nullptr;
};

/// Runs Python's signal handlers, as driver::Device::while_waiting; throws what they raise, KeyboardInterrupt
/// among it. Called with or without the lock.
void check_signals();

}  // namespace kf::python
