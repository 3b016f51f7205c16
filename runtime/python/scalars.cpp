// The scalar types of kernels and NumPy's dtypes, one for one; and Python numbers as bytes.
#include "python/scalars.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/argument.h"
#include "core/describe.h"
#include "python/arrays.h"
#include "python/attributes.h"
#include "python/errors.h"

namespace kf::python {

using detail::Refusal;
using detail::refused;

namespace {

// NumPy's type numbers, of which pybind11 knows only some.
constexpr std::array<int, 12> numbers{0, 1, 3, 5, 7, 2, 4, 6, 8, 23, 11, 12};

template <class T>
void store(std::byte* target, T value) {
    std::memcpy(target, &value, sizeof value);
}

template <class T>
T load(const std::byte* source) {
    T value;
    std::memcpy(&value, source, sizeof value);
    return value;
}

std::string dtype_text(const py::dtype& dtype) {
    return std::string(py::str(static_cast<py::handle>(dtype)));
}

std::string article(ScalarType scalar) {
    const std::string name = numpy_name(scalar);
    return (name[0] == 'i' ? "an " : "a ") + name;
}

bool refused_range(py::handle value, ScalarType scalar, Refusal* why, const std::string& range) {
    return refused(why, ErrorCode::value_range,
                   [&] { return shown(value) + " doesn't fit " + article(scalar) + " (" + range + ")"; });
}

template <class T>
std::string range_of() {
    return std::to_string(std::numeric_limits<T>::min()) + " to " +
           std::to_string(std::numeric_limits<T>::max());
}

template <class T>
bool pack_integer(py::handle value, PyObject* integer, ScalarType scalar, std::byte* target, Refusal* why) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
        const unsigned long long number = PyLong_AsUnsignedLongLong(integer);
        if (number == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
            PyErr_Clear();
            return refused_range(value, scalar, why, range_of<T>());
        }
        store(target, static_cast<T>(number));
    } else {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(integer, &overflow);
        if (overflow != 0 || number < static_cast<long long>(std::numeric_limits<T>::min()) ||
            number > static_cast<long long>(std::numeric_limits<T>::max())) {
            return refused_range(value, scalar, why, range_of<T>());
        }
        store(target, static_cast<T>(number));
    }
    return true;
}

/// Rounds to nearest; a finite number that overflows is out of range.
template <class T>
bool pack_floating(py::handle value, double number, ScalarType scalar, std::byte* target, Refusal* why) {
    const T narrow = static_cast<T>(number);
    if (std::isfinite(number) && !std::isfinite(static_cast<double>(static_cast<float>(narrow))) &&
        !std::is_same_v<T, double>) {
        const double largest = std::is_same_v<T, half> ? 65504.0 : double{std::numeric_limits<float>::max()};
        return refused_range(value, scalar, why, "up to " + std::string(py::str(py::float_(largest))));
    }
    store(target, narrow);
    return true;
}

}  // namespace

std::optional<std::pair<int, int>> pair_of_ints(py::handle value) {
    if (PySequence_Check(value.ptr()) == 0 || PySequence_Size(value.ptr()) != 2) {
        PyErr_Clear();
        return std::nullopt;
    }
    std::array<int, 2> found{};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto item =
            py::reinterpret_steal<py::object>(PySequence_GetItem(value.ptr(), static_cast<Py_ssize_t>(i)));
        if (!item) throw py::error_already_set();
        if (PyIndex_Check(item.ptr()) == 0) return std::nullopt;
        const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr()));
        if (!integer) throw py::error_already_set();
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
        if (overflow != 0 || number > INT_MAX || number < INT_MIN) return std::nullopt;
        found[i] = static_cast<int>(number);
    }
    return std::pair(found[0], found[1]);
}

bool is_instance(py::handle value, py::handle type) {
    const int is_it = PyObject_IsInstance(value.ptr(), type.ptr());
    if (is_it < 0) throw py::error_already_set();
    return is_it == 1;
}

bool is_numpy_scalar(py::handle value) {
    static PyObject* generic = nullptr;
    return is_instance(
        value, found_once(generic, [] { return py::object(py::module_::import("numpy").attr("generic")); }));
}

