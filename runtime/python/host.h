// Host data on its way to a device: numbers, nested lists and NumPy arrays.
#pragma once

#include <kf/any_tensor.h>
#include <kf/device.h>

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/given.h"
#include "python/common.h"

namespace kf::python {

struct Tensor;

/// Python numbers, of which one needs no memory of its own.
class Numbers {
public:
    void push_back(py::object number) {
        if (empty()) {
            first_ = std::move(number);
            return;
        }
        if (all_.empty()) all_.push_back(std::move(first_));
        all_.push_back(std::move(number));
    }
    [[nodiscard]] bool empty() const { return !first_ && all_.empty(); }
    [[nodiscard]] std::size_t size() const { return first_ ? 1 : all_.size(); }
    [[nodiscard]] const py::object* begin() const { return first_ ? &first_ : all_.data(); }
    [[nodiscard]] const py::object* end() const { return begin() + size(); }
    [[nodiscard]] const py::object& front() const { return *begin(); }

private:
    py::object first_;  ///< null unless there is one alone
    std::vector<py::object> all_;
};

/// A Python number or nested list, looked through once. Owns its numbers, so that the list may change.
struct Nested {
    ScalarType scalar = ScalarType::boolean;  ///< boolean, int64 or float64: the widest number in it
    Dims shape;
    Numbers numbers;                ///< row-major
    bool components = false;        ///< the last extent is of x, y, z and w, given by name
    std::optional<ScalarType> own;  ///< of a NumPy scalar alone: its type
};

/// A vector's components by name, {"x": 1, "y": 2} or an object with these attributes, in order; none when
/// `value` is anything else. Nothing, and why, for other fields beside them.
std::optional<py::list> components_of(py::handle value, detail::Refusal* why);

/// Nothing when `value` is no number, list, tuple or range, and has no components. Nothing, and why, for
/// ragged lists and for anything else in a list.
std::optional<Nested> look_through(py::handle value, detail::Refusal* why);
/// The same, or throws that.
std::optional<Nested> look_through(py::handle value, const Where& where);

/// All numbers as `scalar`, packed row-major; see pack_number().
std::vector<std::byte> pack(const Nested& nested, ScalarType scalar, const Where& where);

/// The elements of `array` (any strides, a dtype that kernels have), packed row-major.
std::vector<std::byte> pack(const py::array& array);

/// Refuses masked arrays: whoever takes an array asks for its shape.
std::optional<Dims> shape_of(const py::array& array, detail::Refusal* why);
Dims shape_of(const py::array& array, const Where& where);
/// A shape argument: an int or a sequence of ints, none negative.
Dims parse_shape(py::handle shape, const Where& where);
py::tuple to_tuple(const Dims& dims);

/// A device tensor of scalars with the array's shape.
AnyTensor upload(const Device& device, const py::array& array, const Where& where);
/// The same for an array of little that one call reads, of whose element and shape the caller has asked.
AnyTensor upload_mapped(const Device& device, const py::array& array, const ElementType& element,
                        const Dims& shape);
AnyTensor upload(const Device& device, const Nested& nested, ScalarType scalar, const Where& where);

/// A new array with the tensor's elements; an element's own extents come last. Waits without the GIL.
py::array download(const AnyTensor& tensor);
/// Copies a tensor, of structs too, to a new array.
py::array download(const Tensor& tensor);
/// The same into an array of that dtype and shape, with any strides.
void download_into(const Tensor& tensor, const py::array& array);

/// The packed scalars at `source` as a NumPy array of the element's shape: () of a scalar.
py::array to_array(const ElementType& element, const std::byte* source);
/// The packed scalars at `source`: a Python number, or a NumPy array when `element` is a vector or matrix.
py::object to_python(const ElementType& element, const std::byte* source);

}  // namespace kf::python
