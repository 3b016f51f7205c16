// How C++ objects are taken out of Python's: those that __new__() alone has made hold none.
#pragma once

#include <pybind11/pybind11.h>

#include <kf/device.h>
#include <kf/options.h>

#include <concepts>
#include <string>

namespace kf::python {

/// What Python has as a class: of the extension's own types, those that say so by a member PythonClass.
template <class T>
concept BoundClass = std::same_as<T, DeviceInfo> || std::same_as<T, Options> || requires {
    typename T::PythonClass;
};

/// Returns what an object holds; refuses one that holds nothing.
inline void* value_of(const pybind11::detail::value_and_holder& found) {
    if (found.value_ptr() == nullptr) {
        const std::string of = Py_TYPE(reinterpret_cast<PyObject*>(found.inst))->tp_name;
        throw pybind11::type_error("this " + of + " was made by __new__() alone and holds nothing: " +
                                   "__init__() of its class wasn't called");
    }
    return found.value_ptr();
}

}  // namespace kf::python

namespace pybind11::detail {

/// pybind11's own would make room for the missing object, and leave what is in there as it is. It would also
/// call methods on None, as if that were a null pointer that is meant.
template <kf::python::BoundClass T>
class type_caster<T> : public type_caster_base<T> {
    using Base = type_caster_base<T>;

public:
    using Base::Base;

    bool load(handle source, bool convert) {
        return !source.is_none() && Base::template load_impl<type_caster<T>>(source, convert);
    }

private:
    friend class type_caster_generic;

    void load_value(value_and_holder&& found) { this->value = kf::python::value_of(found); }
};

}  // namespace pybind11::detail

namespace kf::python {

/// Returns the T in an object of its class, or of one that is derived from it; else null. Much faster than
/// isinstance() and a cast, which ask the interpreter and pybind11's table of types.
template <BoundClass T>
T* held(pybind11::handle object) {
    static auto* const type = reinterpret_cast<PyTypeObject*>(pybind11::type::of<T>().release().ptr());
    PyTypeObject* const found = Py_TYPE(object.ptr());
    if (found == type) {
        auto* instance = reinterpret_cast<pybind11::detail::instance*>(object.ptr());
        return static_cast<T*>(value_of(instance->get_value_and_holder()));
    }
    // Numbers, lists and arrays, among others.
    if (PyType_HasFeature(found, Py_TPFLAGS_HEAPTYPE) == 0 || PyType_IsSubtype(found, type) == 0)
        return nullptr;
    return pybind11::cast<T*>(object);
}

/// Returns the T in an object of exactly its class; null in one that __new__() alone has made.
template <BoundClass T>
const T* content(PyObject* object) {
    const auto* instance = reinterpret_cast<const pybind11::detail::instance*>(object);
    return instance->simple_layout ? static_cast<const T*>(instance->simple_value_holder[0]) : nullptr;
}

}  // namespace kf::python
