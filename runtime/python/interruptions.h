// What Python runs by chance, between or within the instructions of other code.
#pragma once

#include <optional>
#include <vector>

#include "python/common.h"

namespace kf::python {

/// Why a function runs.
enum class Cause : std::uint8_t {
    call,       ///< its caller's code says so
    chance,     ///< an object went, a signal came, or a debugger looks on
    reference,  ///< unclear: it has a weak reference to what is gone, as callbacks of those have
    signal,     ///< unclear: it is a signal's handler, and has no frame that a signal would have interrupted
};

[[nodiscard]] py::object running_frame();
/// Null for the outermost frame.
[[nodiscard]] py::object caller_of(const py::object& frame);
[[nodiscard]] py::object code_of(const py::object& frame);
/// Returns where in its code it is: at what calls, where it isn't the running one.
[[nodiscard]] Py_ssize_t place_in_code(const py::object& frame);
/// Returns the code of a method, by which frames that run it are known. `known`: as found_once() takes it.
[[nodiscard]] py::handle code_of_method(PyObject*& known, const char* module, const char* type,
                                        const char* method);
/// Returns a weak reference to the generator or coroutine that runs in the frame; null for another frame.
[[nodiscard]] py::object reference_to_generator(const py::object& frame);
/// Returns the frame of what is referred to; null where that is gone or has ended.
[[nodiscard]] py::object frame_of_generator(const py::object& reference);
/// Whether the frame hands on what a generator of another frame yields.
[[nodiscard]] bool delegates(const py::object& frame);

/// Whether the instruction that the frame is at calls nothing, whatever its operands are.
[[nodiscard]] bool is_interrupted(const py::object& frame);
/// What handles signals, which run in the main thread alone: asked for once, when it is first needed.
class SignalHandlers {
public:
    [[nodiscard]] bool has(const py::object& code);

private:
    std::optional<std::vector<py::object>> codes_;
};

/// Returns what the frame's function and parameters say.
[[nodiscard]] Cause cause_of(const py::object& frame, SignalHandlers& handlers);

}  // namespace kf::python
