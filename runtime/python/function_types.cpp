// The Python classes of what is called: types of our own, since a call through pybind11 makes a tuple and a
// dict, and looks up both type and overload.
#include "python/function_types.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include "core/describe.h"
#include "python/array_likes.h"
#include "python/errors.h"
#include "python/optional_method.h"
#include "python/pickling.h"
#include "python/prepared.h"
#include "python/signature.h"

namespace kf::python {
namespace {

using detail::PassKind;

/// What all four classes look like in memory.
struct FunctionObject {
    PyObject head;
    vectorcallfunc vectorcall;
    PyObject* attributes;  ///< of its own, a dict; null until somebody sets one
    PyObject* weak_references;
    Function function;
};

/// Made once, never destroyed, as the classes of an extension are.
struct Types {
    PyTypeObject* function = nullptr;
    PyTypeObject* backward = nullptr;
    PyTypeObject* fused = nullptr;
    PyTypeObject* jvp = nullptr;
};

Types& types() {
    static Types all;
    return all;
}

FunctionObject& object_of(PyObject* self) { return *reinterpret_cast<FunctionObject*>(self); }
const Function& function_of(PyObject* self) { return object_of(self).function; }
const std::string& function_name(PyObject* self) { return function_of(self).info().function.name; }

py::object make(PyTypeObject* type, vectorcallfunc call, Function function) {
    auto* self = PyObject_GC_New(FunctionObject, type);
    if (self == nullptr) throw py::error_already_set();
    self->vectorcall = call;
    self->attributes = nullptr;
    self->weak_references = nullptr;
    new (&self->function) Function(std::move(function));
    auto* object = reinterpret_cast<PyObject*>(self);
    PyObject_GC_Track(object);
    return py::reinterpret_steal<py::object>(object);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(object_of(self).attributes);
    return function_of(self).traverse(visit, arg);
}

int clear(PyObject* self) {
    Py_CLEAR(object_of(self).attributes);
    object_of(self).function.clear();
    return 0;
}

void deallocate(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (object_of(self).weak_references != nullptr) PyObject_ClearWeakRefs(self);
    Py_CLEAR(object_of(self).attributes);
    object_of(self).function.~Function();
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/// The arguments of a forward derivative: tangents={"a": …} becomes one keyword for each.
class WithTangents {
public:
    WithTangents(const FunctionInfo& info, const Arguments& given) : view_(given) {
        const Keywords& keywords = given.keywords;
        if (!keywords.contains("tangents")) return;
        for (std::size_t i = 0; i < keywords.size(); ++i) {
            const py::handle name = keywords.name(i);
            const py::handle value = keywords.values[i];
            if (utf8_of(name) != "tangents") {
                add(name, value);
                continue;
            }
            if (value.is_none()) continue;
            if (PyDict_Check(value.ptr()) == 0) {
                refuse(ErrorCode::type_mismatch, {info.function.name, "tangents"},
                       "a dict of tangents by argument is needed, as in tangents={\"x\": dx}, not " +
                           shown(value));
            }
            // A copy: str() of a key may run code that changes the dict.
            const auto tangents = py::reinterpret_steal<py::dict>(PyDict_Copy(value.ptr()));
            if (!tangents) throw py::error_already_set();
            for (const auto& [argument, tangent] : tangents)
                add(interned("tangents." + std::string(utf8_of(py::str(argument)))), tangent);
        }
        names_ = py::tuple(list_);
        view_.keywords = {names_.ptr(), values_.data()};
    }
    [[nodiscard]] const Arguments& view() const { return view_; }

private:
    void add(const py::handle& name, const py::handle& value) {
        list_.append(name);
        kept_.push_back(py::reinterpret_borrow<py::object>(value));
        values_.push_back(value.ptr());
    }

    Arguments view_;
    py::list list_;
    py::tuple names_;
    std::vector<py::object> kept_;  // the dict may change while the call runs
    std::vector<PyObject*> values_;
};

/// The arguments with lists for what can be iterated once: a call may look at them several times.
class WithLists {
public:
    explicit WithLists(const Arguments& given) : view_(given) {
        const std::span named(given.keywords.values, given.keywords.size());
        if (std::ranges::none_of(given.positional, is_iterator) && std::ranges::none_of(named, is_iterator))
            return;
        for (const std::span<PyObject* const> part : {given.positional, named}) {
            for (PyObject* const value : part) {
                const bool once = is_iterator(value);
                kept_.push_back(once ? py::reinterpret_steal<py::object>(PySequence_List(value))
                                     : py::reinterpret_borrow<py::object>(value));
                if (!kept_.back()) throw py::error_already_set();
                values_.push_back(kept_.back().ptr());
            }
        }
        const std::span all(values_);
        view_.positional = all.first(given.positional.size());
        view_.keywords.values = all.data() + given.positional.size();
    }
    [[nodiscard]] const Arguments& view() const { return view_; }

private:
    Arguments view_;
    std::vector<py::object> kept_;
    std::vector<PyObject*> values_;
};

py::object run(PyObject* self, PassKind pass, RecordedCalls* encoder, const Arguments& arguments) {
    const Function& function = function_of(self);
    if (encoder == nullptr && pass != PassKind::fused && function.needs_launch())
        return make_unlaunched(function, pass, arguments);
    return function.run(pass, encoder, arguments, function.options(), self);
}

py::object run_jvp(PyObject* self, RecordedCalls* encoder, const Arguments& arguments) {
    const Function& function = function_of(self);
    return function.run(PassKind::forward, encoder, WithTangents(function.info(), arguments).view(),
                        function.options(), self);
}

template <PassKind pass>
py::object run(PyObject* self, RecordedCalls* encoder, const Arguments& arguments) {
    return run(self, pass, encoder, arguments);
}

using Run = py::object(PyObject*, RecordedCalls*, const Arguments&);

template <Run& run>
PyObject* call(PyObject* self, PyObject* const* values, std::size_t count, PyObject* names) {
    return guarded(
        [&] { return run(self, nullptr, WithLists(Arguments::passed(values, count, names)).view()); });
}

/// call(...), as a method.
template <Run& run>
PyObject* call_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
    return call<run>(self, values, static_cast<std::size_t>(count), names);
}

/// append_to(encoder, ...).
template <Run& run>
PyObject* append_to(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
    return guarded([&] {
        Arguments arguments = Arguments::passed(values, static_cast<std::size_t>(count), names);
        const bool empty = arguments.positional.empty();
        RecordedCalls* const encoder = empty ? nullptr : held<RecordedCalls>(arguments.positional.front());
        if (encoder == nullptr) {
            refuse(ErrorCode::type_mismatch, {function_name(self), "encoder"},
                   "append_to() takes a kf.Encoder first" +
                       (empty ? std::string() : ", not " + shown(arguments.positional.front())));
        }
        arguments.positional = arguments.positional.subspan(1);
        return run(self, encoder, WithLists(arguments).view());
    });
}

/// prepare(...): the call is recorded alone, and kept.
template <Run& run>
PyObject* prepare(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
    return guarded([&] {
        RecordedCalls kept(nullptr, RecordedCalls::Kept());
        py::object result = run(
            self, &kept, WithLists(Arguments::passed(values, static_cast<std::size_t>(count), names)).view());
        return make_prepared(kept, std::move(result));
    });
}

PyObject* node(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return make_node(py::reinterpret_borrow<py::object>(self)); });
}

