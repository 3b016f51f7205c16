// What Python runs by chance, between or within the instructions of other code.
#include "python/interruptions.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <span>
#include <vector>

#include "python/attributes.h"
#include "python/gil.h"

namespace kf::python {
namespace {

using Opcodes = std::bitset<256>;

PyCodeObject* as_code(const py::object& code) { return reinterpret_cast<PyCodeObject*>(code.ptr()); }

/// Returns those of the names that this version of Python has, kept in a static as found_once() does.
const Opcodes& opcodes(std::optional<Opcodes>& known, std::span<const char* const> names) {
    if (known) return *known;
    const py::dict map = py::module_::import("opcode").attr("opmap");
    Opcodes found;
    for (const char* const name : names)
        if (map.contains(name)) found.set(py::cast<std::size_t>(map[name]));
    return known ? *known : known.emplace(found);
}

/// They move references, and drop some. RESUME is none of them: a generator that is thrown into may be there
/// while the one that it delegates to is called.
const Opcodes& calling_nothing() {
    static constexpr std::array names{
        "STORE_FAST",  "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST", "LOAD_FAST_AND_CLEAR", "DELETE_FAST",
        "STORE_DEREF", "DELETE_DEREF",          "STORE_GLOBAL",         "DELETE_GLOBAL",       "POP_TOP",
        "POP_EXCEPT",  "RETURN_VALUE",          "RETURN_CONST",         "JUMP_BACKWARD"};
    static std::optional<Opcodes> known;
    return opcodes(known, names);
}

/// They call nothing where the names are a plain dict's, as a module's are.
const Opcodes& of_names() {
    static constexpr std::array names{"STORE_NAME", "DELETE_NAME"};
    static std::optional<Opcodes> known;
    return opcodes(known, names);
}

std::optional<std::size_t> instruction(const py::object& frame) {
    Py_ssize_t at = place_in_code(frame);
    const py::bytes code = code_of(frame).attr("co_code");
    if (at < 0 || at >= PyBytes_GET_SIZE(code.ptr())) return std::nullopt;
    // Python 3.12 stands in an instruction's cache, of zeros, while what that calls runs.
    while (at > 1 && PyBytes_AS_STRING(code.ptr())[at] == 0) at -= 2;
    return static_cast<unsigned char>(PyBytes_AS_STRING(code.ptr())[at]);
}

/// The values of parameters by position, as far as variables still hold them.
struct Given {
    std::vector<py::object> values;
    bool are_all = false;
};

/// A frame's local variables, by name.
class Locals {
public:
    explicit Locals([[maybe_unused]] const py::object& frame)
#if PY_VERSION_HEX >= 0x030C0000
        : frame_(frame){}
#else
        : dict_(frame.attr("f_locals")) {
    }
    ~Locals() {
        // The frame keeps the dict, and with it what its variables no longer hold.
        if (Py_REFCNT(dict_.ptr()) == 2) PyDict_Clear(dict_.ptr());
    }
#endif
          Locals(const Locals&) = delete;
    Locals& operator=(const Locals&) = delete;

    /// Null where it holds nothing.
    [[nodiscard]] py::object find(py::handle name) const {
#if PY_VERSION_HEX >= 0x030C0000
        auto value = py::reinterpret_steal<py::object>(
            PyFrame_GetVar(reinterpret_cast<PyFrameObject*>(frame_.ptr()), name.ptr()));
        if (!value) PyErr_Clear();
        return value;
#else
        return py::reinterpret_borrow<py::object>(PyDict_GetItem(dict_.ptr(), name.ptr()));
#endif
    }

private:
#if PY_VERSION_HEX >= 0x030C0000
    const py::object& frame_;
#else
    py::dict dict_;
#endif
};

Given parameters(const py::object& frame) {
    const py::object code = code_of(frame);
    const auto count = static_cast<std::size_t>(as_code(code)->co_argcount);
    const bool has_rest = (as_code(code)->co_flags & CO_VARARGS) != 0;
    Given found;
    if (count == 0 && !has_rest) return {{}, true};
    const py::tuple names = code.attr("co_varnames");
    const Locals locals(frame);
    for (std::size_t i = 0; i < count; ++i)
        if (py::object value = locals.find(names[i])) found.values.push_back(std::move(value));
    found.are_all = found.values.size() == count;
    if (!has_rest) return found;
    const auto named_only = static_cast<std::size_t>(as_code(code)->co_kwonlyargcount);
    const py::object rest = locals.find(names[count + named_only]);
    const bool is_tuple = rest && PyTuple_Check(rest.ptr()) != 0;
    found.are_all = found.are_all && is_tuple;
    if (is_tuple)
        for (const py::handle value : py::reinterpret_borrow<py::tuple>(rest))
            found.values.push_back(py::reinterpret_borrow<py::object>(value));
    return found;
}

/// A debugger's or profiler's function is given the frame and an event's name.
bool is_event(const py::object& value) {
    static constexpr std::array names{"call",   "line",   "return",   "exception",
                                      "opcode", "c_call", "c_return", "c_exception"};
    if (PyUnicode_CheckExact(value.ptr()) == 0) return false;
    return std::ranges::any_of(
        names, [&](const char* one) { return PyUnicode_CompareWithASCIIString(value.ptr(), one) == 0; });
}

bool is_int(const py::object& value) { return PyLong_Check(value.ptr()) != 0; }

/// Whether it was given the frame that it interrupted as a signal's handler is, behind a number, or as a
/// debugger's function is, before an event's name.
bool shows_interruption(const std::vector<py::object>& given, const py::object& caller) {
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (!given[i].is(caller)) continue;
        if (i > 0 && is_int(given[i - 1])) return true;
        if (i + 1 < given.size() && is_event(given[i + 1])) return true;
    }
    return false;
}

/// Whether a call of a handler's code, which others may share, can't be a signal's: of that it would have the
/// number, and the frame.
bool is_plain_call(const Given& given) {
    return given.are_all && (given.values.size() < 2 || std::ranges::none_of(given.values, is_int));
}

/// Returns what is referred to; null where that is gone.
py::object referent_of(const py::object& reference) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* object = nullptr;
    if (PyWeakref_GetRef(reference.ptr(), &object) < 0) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(object);
#else
    PyObject* const object = PyWeakref_GetObject(reference.ptr());
    return object == Py_None ? py::object() : py::reinterpret_borrow<py::object>(object);
#endif
}