bool is_integer(py::handle value) {
    if (PyLong_CheckExact(value.ptr())) return true;
    return PyIndex_Check(value.ptr()) != 0 && PyBool_Check(value.ptr()) == 0;
}

std::int64_t integer_of(py::handle value, const Where& where, std::int64_t low, std::int64_t high,
                        const char* range) {
    const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!integer) throw py::error_already_set();
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow != 0 || number < low || number > high) {
        refuse(ErrorCode::value_range, where,
               std::string("expected a number ") + range + ", found " + shown(value));
    }
    return number;
}

const char* numpy_name(ScalarType scalar) { return manifest::scalar_words[static_cast<std::size_t>(scalar)]; }

py::dtype dtype_of(ScalarType scalar) { return py::dtype(numbers[static_cast<std::size_t>(scalar)]); }

std::optional<ScalarType> scalar_of(const py::dtype& dtype) {
    const char order = dtype.byteorder();
    if (order != '=' && order != '|') return std::nullopt;
    const auto sized = [&](std::initializer_list<ScalarType> candidates) -> std::optional<ScalarType> {
        for (const ScalarType scalar : candidates) {
            if (static_cast<py::ssize_t>(size_of(scalar)) == dtype.itemsize()) return scalar;
        }
        return std::nullopt;
    };
    using enum ScalarType;
    switch (dtype.kind()) {
        case 'b': return boolean;
        case 'i': return sized({int8, int16, int32, int64});
        case 'u': return sized({uint8, uint16, uint32, uint64});
        case 'f': return sized({float16, float32, float64});
        default: return std::nullopt;
    }
}

std::optional<ScalarType> scalar_of(const py::array& array, Refusal* why) {
    if (!is_unmasked(array, why)) return std::nullopt;
    const py::dtype dtype = array.dtype();
    const auto scalar = scalar_of(dtype);
    if (scalar) return scalar;
    const bool foreign = dtype.byteorder() == '>' || dtype.byteorder() == '<';
    refused(why, ErrorCode::type_mismatch, [&] {
        return "kernels have no dtype " + dtype_text(dtype) +
               (foreign ? ": convert it to the machine's byte order" : known_dtypes);
    });
    return std::nullopt;
}

ScalarType scalar_of(const py::array& array, const Where& where) {
    Refusal why;
    if (const auto scalar = scalar_of(array, &why)) return *scalar;
    refuse(why, where);
}

py::dtype numpy_dtype(py::handle value, const Where& where) {
    try {
        return py::dtype::from_args(py::reinterpret_borrow<py::object>(value));
    } catch (const py::error_already_set& error) {
        if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    }
    refuse(ErrorCode::type_mismatch, where, "a dtype is needed, as in np.float32, not " + shown(value));
}

ScalarType parse_dtype(py::handle dtype, const Where& where) {
    if (dtype.is_none()) return ScalarType::float32;
    const py::dtype parsed = numpy_dtype(dtype, where);
    if (const auto scalar = scalar_of(parsed)) return *scalar;
    refuse(ErrorCode::type_mismatch, where, "kernels have no dtype " + dtype_text(parsed) + known_dtypes);
}

std::optional<ScalarType> own_type(py::handle value) {
    PyObject* object = value.ptr();
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object)) return std::nullopt;
    if (!is_numpy_scalar(object)) return std::nullopt;
    return scalar_of(py::cast<py::dtype>(value.attr("dtype")));
}

std::optional<ScalarType> number_kind(py::handle value) {
    PyObject* object = value.ptr();
    if (PyFloat_Check(object)) return ScalarType::float64;
    if (PyBool_Check(object)) return ScalarType::boolean;
    if (PyLong_Check(object)) return ScalarType::int64;
    if (!is_numpy_scalar(object)) return std::nullopt;
    switch (py::cast<py::dtype>(value.attr("dtype")).kind()) {
        case 'b': return ScalarType::boolean;
        case 'i':
        case 'u': return ScalarType::int64;
        case 'f': return ScalarType::float64;
        default: return std::nullopt;
    }
}

