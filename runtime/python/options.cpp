// kf.set_options() for the process, kf.options() for a block.
#include "python/options.h"

#include "python/errors.h"

namespace kf::python {
namespace {

/// A setting of the process, like the default device; guarded by the GIL.
Options& process_options() {
    static Options options;
    return options;
}

/// A contextvars.ContextVar that holds Options: threads and tasks have their own.
PyObject* block_options() {
    static PyObject* variable = [] {
        PyObject* made = PyContextVar_New("kernelfunctions.options", nullptr);
        if (made == nullptr) throw py::error_already_set();
        return made;
    }();
    return variable;
}

/// What the blocks around say; nothing outside of all.
Options options_of_blocks() {
    PyObject* found = nullptr;
    if (PyContextVar_Get(block_options(), nullptr, &found) < 0) throw py::error_already_set();
    if (found == nullptr) return {};
    return py::cast<Options>(py::reinterpret_steal<py::object>(found));
}

/// Returns what leave_options() takes.
py::object enter_options(const py::kwargs& given) {
    const py::object options = py::cast(options_of_blocks().with(options_of("options", given)));
    PyObject* token = PyContextVar_Set(block_options(), options.ptr());
    if (token == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(token);
}

void leave_options(const py::object& token) {
    if (PyContextVar_Reset(block_options(), token.ptr()) < 0) throw py::error_already_set();
}

}  // namespace

Options options_of(const std::string& function, const py::kwargs& given) {
    Options options;
    for (const auto& entry : given) {
        const std::string name = py::str(entry.first);
        if (name != "deterministic") {
            refuse(ErrorCode::unknown_name, {function, {}},
                   "no option '" + name + "'; there is: deterministic");
        }
        if (entry.second.is_none()) continue;
        if (!py::isinstance<py::bool_>(entry.second)) {
            refuse(ErrorCode::type_mismatch, {function, name},
                   "expected True, False or None, found " +
                       shown(py::reinterpret_borrow<py::object>(entry.second)));
        }
        options.deterministic = py::cast<bool>(entry.second);
    }
    return options;
}

Options default_options() { return process_options().with(options_of_blocks()); }

void bind_options(py::module_& module) {
    py::class_<Options> type(module, "_Options");
    type.doc() = "What a block of kf.options() says.";
    module.def("_enter_options", &enter_options);
    module.def("_leave_options", &leave_options);
    module.def(
        "set_options", [](const py::kwargs& given) { process_options() = options_of("set_options", given); },
        "Options of all functions, where neither their own options() nor a block of kf.options() says "
        "otherwise: deterministic=True. What isn't named is not set.");
}

}  // namespace kf::python