PyObject* forward(PyObject* self, PyObject* const* values, std::size_t count, PyObject* names) {
    return call<run<PassKind::forward>>(self, values, count, names);
}

/// What a pass is called, and what the spec says where there is one.
struct PassWords {
    const char* name;
    const char* asked_by;
};

constexpr PassWords backward_pass{"backward pass",
                                  "\"backward\": true, as that of a [Differentiable] function can"};
constexpr PassWords fused_pass{"fused pass",
                               "\"backward\": {\"fused\": true}, as that of a [Differentiable] loss can"};
constexpr PassWords forward_derivative{"forward derivative",
                                       "\"forward_diff\": true, as that of a [Differentiable] function can"};

/// Refuses a pass that isn't there.
[[noreturn]] void refuse_absent(const Function& function, const PassWords& pass) {
    const FunctionInfo& info = function.info();
    const bool has_any = info.differentiable || info.has_fused || info.jvp != nullptr;
    refuse(ErrorCode::not_differentiable, {info.function.name, {}},
           (has_any ? std::string("it has no ") + pass.name : "not differentiable") +
               ": its call in the spec doesn't say " + pass.asked_by);
}

/// The function that the forward derivatives in `derivative` are of, configured alike.
Function whole_of(const Function& derivative) {
    const FunctionInfo& info = derivative.info();
    const auto& functions = info.artifact->manifest.functions;
    const auto whole =
        std::ranges::find(functions, static_cast<std::int64_t>(info.index), &manifest::Function::jvp);
    return derivative.with(info_of(info, static_cast<std::size_t>(whole - functions.begin())));
}