bool pack_number(py::handle value, ScalarType scalar, std::byte* target, Refusal* why) {
    const auto kind = number_kind(value);
    if (!kind) {
        return refused(why, ErrorCode::type_mismatch, [&] {
            return shown(value) + " (" + detail::with_article(type_name(value)) +
                   ") is not a number: " + article(scalar) + " is needed";
        });
    }
    if (scalar == ScalarType::boolean) {
        if (*kind != ScalarType::boolean) {
            return refused(why, ErrorCode::type_mismatch,
                           [&] { return shown(value) + " is not a bool: give True or False"; });
        }
        const int truth = PyObject_IsTrue(value.ptr());
        if (truth < 0) throw py::error_already_set();
        store(target, static_cast<std::uint8_t>(truth));
        return true;
    }
    if (*kind == ScalarType::boolean) {
        return refused(why, ErrorCode::type_mismatch, [&] {
            return shown(value) + " is a bool where " + article(scalar) + " is needed; convert it yourself";
        });
    }
    if (is_floating(scalar)) {
        // An int without a float in between.
        double number =
            PyLong_CheckExact(value.ptr()) ? PyLong_AsDouble(value.ptr()) : PyFloat_AsDouble(value.ptr());
        if (number == -1.0 && PyErr_Occurred() != nullptr) {
            if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw py::error_already_set();
            PyErr_Clear();
            return refused_range(value, scalar, why, "too large");
        }
        // A long double may be larger than any double.
        if (std::isinf(number) && PyFloat_Check(value.ptr()) == 0 &&
            !py::cast<bool>(py::module_::import("numpy").attr("isinf")(value)))
            return refused_range(value, scalar, why, "too large");
        if (scalar == ScalarType::float16) return pack_floating<half>(value, number, scalar, target, why);
        if (scalar == ScalarType::float32) return pack_floating<float>(value, number, scalar, target, why);
        store(target, number);
        return true;
    }
    if (*kind == ScalarType::float64) {
        return refused(why, ErrorCode::type_mismatch, [&] {
            return shown(value) + " is a float where " + article(scalar) + " is needed; convert it yourself";
        });
    }
    const auto integer = py::reinterpret_steal<py::object>(PyNumber_Long(value.ptr()));
    if (!integer) throw py::error_already_set();
    using enum ScalarType;
    switch (scalar) {
        case int8: return pack_integer<std::int8_t>(value, integer.ptr(), scalar, target, why);
        case int16: return pack_integer<std::int16_t>(value, integer.ptr(), scalar, target, why);
        case int32: return pack_integer<std::int32_t>(value, integer.ptr(), scalar, target, why);
        case int64: return pack_integer<std::int64_t>(value, integer.ptr(), scalar, target, why);
        case uint8: return pack_integer<std::uint8_t>(value, integer.ptr(), scalar, target, why);
        case uint16: return pack_integer<std::uint16_t>(value, integer.ptr(), scalar, target, why);
        case uint32: return pack_integer<std::uint32_t>(value, integer.ptr(), scalar, target, why);
        default: return pack_integer<std::uint64_t>(value, integer.ptr(), scalar, target, why);
    }
}

void pack_number(py::handle value, ScalarType scalar, std::byte* target, const Where& where) {
    Refusal why;
    if (!pack_number(value, scalar, target, &why)) refuse(why, where);
}

py::object unpack_number(ScalarType scalar, const std::byte* source) {
    using enum ScalarType;
    switch (scalar) {
        case boolean: return py::bool_(load<std::uint8_t>(source) != 0);
        case int8: return py::int_(load<std::int8_t>(source));
        case int16: return py::int_(load<std::int16_t>(source));
        case int32: return py::int_(load<std::int32_t>(source));
        case int64: return py::int_(load<std::int64_t>(source));
        case uint8: return py::int_(load<std::uint8_t>(source));
        case uint16: return py::int_(load<std::uint16_t>(source));
        case uint32: return py::int_(load<std::uint32_t>(source));
        case uint64: return py::int_(load<std::uint64_t>(source));
        case float16: return py::float_(static_cast<double>(static_cast<float>(load<half>(source))));
        case float32: return py::float_(static_cast<double>(load<float>(source)));
        default: return py::float_(load<double>(source));
    }
}

}  // namespace kf::python
