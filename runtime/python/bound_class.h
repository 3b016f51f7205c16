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

}  // namespace kf::python

namespace pybind11::detail {

/// pybind11's own would make room for the missing object, and leave what is in there as it is.
template <kf::python::BoundClass T>
class type_caster<T> : public type_caster_base<T> {
    using Base = type_caster_base<T>;

public:
    using Base::Base;

    bool load(handle source, bool convert) {
        return Base::template load_impl<type_caster<T>>(source, convert);
    }

private:
    friend class type_caster_generic;

    void load_value(value_and_holder&& found) {
        if (found.value_ptr() == nullptr) {
            const std::string of = Py_TYPE(reinterpret_cast<PyObject*>(found.inst))->tp_name;
            throw type_error("this " + of + " was made by __new__() alone and holds nothing: __init__() of " +
                             "its class wasn't called");
        }
        this->value = found.value_ptr();
    }
};

}  // namespace pybind11::detail
