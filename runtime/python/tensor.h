// kf.Tensor: an AnyTensor of scalars that keeps its device's context.
#pragma once

#include <kf/any_tensor.h>

#include <utility>
#include <vector>

#include "python/context.h"
#include "python/struct_type.h"

namespace kf::python {

/// Vectors are trailing dimensions here: `any` has a scalar element, or a struct.
struct Tensor {
    using PythonClass = Tensor;

    AnyTensor any;
    ContextPtr context;
    const StructType* structure = nullptr;  ///< of tensors of structs
    bool made_grads = false;                ///< with_grads() made its gradient: a pushed one may replace it
};

/// An element's scalars, or the struct.
py::dtype dtype_of(const Tensor& tensor);

/// Wraps any tensor; a vector element becomes trailing dimensions.
Tensor wrap(const AnyTensor& tensor, const ContextPtr& context);

/// The tensor in `value`, a buffer's too, or null when it isn't one.
const Tensor* as_tensor(py::handle value);

/// The memory of a tensor, or of each of a list of them.
std::vector<AnyTensor> memory_of(py::handle value, const Where& where);

/// "float32 tensor of shape (2, 3)".
std::string describe(const Tensor& tensor);

}  // namespace kf::python
