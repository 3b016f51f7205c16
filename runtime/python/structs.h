// Structs on their way between Python and a call: dicts, objects and NumPy's structured scalars.
#pragma once

#include <kf/any_tensor.h>

#include <map>
#include <string>
#include <vector>

#include "core/field_places.h"
#include "core/manifest.h"
#include "python/common.h"
#include "python/tensor.h"

namespace kf::python {

class GivenObject;

/// The generated classes, of structs and enums, by Slang's name, as the module registered them.
using StructClasses = std::map<std::string, py::object>;

/// Packs a struct that is passed by value, or an array of structs; `target` is where it starts. Of a tangent,
/// fields may be missing, and what they have at `target` stays.
void pack_struct(const manifest::Call& call, const manifest::ParameterTree& structure, GivenObject& value,
                 std::byte* target, const Where& where);

/// A structured array of lists, nested `rank` deep, of structs. Refuses ragged ones.
py::array array_of_structs(const manifest::Call& call, const manifest::ParameterTree& structure,
                           std::int64_t rank, GivenObject& value, const Where& where);

/// Returns the same memory as a tensor of whole arrays, as kernels read it, for a parameter that is an array
/// of structs, whose extents are `tensor`'s last dimensions. Refuses gaps between its structs.
AnyTensor as_arrays(const AnyTensor& tensor, const manifest::ParameterTree& structure, std::int64_t alignment,
                    const Where& where);
/// Returns the same memory as a tensor of the structs' scalars, which are its last dimension.
Tensor as_scalars(const Tensor& structs, const manifest::StructScalars& scalars);
/// Returns a tensor of whole arrays, which the call made, as a tensor of structs.
AnyTensor as_structs(const AnyTensor& arrays, const manifest::ParameterTree& structure,
                     const ElementType& element, std::int64_t alignment);

/// What is packed at `source`: an object of the generated class, a list of them for an array. Of Slang's own:
/// a value or None for an optional, a tuple.
py::object unpack_struct(const manifest::Call& call, const manifest::ParameterTree& structure,
                         const std::byte* source, const StructClasses& classes);

/// The gradient of such a struct, as dicts: an optional's is that of its value.
py::object unpack_gradient(const manifest::Call& call, const manifest::ParameterTree& structure,
                           const std::byte* source);

/// An object of the generated class with these fields; a dict where there is no class, a list of an array's,
/// a tuple of a tuple's by value.
py::object make_struct(const manifest::ParameterTree& structure, const std::vector<py::object>& fields,
                       const StructClasses& classes);

}  // namespace kf::python
