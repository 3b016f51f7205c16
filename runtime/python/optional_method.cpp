// What a class has as an attribute that may be None, and that says why when it is called all the same.
#include "python/optional_method.h"

#include <structmember.h>

#include <array>

#include "python/errors.h"

namespace kf::python {
namespace {

struct OptionalMethod {
    PyObject head;
    vectorcallfunc vectorcall;
    PyObject* property;
    PyObject* method;
};

PyTypeObject*& optional_method_type() {
    static PyTypeObject* type = nullptr;  // made once, never destroyed
    return type;
}

OptionalMethod& optional_of(PyObject* self) { return *reinterpret_cast<OptionalMethod*>(self); }

PyObject* call_optional(PyObject* self, PyObject* const* values, std::size_t count, PyObject* names) {
    return PyObject_Vectorcall(optional_of(self).method, values, count, names);
}

PyObject* get_optional(PyObject* self, PyObject* object, PyObject* type) {
    if (object == nullptr) return Py_NewRef(self);
    PyObject* const property = optional_of(self).property;
    return Py_TYPE(property)->tp_descr_get(property, object, type);
}

int set_optional(PyObject* self, PyObject* object, PyObject* value) {
    PyObject* const property = optional_of(self).property;
    return Py_TYPE(property)->tp_descr_set(property, object, value);
}

PyObject* optional_doc(PyObject* self, void* /*closure*/) {
    return PyObject_GetAttrString(optional_of(self).property, "__doc__");
}

int traverse_optional(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(optional_of(self).property);
    Py_VISIT(optional_of(self).method);
    return 0;
}

int clear_optional(PyObject* self) {
    Py_CLEAR(optional_of(self).property);
    Py_CLEAR(optional_of(self).method);
    return 0;
}

void deallocate_optional(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear_optional(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

PyTypeObject* make_optional_method_type() {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(OptionalMethod, vectorcall), READONLY, nullptr},
        {},
    };
    static PyGetSetDef properties[] = {{"__doc__", optional_doc, nullptr, nullptr, nullptr}, {}};
    std::array<PyType_Slot, 9> slots{{{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                      {Py_tp_descr_get, reinterpret_cast<void*>(&get_optional)},
                                      {Py_tp_descr_set, reinterpret_cast<void*>(&set_optional)},
                                      {Py_tp_traverse, reinterpret_cast<void*>(&traverse_optional)},
                                      {Py_tp_clear, reinterpret_cast<void*>(&clear_optional)},
                                      {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate_optional)},
                                      {Py_tp_members, members},
                                      {Py_tp_getset, properties},
                                      {0, nullptr}}};
    constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                               Py_TPFLAGS_IMMUTABLETYPE;
    PyType_Spec spec{"kernelfunctions._kf._OptionalMethod", sizeof(OptionalMethod), 0, flags, slots.data()};
    PyObject* const type = PyType_FromSpec(&spec);
    if (type == nullptr) throw py::error_already_set();
    return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

py::object make_optional_method(py::handle property, py::handle method) {
    PyTypeObject*& type = optional_method_type();
    if (type == nullptr) type = make_optional_method_type();
    if (Py_TYPE(property.ptr())->tp_descr_set == nullptr)
        throw py::type_error("a property is needed, not " + type_name(property));
    auto* const self = PyObject_GC_New(OptionalMethod, type);
    if (self == nullptr) throw py::error_already_set();
    self->vectorcall = call_optional;
    self->property = Py_NewRef(property.ptr());
    self->method = Py_NewRef(method.ptr());
    auto* const object = reinterpret_cast<PyObject*>(self);
    PyObject_GC_Track(object);
    return py::reinterpret_steal<py::object>(object);
}

void bind_optional_method(py::module_& module) {
    module.def("_optional_method", &make_optional_method, py::arg("property"), py::arg("method"),
               "A descriptor: x.name is what the property gives, x.name(...) is method(x, ...).");
}

}  // namespace kf::python
