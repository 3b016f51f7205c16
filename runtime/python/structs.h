// Structs on their way between Python and a call: dicts, objects and NumPy's structured scalars.
#pragma once

#include <kf/any_tensor.h>

#include <map>
#include <memory_resource>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "python/common.h"

namespace kf::python {

/// The generated classes by Slang's name, as the module registered them.
using StructClasses = std::map<std::string, py::object>;

/// The attributes of a generated class or a named tuple that are fields; None where there is no such tuple.
py::object named_fields(py::handle value);

/// Whether a value can only be a struct: a dict, an object with fields, a structured scalar. Not a number, a
/// list, an array or a tensor.
bool is_struct_like(py::handle value);

/// Whether the kernel makes a field itself, so that the host gives nothing for it.
bool is_made(const manifest::Call& call, const manifest::ParameterTree& field);

/// The values of exactly these fields, in their order. Refuses a missing field, and one too many where the
/// value says what it has (a dict, a dataclass, a named tuple, a generated class).
/// `made`: which fields the kernel makes itself; they are left out, or None, and come back null.
/// `partial`: missing fields, and those that are None, come back null.
std::vector<py::object> fields_of(py::handle value, const manifest::ParameterTree& structure,
                                  const Where& where, const std::vector<bool>& made = {},
                                  bool partial = false);

/// Adds what is given for a parameter, one value an item: of one that is taken field by field, its fields.
void add_items(const manifest::Call& call, const manifest::ParameterTree& parameter, const py::object& given,
               const Where& where, bool partial, std::pmr::vector<py::object>& values);

/// Packs a struct that is passed by value, or an array of structs; `target` is where it starts. Of a tangent,
/// fields may be missing, and what they have at `target` stays.
void pack_struct(const manifest::Call& call, const manifest::ParameterTree& structure, py::handle value,
                 std::byte* target, const Where& where);

/// A structured array of lists, nested `rank` deep, of structs. Refuses ragged ones.
py::array array_of_structs(const manifest::Call& call, const manifest::ParameterTree& structure,
                           std::int64_t rank, py::handle value, const Where& where);

/// Returns the same memory as a tensor of whole arrays, as kernels read it, for a parameter that is an array
/// of structs, whose extents are `tensor`'s last dimensions. Refuses gaps between its structs.
AnyTensor as_arrays(const AnyTensor& tensor, const manifest::ParameterTree& structure, std::int64_t alignment,
                    const Where& where);
/// Returns a tensor of whole arrays, which the call made, as a tensor of structs.
AnyTensor as_structs(const AnyTensor& arrays, const manifest::ParameterTree& structure,
                     const ElementType& element, std::int64_t alignment);

/// What is packed at `source`: an object of the generated class, a list of them for an array.
py::object unpack_struct(const manifest::Call& call, const manifest::ParameterTree& structure,
                         const std::byte* source, const StructClasses& classes);

/// An object of the generated class with these fields; a dict where there is no class, a list of an array's.
py::object make_struct(const manifest::ParameterTree& structure, const std::vector<py::object>& fields,
                       const StructClasses& classes);

}  // namespace kf::python
