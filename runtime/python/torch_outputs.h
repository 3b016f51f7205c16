// Results that are tensors of PyTorch's.
#pragma once

#include <kf/invoke.h>

#include "core/field_places.h"
#include "python/crossing.h"
#include "python/lent_memory.h"
#include "python/torch_tensors.h"

namespace kf::python {

/// Makes the tensor of one result when the call has been checked: on a CUDA device, or on the CPU, where
/// kernels can write to its memory; else the device makes one.
class TorchOutput final : public detail::OutputMaker {
public:
    /// `like`: a tensor that is on the device; null for the CPU. `structs`: of a result that is structs,
    /// their scalars, in which it is made; else null. `is_kept`: commands that run later use the result.
    /// `crossing`: that lends CUDA's memory to the context's device, if one does.
    TorchOutput(ContextPtr context, PyObject* like, const manifest::StructScalars* structs,
                bool is_kept = false, interop::Crossing* crossing = nullptr)
        : context_(std::move(context)),
          like_(like),
          structs_(structs),
          is_kept_(is_kept),
          crossing_(crossing) {}

    AnyTensor make(const ElementType& element, const Dims& shape) override;
    /// Null where the call needed none.
    [[nodiscard]] const py::object& made() const { return made_; }
    /// The same on the CPU, for the call to wait for; null on CUDA.
    [[nodiscard]] const AnyTensor& imported() const { return imported_; }

private:
    ContextPtr context_;
    PyObject* like_;
    const manifest::StructScalars* structs_;
    bool is_kept_;
    interop::Crossing* crossing_;
    py::object made_;
    AnyTensor imported_;
    Loans loans_;

    bool lend_made(const Torch& torch, const ElementType& element, const Dims& shape, AnyTensor& memory);
    AnyTensor memory_of(const TorchTensor& tensor);
};

/// A new tensor on the CPU with the elements of one of ours; waits for the device.
py::object to_torch_host(const AnyTensor& tensor);

/// A new tensor with one value that a call has returned, which lies at `data`. `like`: a tensor where it is
/// to be; null for the CPU.
py::object to_torch_value(const ElementType& element, const std::byte* data, PyObject* like);

}  // namespace kf::python
