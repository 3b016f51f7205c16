// Python's lock.
#include "python/gil.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace kf::python {
namespace {

/// How long the process's end may be held up by threads that are in a driver.
constexpr std::chrono::seconds longest_leave{10};

/// Whether the process's interpreter is gone, and with it all that belongs to threads.
std::atomic<bool>& interpreter_gone() {
    static std::atomic<bool> gone = false;
    return gone;
}

/// Counts the threads of the process that may be in a driver while others have Python's lock.
std::atomic<int>& threads_inside() {
    static std::atomic<int> inside = 0;
    return inside;
}

/// Drivers clear away what their threads use when the process ends: no thread may be in one by then.
void leave_interpreter() {
    interpreter_gone() = true;
    const auto begin = std::chrono::steady_clock::now();
    while (threads_inside() > 0 && std::chrono::steady_clock::now() - begin < longest_leave) {
        std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
}

/// Whether this thread is one of them.
bool& is_inside() {
    static thread_local bool inside = false;
    return inside;
}

/// Python's main thread, as it is when the module is imported.
std::atomic<unsigned long>& main_thread() {
    static std::atomic<unsigned long> ident = 0;
    return ident;
}

}  // namespace

bool is_main_thread() { return PyThread_get_thread_ident() == main_thread() || ::getpid() == ::gettid(); }

namespace {

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

/// The process ends without this thread.
[[noreturn]] void stop_for_good() {
    while (true) (void)pause();
}

/// Where the interpreter ends, other threads can't have its lock any more, and all that was theirs may be
/// gone.
void stop_at_the_end() {
    if ((interpreter_gone() || is_finalizing()) && !is_main_thread()) stop_for_good();
}

/// `take` takes the lock, or ends the thread.
template <class Take>
void take_lock(Take take) {
    stop_at_the_end();
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

GilRelease::GilRelease() {
    ++threads_inside();  // with the lock, without which the process may end
    was_inside_ = std::exchange(is_inside(), true);
    state_ = PyEval_SaveThread();
}

GilRelease::~GilRelease() {
    is_inside() = was_inside_;
    --threads_inside();
    if (interpreter_gone() && is_main_thread()) return;  // nobody's lock any more
    take_lock([this] { PyEval_RestoreThread(state_); });
}

GilHold::GilHold() {
    if (interpreter_gone() || Py_IsInitialized() == 0) return;
    was_inside_ = std::exchange(is_inside(), false);
    if (was_inside_) --threads_inside();
    take_lock([this] { state_ = PyGILState_Ensure(); });
    has_lock_ = true;
}

GilHold::~GilHold() {
    if (!has_lock_) return;
    if (was_inside_) ++threads_inside();
    is_inside() = was_inside_;
    PyGILState_Release(state_);
}

std::shared_ptr<void> shared_owner(py::object object) {
    return {object.release().ptr(), [](void* kept) {
                if (const GilHold lock; lock) Py_DECREF(static_cast<PyObject*>(kept));
            }};
}

void show_line(std::string_view line) {
    const GilHold lock;
    if (!lock) return;
    const auto text = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(line.data(), static_cast<Py_ssize_t>(line.size()), "replace"));
    if (!text) throw py::error_already_set();
    const py::object output = py::module_::import("sys").attr("stdout");
    if (!output.is_none()) output.attr("write")(text);
}

void check_signals() {
    --threads_inside();
    stop_at_the_end();
    if (!is_main_thread() || interpreter_gone()) {
        ++threads_inside();
        return;
    }
    const GilAcquire lock;
    ++threads_inside();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void bind_gil(py::module_& /*module*/) {
    main_thread() =
        py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
    if (Py_AtExit(&leave_interpreter) != 0) py::pybind11_fail("no room for an exit function");
    // A child process has none of its parent's threads.
    [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, [] { threads_inside() = 0; });
}

}  // namespace kf::python
