// Struct types as NumPy knows them: structured dtypes.
#pragma once

#include <kf/types.h>

#include "core/given.h"
#include "core/manifest.h"
#include "python/common.h"

namespace kf::python {

/// One struct layout. Kept for the life of the process, so that tensors may point to it without the GIL.
struct StructType {
    py::object dtype;
    ElementType element;
    std::int64_t alignment = 1;  ///< bytes
};

/// The struct type of a structured dtype; null for any other dtype. Null, and why, for fields that kernels
/// can't have.
const StructType* struct_type(const py::dtype& dtype, detail::Refusal* why);
/// The same, or throws that.
const StructType* struct_type(const py::dtype& dtype, const Where& where);

/// The dtype of a struct that a call takes whole.
py::dtype dtype_of(const manifest::Call& call, const manifest::ParameterTree& structure);

/// Returns the first difference between two structs' layouts, in words: "field 'id' is missing".
std::string dtype_difference(const py::dtype& wanted, const py::dtype& found);

}  // namespace kf::python