/// A copy of `self`, which is a function or a pass of one, with another configuration. `configure` returns
/// the function with it.
template <class Configure>
py::object copied(PyObject* self, const Configure& configure) {
    PyTypeObject* const type = Py_TYPE(self);
    const bool is_jvp = type == types().jvp;
    Function function = configure(is_jvp ? whole_of(function_of(self)) : function_of(self));
    const FunctionInfo& info = function.info();
    if (type == types().backward && !info.differentiable) refuse_absent(function, backward_pass);
    if (type == types().fused && !info.has_fused) refuse_absent(function, fused_pass);
    if (is_jvp && info.jvp == nullptr) refuse_absent(function, forward_derivative);
    return make(type, object_of(self).vectorcall, is_jvp ? function.with(info.jvp) : std::move(function));
}

/// Refuses more than one positional argument, and returns it; null where there is none.
py::handle only_one(const char* method, std::span<PyObject* const> given) {
    if (given.size() > 1) {
        throw py::type_error(std::string(method) + "() takes at most 1 positional argument (" +
                             std::to_string(given.size()) + " given)");
    }
    return given.empty() ? nullptr : given.front();
}

PyObject* set(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
    return guarded([&] {
        const Arguments given = Arguments::passed(values, static_cast<std::size_t>(count), names);
        const py::handle one = only_one("set", given.positional);
        return copied(self,
                      [&](const Function& function) { return function.with_globals(one, given.keywords); });
    });
}

template <bool in_groups>
PyObject* launched(PyObject* self, PyObject* const* values, Py_ssize_t count) {
    return guarded([&] {
        const std::span given(values, static_cast<std::size_t>(count));
        return copied(self, [&](const Function& function) { return function.with_launch(given, in_groups); });
    });
}

/// What a method takes as one object.
using ConfigureBy = Function (Function::*)(const py::object&) const;

template <ConfigureBy configure>
PyObject* configured_by(PyObject* self, PyObject* value) {
    return guarded([&] {
        const auto given = py::reinterpret_borrow<py::object>(value);
        return copied(self, [&](const Function& function) { return (function.*configure)(given); });
    });
}

/// A dict that nobody else has.
py::dict own_dict(PyObject* keywords) {
    return keywords == nullptr ? py::dict() : py::reinterpret_steal<py::dict>(PyDict_Copy(keywords));
}

/// What a method takes as a dict, as keywords, or both.
using Configure = Function (Function::*)(const py::object&, const py::dict&) const;

