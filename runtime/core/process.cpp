// Which process a device was opened in.
#include "core/process.h"

#include <pthread.h>

#include <kf/error.h>

#include <string>

namespace kf::detail {
namespace {

// What is true of a process can't be told by any value in it: fork() copies all values.
std::atomic<bool> started = false;    // drivers, by this process or one that it was forked from
std::atomic<bool> inherited = false;  // they were started before this process was forked

}  // namespace

struct ForkHandler {
    static void in_child() {
        ProcessMark::forks.fetch_add(1, std::memory_order_relaxed);
        inherited.store(started.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    static void install() {
        [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, &in_child);
    }
};

ProcessMark::ProcessMark() {
    ForkHandler::install();
    made_after_ = forks.load(std::memory_order_relaxed);
}

void throw_forked(const char* what) {
    throw DeviceError(
        ErrorCode::forked,
        std::string("this process was forked from one that had ") + what +
            ", and GPU drivers don't work across fork(): start processes afresh "
            "(in Python multiprocessing.get_context(\"spawn\"), in C++ fork() and exec()), or use "
            "kernels after the fork alone");
}

void start_drivers() {
    ForkHandler::install();
    if (inherited.load(std::memory_order_relaxed)) {
        throw_forked("started them");
    }
    started.store(true, std::memory_order_relaxed);
}

}  // namespace kf::detail
