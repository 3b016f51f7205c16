// One argument on its way from Python into a call.
#pragma once

#include <kf/any_tensor.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/field_places.h"
#include "python/arguments.h"
#include "python/common.h"
#include "python/differentiable.h"
#include "python/generator.h"
#include "python/host.h"
#include "python/struct_type.h"
#include "python/tensor.h"
#include "python/texture.h"

namespace kf::python {

/// The bytes of one element on the host, zero at first; small ones need no allocation.
class HostElement {
public:
    HostElement() = default;
    HostElement(const HostElement&) = delete;  // bytes_ may point into the object itself
    HostElement& operator=(const HostElement&) = delete;

    std::span<std::byte> reserve(std::size_t size) {
        if (size > inside_.size()) outside_.resize(size);
        return bytes_ = size > inside_.size() ? std::span(outside_) : std::span(inside_).first(size);
    }
    [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
    [[nodiscard]] std::byte* data() const { return bytes_.data(); }

private:
    alignas(8) std::array<std::byte, 32> inside_{};
    std::vector<std::byte> outside_;
    std::span<std::byte> bytes_;
};

class GivenObject;
class TorchOutput;
struct HeldGradients;
struct TorchTensor;

/// One argument on its way: what was given and what became of it.
struct Host {
    /// Fills no memory with zeros before the members have what they begin with: every argument makes one.
    Host() {}  // NOLINT(modernize-use-equals-default)

    /// Whether a NumPy array is asked for, of an output that isn't given.
    [[nodiscard]] bool as_array() const { return form == ResultForm::array; }

    py::handle given;                     ///< null when absent
    GivenObject* object = nullptr;        ///< that, as it was looked at
    ResultForm form = ResultForm::usual;  ///< what an output that isn't given is asked for as
    py::object content;  ///< `given`, or the value inside a Differentiable, which may get another meanwhile
    Differentiable* differentiable = nullptr;
    const Tensor* tensor = nullptr;  ///< one of these six, unless absent
    const Generator* generator = nullptr;
    const Texture* texture = nullptr;
    const Sampler* sampler = nullptr;          ///< beside a texture: of one that is given with it
    TorchTensor* torch = nullptr;              ///< of `tensor` or `array`, where PyTorch has it
    std::shared_ptr<HeldGradients> gradients;  ///< that aren't the tensor's own; null for none
    std::shared_ptr<TorchOutput> output;       ///< what makes the result; null where we do
    std::optional<py::array> array;
    const StructType* structure = nullptr;             ///< of an array of structs
    const manifest::StructScalars* scalars = nullptr;  ///< of structs, in a torch.Tensor of these
    std::optional<Nested> nested;
    ScalarType scalar = ScalarType::float32;
    Dims shape;
    AnyTensor passed;          ///< `tensor` as the call has it: other threads may give that another gradient
    AnyTensor uploaded;        ///< of an array or list that feeds a tensor
    bool is_imported = false;  ///< that is of the array's own memory, which the call waits for
    bool is_copied = false;    ///< it has to be copied
    AnyTensor arrays;          ///< of a tensor of structs that feeds arrays of them: these
    HostElement value;
    HostElement gradient;
};

}  // namespace kf::python
