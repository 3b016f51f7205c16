// The scalar types of kernels and NumPy's dtypes, one for one; and Python numbers as bytes.
#pragma once

#include <kf/types.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "core/given.h"
#include "python/common.h"

namespace kf::python {

/// What is said of a dtype that kernels don't have.
inline constexpr const char* known_dtypes =
    ": bool, int8 to int64, uint8 to uint64 and float16 to float64 are known";

/// "float32": NumPy's name.
const char* numpy_name(ScalarType scalar);
py::dtype dtype_of(ScalarType scalar);
/// None for dtypes that kernels don't have (complex, strings, structured) and for foreign byte orders.
std::optional<ScalarType> scalar_of(const py::dtype& dtype);
/// Returns the scalar type of an array argument; nothing, and why, for what scalar_of() refuses.
std::optional<ScalarType> scalar_of(const py::array& array, detail::Refusal* why);
/// The same, or throws that.
ScalarType scalar_of(const py::array& array, const Where& where);
/// Reads a `dtype` argument: anything that np.dtype() accepts; float32 for None.
ScalarType parse_dtype(py::handle dtype, const Where& where);
/// Returns what NumPy makes a dtype of; refuses what it doesn't.
py::dtype numpy_dtype(py::handle value, const Where& where);

/// The type of a NumPy scalar; nothing for Python's numbers, which have no size, and for anything else.
std::optional<ScalarType> own_type(py::handle value);

/// boolean, int64 or float64 for Python's and NumPy's numbers, else nothing.
std::optional<ScalarType> number_kind(py::handle value);

/// What a sequence of two integers holds; nothing for anything else, or for numbers that are no C++ int.
std::optional<std::pair<int, int>> pair_of_ints(py::handle value);

/// isinstance(value, type); throws what it raises.
bool is_instance(py::handle value, py::handle type);

/// Whether it is a number, a struct or another single value of NumPy's.
bool is_numpy_scalar(py::handle value);

/// Tells whether a value is an integer of Python's or NumPy's. A bool is not.
bool is_integer(py::handle value);
/// Returns an integer that is known to be one; refuses what isn't from `low` to `high` (value_range). `range`
/// says so: "from 0 to 2^32 - 1".
std::int64_t integer_of(py::handle value, const Where& where, std::int64_t low, std::int64_t high,
                        const char* range);

/// Writes a number as `scalar`. Integers must be in range, a float never becomes an integer, and bools and
/// numbers are never mixed; finite floats must stay finite. Throws type_mismatch or value_range with the
/// value.
void pack_number(py::handle value, ScalarType scalar, std::byte* target, const Where& where);
/// The same; returns false, and why, instead.
bool pack_number(py::handle value, ScalarType scalar, std::byte* target, detail::Refusal* why);

/// The scalar at `source` as a Python bool, int or float.
py::object unpack_number(ScalarType scalar, const std::byte* source);

}  // namespace kf::python