bool is_dead_reference(const py::object& value) {
    return PyWeakref_Check(value.ptr()) != 0 && !referent_of(value);
}

bool is_finalizer(const py::object& code) {
    static PyObject* finalize = nullptr;
    static PyObject* const name = PyUnicode_InternFromString("__del__");
    return as_code(code)->co_name == name ||
           code.is(code_of_method(finalize, "weakref", "finalize", "__call__"));
}

/// Returns the code that a call of the object runs first; null where that isn't Python's.
py::object code_run_by(py::object callable) {
    const py::object partial = py::module_::import("functools").attr("partial");
    constexpr int deepest = 12;  // a partial may hold itself
    const auto is_partial = [&] {
        return PyObject_TypeCheck(callable.ptr(), reinterpret_cast<PyTypeObject*>(partial.ptr())) != 0;
    };
    for (int i = 0; i < deepest && is_partial(); ++i) callable = callable.attr("func");
    if (PyMethod_Check(callable.ptr()) == 0 && PyFunction_Check(callable.ptr()) == 0)
        callable = py::getattr(py::type::of(callable), "__call__", py::none());
    if (PyMethod_Check(callable.ptr()) != 0) callable = py::getattr(callable, "__func__", py::none());
    return py::getattr(callable, "__code__", py::object());
}

}  // namespace

bool SignalHandlers::has(const py::object& code) {
    if (!codes_) {
        codes_.emplace();
        const py::module_ signals = py::module_::import("_signal");  // without the enums of `signal`
        const py::object get = signals.attr("getsignal");
        const int count = is_main_thread() ? py::cast<int>(signals.attr("NSIG")) : 0;
        for (int number = 1; number < count; ++number) {
            const py::object handler = get(number);
            if (handler.is_none() || PyLong_Check(handler.ptr()) != 0) continue;
            codes_->push_back(code_run_by(handler));
        }
    }
    return std::ranges::any_of(*codes_, [&](const py::object& one) { return one.is(code); });
}

py::object running_frame() {
    return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
}

py::object caller_of(const py::object& frame) {
    PyFrameObject* const caller = PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()));
    return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(caller));
}

Py_ssize_t place_in_code(const py::object& frame) { return py::cast<Py_ssize_t>(frame.attr("f_lasti")); }

py::object code_of(const py::object& frame) {
    PyCodeObject* const code = PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.ptr()));
    return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(code));
}

py::handle code_of_method(PyObject*& known, const char* module, const char* type, const char* method) {
    return found_once(known, [&] {
        return py::object(py::module_::import(module).attr(type).attr(method).attr("__code__"));
    });
}

py::object reference_to_generator(const py::object& frame) {
    auto* const of = reinterpret_cast<PyFrameObject*>(frame.ptr());
#if PY_VERSION_HEX >= 0x030B0000
    const auto generator = py::reinterpret_steal<py::object>(PyFrame_GetGenerator(of));
#else
    const auto generator = py::reinterpret_borrow<py::object>(of->f_gen);
#endif
    return generator ? py::object(py::weakref(generator)) : py::object();
}

py::object frame_of_generator(const py::object& reference) {
    const py::object generator = referent_of(reference);
    if (!generator) return {};
    const char* const name = PyCoro_CheckExact(generator.ptr())       ? "cr_frame"
                             : PyAsyncGen_CheckExact(generator.ptr()) ? "ag_frame"
                                                                      : "gi_frame";
    const py::object frame = generator.attr(name);
    return frame.is_none() ? py::object() : frame;
}

bool delegates(const py::object& frame) {
    static constexpr std::array names{"SEND", "YIELD_FROM"};
    static std::optional<Opcodes> known;
    const auto at = instruction(frame);
    return at && opcodes(known, names).test(*at);
}

bool is_interrupted(const py::object& frame) {
    const auto at = instruction(frame);
    if (!at) return false;
    if (of_names().test(*at)) return PyDict_CheckExact(py::object(frame.attr("f_locals")).ptr()) != 0;
    return calling_nothing().test(*at);
}

Cause cause_of(const py::object& frame, SignalHandlers& handlers) {
    const py::object code = code_of(frame);
    if (is_finalizer(code)) return Cause::chance;
    const Given given = parameters(frame);
    const py::object caller = caller_of(frame);
    if (caller && shows_interruption(given.values, caller)) return Cause::chance;
    if (!is_plain_call(given) && handlers.has(code)) return Cause::signal;
    return std::ranges::any_of(given.values, is_dead_reference) ? Cause::reference : Cause::call;
}

}  // namespace kf::python