template <Configure configure>
PyObject* configured(PyObject* self, PyObject* given, PyObject* keywords) {
    return guarded([&] {
        const std::span all(PySequence_Fast_ITEMS(given), static_cast<std::size_t>(PyTuple_GET_SIZE(given)));
        const char* method = configure == &Function::mapped         ? "map"
                             : configure == &Function::with_options ? "options"
                                                                    : "accumulate";
        const py::handle one = only_one(method, all);
        const auto chosen = one ? py::reinterpret_borrow<py::object>(one) : py::object(py::none());
        const py::dict named = own_dict(keywords);
        return copied(self, [&](const Function& function) { return (function.*configure)(chosen, named); });
    });
}

PyObject* backward_of(PyObject* self, void* /*closure*/) {
    return guarded([&]() -> py::object {
        const Function& function = function_of(self);
        if (!function.info().differentiable) return py::none();
        return make(types().backward, call<run<PassKind::backward>>, function);
    });
}

PyObject* fused_of(PyObject* self, void* /*closure*/) {
    return guarded([&]() -> py::object {
        const Function& function = function_of(self);
        if (!function.info().has_fused) return py::none();
        return make(types().fused, call<run<PassKind::fused>>, function);
    });
}

PyObject* jvp_of(PyObject* self, void* /*closure*/) {
    return guarded([&]() -> py::object {
        const Function& function = function_of(self);
        if (function.info().jvp == nullptr) return py::none();
        return make(types().jvp, call<run_jvp>, function.with(function.info().jvp));
    });
}

template <const PassWords& pass>
PyObject* refuse_pass(PyObject* self) {
    return guarded([&]() -> py::object { refuse_absent(function_of(self), pass); });
}

/// f.backward(...) and its kin, of an attribute that may be None.
template <PyObject* (&get)(PyObject*, void*), PyObject* (&refused)(PyObject*)>
PyObject* call_optional_pass(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
    const auto pass = py::reinterpret_steal<py::object>(get(self, nullptr));
    if (!pass) return nullptr;
    if (pass.is_none()) return refused(self);
    return PyObject_Vectorcall(pass.ptr(), values, static_cast<std::size_t>(count), names);
}

template <PassKind pass, bool tangents>
PyObject* signature(PyObject* self, void* /*closure*/) {
    return guarded([&] { return signature_of(function_of(self).info(), pass, tangents); });
}

/// torch(...): the package's Python part makes it, which alone imports PyTorch.
PyObject* torch_operator(PyObject* self, PyObject* given, PyObject* keywords) {
    return guarded([&] {
        if (PyTuple_GET_SIZE(given) > 0) throw py::type_error("torch() takes keyword arguments only");
        return py::module_::import("kernelfunctions.torch")
            .attr("operator")(py::reinterpret_borrow<py::object>(self), **own_dict(keywords));
    });
}

PyObject* globals(PyObject* self, void* /*closure*/) {
    return guarded([&] {
        py::list names;
        for (const py::object& name : function_of(self).info().globals) names.append(name);
        return names;
    });
}

PyObject* name(PyObject* self, void* /*closure*/) {
    return guarded([&] { return function_of(self).info().name; });
}

PyObject* signatures(PyObject* self, void* /*closure*/) {
    return guarded([&] {
        const manifest::Function& function = function_of(self).info().function;
        py::list texts;
        for (const auto& overload : function.calls) texts.append(detail::describe(function, overload));
        return texts;
    });
}

/// Returns an attribute that Python's own functions have: what was set, else the function's own.
PyObject* attribute(PyObject* self, void* closure) {
    return guarded([&]() -> py::object {
        const auto* attribute_name = static_cast<const char*>(closure);
        const FunctionObject& object = object_of(self);
        if (object.attributes != nullptr) {
            if (PyObject* found = PyDict_GetItemString(object.attributes, attribute_name))
                return py::reinterpret_borrow<py::object>(found);
        }
        const FunctionInfo& info = object.function.info();
        return attribute_name == std::string_view("__doc__") ? info.documentation : info.name;
    });
}

