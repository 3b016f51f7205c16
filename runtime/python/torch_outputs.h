// Results that are tensors of PyTorch's.
#pragma once

#include <kf/invoke.h>

#include "python/torch_tensors.h"

namespace kf::python {

/// Makes the tensor of one result, on a CUDA device, when the call has been checked.
class TorchOutput final : public detail::OutputMaker {
public:
    /// `like`: a tensor that is on the device. `is_kept`: commands that run later use the result.
    TorchOutput(ContextPtr context, PyObject* like, bool is_kept = false)
        : context_(std::move(context)), like_(like), is_kept_(is_kept) {}

    AnyTensor make(const ElementType& element, const Dims& shape) override;
    /// Null where the call needed none.
    [[nodiscard]] const py::object& made() const { return made_; }

private:
    ContextPtr context_;
    PyObject* like_;
    bool is_kept_;
    py::object made_;
};

/// A new tensor on the CPU with the elements of one of ours; waits for the device.
py::object to_torch_host(const AnyTensor& tensor);

}  // namespace kf::python
