// kf.UnlaunchedCall: a call that waits for launchRaw() to say how many threads it has.
#include <string>

#include "python/errors.h"
#include "python/function_types.h"
#include "python/launch.h"

namespace kf::python {
namespace {

/// A call of a function that is launched by threads, before anybody has said how many.
class UnlaunchedCall {
public:
    using PythonClass = UnlaunchedCall;

    UnlaunchedCall(const Function& function, detail::PassKind pass, const Arguments& arguments)
        : function_(function), pass_(pass), arguments_(arguments) {}

    UnlaunchedCall(const UnlaunchedCall&) = delete;
    UnlaunchedCall& operator=(const UnlaunchedCall&) = delete;
    UnlaunchedCall(UnlaunchedCall&&) = default;
    UnlaunchedCall& operator=(UnlaunchedCall&&) = default;
    /// Warns of a call that nobody launched.
    ~UnlaunchedCall() {
        if (is_launched_ || !arguments_ || Py_IsInitialized() == 0) return;
        const py::error_scope kept;
        const std::string text =
            name() + ": a call was dropped without launchRaw(): threads(x, y, z) says how many threads run";
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
    }

    void launch(const py::handle& block_size, const py::handle& grid_size) {
        is_launched_ = true;
        const FunctionInfo& info = function_.info();
        Options launched;
        launched.launch = raw_launch_of(info.function.name, block_size, grid_size);
        function_.run(pass_, nullptr, arguments_.view(), function_.options().with(launched), nullptr);
    }
    [[nodiscard]] const std::string& name() const { return function_.info().function.name; }

    int traverse(visitproc visit, void* arg) const noexcept {
        const int result = arguments_.traverse(visit, arg);
        return result != 0 ? result : function_.traverse(visit, arg);
    }
    /// The arguments' own objects break the cycles that go through them.
    void clear() noexcept { function_.clear(); }

private:
    Function function_;
    detail::PassKind pass_;
    KeptArguments arguments_;  ///< null once it is moved from
    bool is_launched_ = false;
};

/// Takes part in Python's garbage collection with what the call holds. Nothing here may make an object or
/// throw.
void collect(PyHeapTypeObject* heap_type) {
    static constexpr auto held = [](PyObject* self) noexcept {
        // Objects that __new__() alone has made hold nothing.
        const auto made = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
        return made.holder_constructed() ? made.value_ptr<UnlaunchedCall>() : nullptr;
    };
    PyTypeObject& type = heap_type->ht_type;
    type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        const auto* call = held(self);
        return call == nullptr ? 0 : call->traverse(visit, arg);
    };
    type.tp_clear = [](PyObject* self) {
        if (auto* call = held(self)) call->clear();
        return 0;
    };
}

}  // namespace

py::object make_unlaunched(const Function& function, detail::PassKind pass, const Arguments& arguments) {
    return py::cast(UnlaunchedCall(function, pass, arguments));
}

void bind_unlaunched_call(py::module_& module) {
    py::class_<UnlaunchedCall>(
        module, "UnlaunchedCall",
        "A call of a function that is launched by threads; launchRaw() says how many, and runs it.",
        py::custom_type_setup(&collect))
        .def("launchRaw", &UnlaunchedCall::launch, py::kw_only(), py::arg("blockSize"), py::arg("gridSize"),
             "Runs gridSize groups, each along x, y and z, of blockSize threads, which must be what the "
             "kernel was generated for.")
        .def("__repr__", [](const UnlaunchedCall& self) {
            return "<call of " + self.name() + " that waits for launchRaw(blockSize=, gridSize=)>";
        });
}

}  // namespace kf::python