int set_attribute(PyObject* self, PyObject* value, void* closure) {
    const auto* attribute_name = static_cast<const char*>(closure);
    PyObject* const attributes = PyObject_GenericGetDict(self, nullptr);
    if (attributes == nullptr) return -1;
    const auto kept = py::reinterpret_steal<py::object>(attributes);
    if (value != nullptr) return PyDict_SetItemString(attributes, attribute_name, value);
    if (PyDict_DelItemString(attributes, attribute_name) == 0) return 0;
    if (PyErr_ExceptionMatches(PyExc_KeyError) != 0) PyErr_SetString(PyExc_AttributeError, attribute_name);
    return -1;
}

PyObject* reduce(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return pickled(function_of(self), object_of(self).attributes); });
}

PyObject* reduce_backward(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return pickled_pass(function_of(self), "backward"); });
}

PyObject* reduce_fused(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return pickled_pass(function_of(self), "fused"); });
}

PyObject* reduce_jvp(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return pickled_pass(whole_of(function_of(self)), "jvp"); });
}

/// __copy__() and __deepcopy__(): what never changes is its own copy, as Python's functions are.
PyObject* itself(PyObject* self, PyObject* /*unused*/) { return Py_NewRef(self); }

PyObject* repr(PyObject* self, const std::string& before, const std::string& after) {
    return guarded([&] { return py::str(before + function_name(self) + after); });
}

/// A method's function, whatever its signature, as tables have it.
template <class Method>
PyCFunction method(Method* implementation) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(implementation));
}

constexpr int by_vector = METH_FASTCALL | METH_KEYWORDS;
constexpr int by_dict = METH_VARARGS | METH_KEYWORDS;

/// What configures functions and their passes alike.
const std::array configuring_methods = std::to_array<PyMethodDef>({
    {"set", method(set), by_vector,
     "set($self, values=None, /, **named)\n--\n\n"
     "A copy with global parameters set: set(tint=(1, 0, 0)), set({\"look.tint\": …}). What isn't "
     "named stays as it is, fields of a struct that is given as a dict too."},
    {"hook", configured_by<&Function::with_hook>, METH_O,
     "hook($self, callback, /)\n--\n\n"
     "A copy that calls `callback` with a kf.HookContext before each dispatch, its derivatives' and "
     "recorded ones too, after the hooks that it has. What the callback raises, the call raises, and "
     "nothing of it runs."},
    {"options", method(configured<&Function::with_options>), by_dict,
     "options($self, given=None, /, **chosen)\n--\n\n"
     "A copy that is called with these options. deterministic=True: gradients that several calls "
     "add to are the same bits each time, by kernels that the call spec asks for. variant=\"tiled\": "
     "one of the call spec's variants, also by what it has, threads=[8, 8], constants={\"N\": 8} or "
     "types={\"VAL\": \"Val10\"}, where exactly one has all of that. constants={\"N\": 8} also gives "
     "values to "
     "constants that the call spec lists for run time to choose."},
    {"typeconformance", configured_by<&Function::with_conformances>, METH_O,
     "typeconformance($self, types, /)\n--\n\n"
     "A copy that is the variant with exactly these types behind interfaces: {\"IVal\": [\"Val10\"]}."},
    {"threads", method(launched<false>), METH_FASTCALL,
     "threads($self, x, y=1, z=1, /)\n--\n\n"
     "A copy that runs so many threads, x first: of entry points, and of calls whose spec says "
     "\"dispatch\": \"threads\". Of an entry point whole groups run."},
    {"groups", method(launched<true>), METH_FASTCALL,
     "groups($self, x, y=1, z=1, /)\n--\n\n"
     "A copy that runs so many groups of threads, x first: see threads()."},
    {"return_type", configured_by<&Function::with_results>, METH_O,
     "return_type($self, type, /)\n--\n\n"
     "A copy whose outputs that aren't given come back as kf.Tensor, np.ndarray or torch.Tensor, or by "
     "name: \"tensor\", \"numpy\", \"torch\". None: as usual."},
    {"accumulate", method(configured<&Function::accumulated>), by_dict,
     "accumulate($self, chosen=None, /, **ways)\n--\n\n"
     "A copy for which calls that share an element of an output or gradient are combined so, of what "
     "the call spec offers: {\"result\": \"sum\", \"a.grad\": \"push\"}, or result=\"sum\". What isn't "
     "named stays as it is."},
    {"map", method(configured<&Function::mapped>), by_dict,
     "map($self, chosen=None, /, **maps)\n--\n\n"
     "A copy that has the dimensions of arguments there in the call, of what the call spec has: "
     "{\"w\": [1]}, or w=[1]. What isn't named may lie anywhere."},
});

