// kf.Prepared: a call that is settled once and runs often. A type of our own, since a run costs no more than
// its launch.
#include "python/prepared.h"

#include <structmember.h>

#include <array>
#include <new>
#include <optional>
#include <utility>

#include "core/device_state.h"
#include "core/encoder_state.h"
#include "core/graph_state.h"
#include "python/arguments.h"
#include "python/errors.h"
#include "python/function.h"
#include "python/gil.h"
#include "python/graph_block.h"
#include "python/kept_values.h"
#include "python/stream.h"

namespace kf::python {
namespace {

/// What a Python object of the class holds.
struct Prepared {
    NamedCall named;
    ContextPtr context;
    py::object result;
};

struct PreparedObject {
    PyObject head;
    vectorcallfunc vectorcall;
    PyObject* weak_references;
    Prepared prepared;
};

PyTypeObject*& prepared_type() {
    static PyTypeObject* type = nullptr;
    return type;
}

Prepared& prepared_of(PyObject* self) { return reinterpret_cast<PreparedObject*>(self)->prepared; }
const std::string& prepared_name(PyObject* self) { return prepared_of(self).named.info->function.name; }

/// Adds the call, as it is now, to what is being recorded.
void record_prepared(const Prepared& prepared, RecordedCalls& into) {
    if (into.keeps()) into.open(prepared.context);
    {
        const EncoderUse use(&into);
        const GilRelease release;
        PreparedCall(prepared.named.call).append_to(into.encoder());
    }
    if (into.keeps()) into.name(prepared.named.info);
}

py::object run_prepared(PyObject* self, const Arguments& given) {
    const Prepared& prepared = prepared_of(self);
    if (!given.positional.empty()) {
        refuse(ErrorCode::type_mismatch, {prepared_name(self), {}},
               "a prepared call has its arguments: it is called without any, and set(name=value) changes "
               "values");
    }
    std::optional<Device> on;
    for (std::size_t i = 0; i < given.keywords.size(); ++i) {
        const auto name = std::string(given.keywords.text(i));
        if (name != "stream") {
            refuse(ErrorCode::unknown_name, {prepared_name(self), {}},
                   "a prepared call takes no '" + name + "': set(" + name + "=…) changes a value");
        }
        if (Py_IsNone(given.keywords.values[i])) continue;
        const Where where{prepared_name(self), "stream"};
        on = prepared.context->device().with_stream(parse_stream(given.keywords.values[i], where));
    }
    if (const std::shared_ptr<RecordedCalls> into = recording()) {
        record_prepared(prepared, *into);
        return prepared.result;
    }
    {
        const GilRelease release;
        detail::KeptCall& call = *prepared.named.call;
        call.run(on ? *on->state() : *call.device());
    }
    return prepared.result;
}

/// The class's slots and methods.
struct PreparedMethods {
    static PyObject* call(PyObject* self, PyObject* const* values, std::size_t count, PyObject* names) {
        return guarded([&] { return run_prepared(self, Arguments::passed(values, count, names)); });
    }

    static PyObject* set(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
        return guarded([&]() -> py::object {
            const Arguments given = Arguments::passed(values, static_cast<std::size_t>(count), names);
            if (given.positional.size() > 1)
                throw py::type_error("set() takes at most 1 positional argument");
            set_values(prepared_name(self), {&prepared_of(self).named, 1},
                       given.positional.empty() ? nullptr : given.positional.front(), given.keywords,
                       &prepared_of(self).result);
            return py::none();
        });
    }

    static PyObject* append_to(PyObject* self, PyObject* encoder) {
        return guarded([&] {
            auto* const into = held<RecordedCalls>(encoder);
            if (into == nullptr) {
                refuse(ErrorCode::type_mismatch, {prepared_name(self), "encoder"},
                       "append_to() takes a kf.Encoder, not " + shown(encoder));
            }
            record_prepared(prepared_of(self), *into);
            return prepared_of(self).result;
        });
    }

