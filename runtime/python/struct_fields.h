// Python objects that have fields: dicts, objects, named tuples and NumPy's structured scalars.
#pragma once

#include <string>

#include "core/manifest.h"
#include "python/struct_views.h"

namespace kf::python {

/// The attributes of a generated class or a named tuple that are fields; None where there is no such tuple.
py::object named_fields(py::handle value);

/// Whether a value can only be a struct: a dict, an object with fields, a structured scalar. Not a number, a
/// list, an array or a tensor.
bool is_struct_like(py::handle value);

/// Whether it is a list or a tuple, a named one too.
inline bool is_list(py::handle value) {
    return PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0;
}

/// Whether it is a structured scalar or array.
bool has_dtype_fields(py::handle value);

/// Whether it has such a field: as a key of a dict, in its dtype, or as an attribute.
bool has_field_of(py::handle value, const std::string& name);

/// A field, by Slang's name or the attribute's; null where there is none.
py::object find_field(py::handle value, const StructView& view, std::size_t field);

/// A field that the value says it has (a dict, a dataclass, a named tuple, a generated class) and the struct
/// hasn't, with its value: "'q' = 2 (an int)". Empty for none.
std::string other_field(py::handle value, const manifest::ParameterTree& structure, const StructView& view);

}  // namespace kf::python