/// What the four classes have alike, in a table that ends with an empty entry. `own`: one's own before that.
template <Run& run, std::size_t count = 0>
auto call_methods(PyCFunction reduced, const std::array<PyMethodDef, count>& own = {}) {
    const auto calls = std::to_array<PyMethodDef>({
        {"call", method(call_method<run>), by_vector,
         "call($self, /, *args, **kwargs)\n--\n\nThe same as calling it."},
        {"append_to", method(append_to<run>), by_vector,
         "append_to($self, encoder, /, *args, **kwargs)\n--\n\n"
         "Records the call. Outputs are tensors that hold values once it ran."},
        {"prepare", method(prepare<run>), by_vector,
         "prepare($self, /, *args, **kwargs)\n--\n\n"
         "A kf.Prepared: the call with its tensors and shapes settled, to run often with other values. "
         "Nothing runs yet."},
        {"node", node, METH_NOARGS,
         "node($self, /)\n--\n\n"
         "A kf.Node: called in a with kf.Graph() block it records the call, and its set() changes the "
         "values of that call alone."},
        {"__reduce__", reduced, METH_NOARGS, nullptr},
        {"__copy__", itself, METH_NOARGS, nullptr},
        {"__deepcopy__", itself, METH_O, nullptr},
    });
    std::array<PyMethodDef, calls.size() + configuring_methods.size() + count + 1> all{};
    std::ranges::copy(own,
                      std::ranges::copy(configuring_methods, std::ranges::copy(calls, all.begin()).out).out);
    return all;
}

/// What other packages call a function's backward pass.
PyObject* refuse_other_word(PyObject* self, void* closure) {
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s': did you mean 'backward'?",
                 Py_TYPE(self)->tp_name, static_cast<const char*>(closure));
    return nullptr;
}

