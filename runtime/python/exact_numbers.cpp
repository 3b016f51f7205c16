// Packs Python's own numbers.
#include "python/exact_numbers.h"

#include <kf/half.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace kf::python {
namespace {

template <class T>
bool put_number(std::byte* target, T value) {
    std::memcpy(target, &value, sizeof value);
    return true;
}

/// A finite number must stay finite.
template <class T>
bool put_floating(std::byte* target, double number) {
    const T narrow = static_cast<T>(number);
    if (std::isfinite(number) && !std::isfinite(static_cast<float>(narrow))) return false;
    return put_number(target, narrow);
}

template <class T>
bool put_integer(std::byte* target, PyObject* integer) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (overflow != 0 || number < static_cast<long long>(std::numeric_limits<T>::min()) ||
        number > static_cast<long long>(std::numeric_limits<T>::max()))
        return false;
    return put_number(target, static_cast<T>(number));
}

bool put_largest(std::byte* target, PyObject* integer) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(integer);
    if (number == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
    }
    return put_number(target, static_cast<std::uint64_t>(number));
}

bool put_as_floating(std::byte* target, PyObject* value, ScalarType scalar) {
    const bool is_float = Py_TYPE(value) == &PyFloat_Type;
    const double number = is_float ? PyFloat_AS_DOUBLE(value) : PyLong_AsDouble(value);
    if (!is_float && number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
    }
    switch (scalar) {
        case ScalarType::float16: return put_floating<half>(target, number);
        case ScalarType::float32: return put_floating<float>(target, number);
        default: return put_number(target, number);
    }
}

}  // namespace

bool pack_exact_number(PyObject* value, ScalarType scalar, std::byte* target) {
    using enum ScalarType;
    const bool is_bool = Py_TYPE(value) == &PyBool_Type;
    if (is_bool != (scalar == boolean)) return false;
    if (is_bool) return put_number(target, static_cast<std::uint8_t>(value == Py_True));
    if (is_floating(scalar)) return put_as_floating(target, value, scalar);
    if (Py_TYPE(value) != &PyLong_Type) return false;
    switch (scalar) {
        case int8: return put_integer<std::int8_t>(target, value);
        case int16: return put_integer<std::int16_t>(target, value);
        case int32: return put_integer<std::int32_t>(target, value);
        case int64: return put_integer<std::int64_t>(target, value);
        case uint8: return put_integer<std::uint8_t>(target, value);
        case uint16: return put_integer<std::uint16_t>(target, value);
        case uint32: return put_integer<std::uint32_t>(target, value);
        default: return put_largest(target, value);
    }
}

}  // namespace kf::python
