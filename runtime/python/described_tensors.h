// torch.Tensors by type and shape alone, as overloads are chosen where PyTorch watches a call.
#pragma once

#include <optional>

#include "core/given.h"
#include "python/common.h"
#include "python/torch_state.h"

namespace kf::python {

/// A tensor that code is traced for, of which nothing else is known: kf._kf._TensorKind.
struct TensorKind {
    using PythonClass = TensorKind;

    py::object dtype;
    Dims shape;  ///< may have unknown extents
};

/// What a call is told of a tensor, in whose memory nobody looks: it may have none.
struct DescribedTensor {
    detail::ArgShape shape;
    bool is_known = false;  ///< whether kernels have its dtype
    bool may_cast = false;  ///< whether torch.autocast() casts such tensors
    py::object dtype;
    detail::ArgShape cast;  ///< as an argument takes it, where that is so
};

/// Whether it is a torch.Tensor or a TensorKind.
bool is_describable(py::handle value);

/// Describes one of these.
DescribedTensor describe_tensor(py::handle value);

/// Why kernels don't take a dtype of PyTorch's.
std::string unknown_dtype_text(py::handle dtype);

}  // namespace kf::python