    static PyObject* result(PyObject* self, void* /*closure*/) {
        return guarded([&] { return prepared_of(self).result; });
    }

    static PyObject* repr(PyObject* self) {
        return guarded([&] { return py::str("<prepared call of " + prepared_name(self) + ">"); });
    }

    static PyObject* refuse_pickle(PyObject* self, PyObject* /*unused*/) {
        return PyErr_Format(PyExc_TypeError, "cannot pickle '%s' object", Py_TYPE(self)->tp_name);
    }

    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        Py_VISIT(prepared_of(self).result.ptr());
        return 0;
    }

    static int clear(PyObject* self) {
        prepared_of(self).result = py::object();
        return 0;
    }

    static void deallocate(PyObject* self) {
        PyTypeObject* const type = Py_TYPE(self);
        PyObject_GC_UnTrack(self);
        auto* object = reinterpret_cast<PreparedObject*>(self);
        if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
        object->prepared.~Prepared();
        PyObject_GC_Del(self);
        Py_DECREF(type);
    }
};

PyTypeObject* make_prepared_class(py::module_& module) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(PreparedObject, vectorcall), READONLY, nullptr},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(PreparedObject, weak_references), READONLY, nullptr},
        {},
    };
    static PyMethodDef methods[] = {
        {"set", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(PreparedMethods::set)),
         METH_FASTCALL | METH_KEYWORDS,
         "set($self, values=None, /, **named)\n--\n\n"
         "Sets values, textures and samplers for later runs: set(a=2), set({\"ray.t\": 2}). Refused as the "
         "call would refuse them."},
        {"append_to", PreparedMethods::append_to, METH_O,
         "append_to($self, encoder, /)\n--\n\nRecords the call as it is now."},
        {"__reduce__", PreparedMethods::refuse_pickle, METH_NOARGS, nullptr},
        {},
    };
    static PyGetSetDef properties[] = {
        {"result", PreparedMethods::result, nullptr,
         "What the call returned when it was prepared: tensors that hold what the last run wrote.", nullptr},
        {},
    };
    static constexpr const char* doc =
        "A call whose tensors and shapes are settled. Calling it runs it again, and returns its result.";
    static std::array<PyType_Slot, 11> slots{
        {{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
         {Py_tp_traverse, reinterpret_cast<void*>(&PreparedMethods::traverse)},
         {Py_tp_clear, reinterpret_cast<void*>(&PreparedMethods::clear)},
         {Py_tp_dealloc, reinterpret_cast<void*>(&PreparedMethods::deallocate)},
         {Py_tp_members, members},
         {Py_tp_methods, methods},
         {Py_tp_getset, properties},
         {Py_tp_repr, reinterpret_cast<void*>(&PreparedMethods::repr)},
         {Py_tp_doc, const_cast<char*>(doc)},
         {0, nullptr}}};
    constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE;
    PyType_Spec spec{"kernelfunctions._kf.Prepared", sizeof(PreparedObject), 0, flags, slots.data()};
    PyObject* const type = PyType_FromSpec(&spec);
    if (type == nullptr) throw py::error_already_set();
    module.attr("Prepared") = py::handle(type);
    return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

py::object make_prepared(RecordedCalls& recorded, py::object result) {
    auto* self = PyObject_GC_New(PreparedObject, prepared_type());
    if (self == nullptr) throw py::error_already_set();
    self->vectorcall = PreparedMethods::call;
    self->weak_references = nullptr;
    new (&self->prepared) Prepared{recorded.named().back(), recorded.context(), std::move(result)};
    auto* object = reinterpret_cast<PyObject*>(self);
    PyObject_GC_Track(object);
    return py::reinterpret_steal<py::object>(object);
}

void bind_prepared(py::module_& module) { prepared_type() = make_prepared_class(module); }

}  // namespace kf::python