/// Makes a class and adds it to the module. `slots`: those that it doesn't share with the others.
PyTypeObject* make_class(py::module_& module, const char* qualified, bool has_attributes,
                         std::vector<PyType_Slot> slots) {
    static PyMemberDef members[] = {
        {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, attributes), READONLY, nullptr},
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY, nullptr},
        {},
    };
    slots.insert(slots.end(), {{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                               {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                               {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                               {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                               {Py_tp_members, has_attributes ? members : members + 1},
                               {0, nullptr}});
    // Immutable, since calls would pass by another __call__ that somebody gives the class.
    constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE;
    PyType_Spec spec{qualified, sizeof(FunctionObject), 0, flags, slots.data()};
    PyObject* const type = PyType_FromSpec(&spec);
    if (type == nullptr) throw py::error_already_set();
    module.attr(std::string(qualified).substr(std::string_view(qualified).rfind('.') + 1).c_str()) =
        py::handle(type);
    return reinterpret_cast<PyTypeObject*>(type);
}

/// Makes kf.Backward and its kin.
template <Run& run, PassKind pass = PassKind::forward>
PyTypeObject* make_pass_class(py::module_& module, const char* qualified, const char* doc, reprfunc shown_as,
                              PyCFunction reduced) {
    static auto methods = call_methods<run>(reduced);
    static std::array<PyGetSetDef, 2> properties{
        {{"__signature__", signature<pass, pass == PassKind::forward>, nullptr, nullptr, nullptr}, {}}};
    return make_class(module, qualified, false,
                      {{Py_tp_methods, methods.data()},
                       {Py_tp_getset, properties.data()},
                       {Py_tp_repr, reinterpret_cast<void*>(shown_as)},
                       {Py_tp_doc, const_cast<char*>(doc)}});
}

/// What traces calls of functions, and names the function: see trace_calls(). Made once, never destroyed.
PyObject*& key_maker() {
    static PyObject* maker = nullptr;
    return maker;
}

/// A function's own attributes. What traced calls name it by, and look at, is put there once somebody looks.
PyObject* attributes_of(PyObject* self, void* /*closure*/) {
    auto attributes = py::reinterpret_steal<py::object>(PyObject_GenericGetDict(self, nullptr));
    if (!attributes || key_maker() == nullptr) return attributes.release().ptr();
    static PyObject* const name = PyUnicode_InternFromString("_torch_key");
    if (PyDict_GetItemWithError(attributes.ptr(), name) == nullptr) {
        if (PyErr_Occurred() != nullptr) return nullptr;
        const auto made = py::reinterpret_steal<py::object>(PyObject_CallOneArg(key_maker(), self));
        if (!made || PyDict_Update(attributes.ptr(), made.ptr()) != 0) return nullptr;
    }
    return attributes.release().ptr();
}

/// Gives kf.Function a __call__ that is written in Python, which torch.compile finds there and follows. Calls
/// never get there: they go by the type's slot, which this leaves as it is.
void trace_calls(const py::object& call, const py::object& key_of) {
    PyTypeObject* const type = types().function;
    if (PyDict_SetItemString(type->tp_dict, "__call__", call.ptr()) != 0) throw py::error_already_set();
    PyType_Modified(type);
    Py_XSETREF(key_maker(), Py_NewRef(key_of.ptr()));
}

/// Gives kf.Function its backward, fused and jvp.
void add_passes(PyTypeObject* type) {
    static PyGetSetDef properties[] = {
        {"backward", backward_of, nullptr, "None where the function is not differentiable.", nullptr},
        {"fused", fused_of, nullptr, "None where the call spec doesn't ask for it.", nullptr},
        {"jvp", jvp_of, nullptr, "None where the call spec doesn't ask for it.", nullptr},
    };
    static PyMethodDef methods[] = {
        {"backward", method(call_optional_pass<backward_of, refuse_pass<backward_pass>>), by_vector, nullptr},
        {"fused", method(call_optional_pass<fused_of, refuse_pass<fused_pass>>), by_vector, nullptr},
        {"jvp", method(call_optional_pass<jvp_of, refuse_pass<forward_derivative>>), by_vector, nullptr},
    };
    for (std::size_t i = 0; i < std::size(methods); ++i) {
        const auto property = py::reinterpret_steal<py::object>(PyDescr_NewGetSet(type, &properties[i]));
        const auto called = py::reinterpret_steal<py::object>(PyDescr_NewMethod(type, &methods[i]));
        if (!property || !called) throw py::error_already_set();
        const py::object both = make_optional_method(property, called);
        if (PyDict_SetItemString(type->tp_dict, methods[i].ml_name, both.ptr()) != 0)
            throw py::error_already_set();
    }
    PyType_Modified(type);
}

PyTypeObject* make_function_class(py::module_& module) {
    static auto methods = call_methods<run<PassKind::forward>>(
        reduce,
        std::to_array<PyMethodDef>({{"torch", method(torch_operator), by_dict,
                                     "torch($self, /)\n--\n\n"
                                     "The function as an operator of PyTorch, with its configuration."}}));
    static char names[][13] = {"__name__", "__qualname__", "__doc__"};
    static char other_words[][10] = {"bwds", "bwd", "backwards"};
    static PyGetSetDef properties[] = {
        {"__name__", attribute, set_attribute, nullptr, names[0]},
        {"__qualname__", attribute, set_attribute, nullptr, names[1]},
        {"__doc__", attribute, set_attribute, nullptr, names[2]},
        {"__dict__", attributes_of, PyObject_GenericSetDict, nullptr, nullptr},
        {"name", name, nullptr, nullptr, nullptr},
        {"signatures", signatures, nullptr, "The overloads, as messages show them.", nullptr},
        {"globals", globals, nullptr, "The global parameters that it reaches.", nullptr},
        {"__signature__", signature<PassKind::forward, false>, nullptr, nullptr, nullptr},
        {"bwds", refuse_other_word, nullptr, nullptr, other_words[0]},
        {"bwd", refuse_other_word, nullptr, nullptr, other_words[1]},
        {"backwards", refuse_other_word, nullptr, nullptr, other_words[2]},
        {},
    };
    constexpr reprfunc shown_as = [](PyObject* self) {
        return guarded(
            [&] { return py::str("<kernel function " + signature_text(function_of(self).info()) + ">"); });
    };
    PyTypeObject* const type = make_class(module, "kernelfunctions._kf.Function", true,
                                          {{Py_tp_methods, methods.data()},
                                           {Py_tp_getset, properties},
                                           {Py_tp_repr, reinterpret_cast<void*>(shown_as)}});
    add_passes(type);
    return type;
}

}  // namespace

py::object make_function(const Function& function) { return make(types().function, forward, function); }

const Function* held_function(py::handle object) {
    return Py_IS_TYPE(object.ptr(), types().function) ? &function_of(object.ptr()) : nullptr;
}

const Function& function_given(py::handle object) {
    const Function* const function = held_function(object);
    if (function == nullptr)
        refuse(ErrorCode::type_mismatch, {}, "a kf.Function is needed, not " + shown(object));
    return *function;
}

const Function* held_backward(py::handle object) {
    return Py_IS_TYPE(object.ptr(), types().backward) ? &function_of(object.ptr()) : nullptr;
}

void bind_function_types(py::module_& module) {
    types().function = make_function_class(module);
    types().backward = make_pass_class<run<PassKind::backward>, PassKind::backward>(
        module, "kernelfunctions._kf.Backward",
        "The backward pass of a function, with its configuration.\n\n"
        "Takes the function's arguments, then its result, whose gradient flows in (1 where there "
        "is none).\nGradients of inputs accumulate into tensors' `grad_out` and differentiable "
        "values' `grad`.",
        [](PyObject* self) { return repr(self, "<backward pass of ", ">"); }, reduce_backward);
    types().fused = make_pass_class<run<PassKind::fused>, PassKind::fused>(
        module, "kernelfunctions._kf.Fused",
        "A loss and its gradients in one launch.\n\n"
        "Takes the function's arguments and returns its result, as the function does; the gradients "
        "of the\nresult's sum are added to those that inputs carry, as by the backward pass.",
        [](PyObject* self) { return repr(self, "<fused pass of ", ">"); }, reduce_fused);
    types().jvp = make_pass_class<run_jvp>(
        module, "kernelfunctions._kf.Jvp",
        "The forward derivative of a function: a Jacobian times a vector.\n\n"
        "Takes the function's arguments, and tangents={\"x\": dx} for any of its differentiable "
        "inputs;\nothers have none, which is 0. Returns two things: what the function returns, and "
        "its tangent.",
        [](PyObject* self) { return repr(self, "<", ">"); }, reduce_jvp);
    module.def("_trace_calls", &trace_calls, py::arg("call"), py::arg("attributes_of"),
               "Lets torch.compile follow functions' calls through call(), which finds "
               "attributes_of(function), a dict with the key by which it names them, among the function's "
               "own.");
}

}  // namespace kf::python
