// Host data on its way to a device: numbers, nested lists and NumPy arrays.
#include "python/host.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/describe.h"
#include "core/tensor_state.h"
#include "python/arrays.h"
#include "python/attributes.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/scalars.h"
#include "python/tensor.h"

namespace kf::python {

using detail::Refusal;
using detail::refused;

namespace {

bool is_sequence(py::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyRange_Check(value.ptr());
}

/// Looks through a number or a nested list. Each member returns false, and why, for what is neither.
class ListWalk {
public:
    explicit ListWalk(Refusal* why) : why_(why) {}

    /// `depth` is how many extents are above it.
    bool walk(py::handle value, std::size_t depth) {
        std::optional<py::list> components = py::list();
        if (!is_sequence(value) && !number_kind(value)) components = components_of(value, why_);
        if (!components) return false;
        if (!is_sequence(value) && components->empty()) return take_number(value, depth);
        if (depth >= Dims::capacity) {
            return refused(why_, ErrorCode::rank_mismatch,
                           [] { return "lists nest more than " + std::to_string(Dims::capacity) + " deep"; });
        }
        nested.components = nested.components || !components->empty();
        // A copy of a list: looking at its items may run code of theirs, which may change it.
        const auto items = components->empty()
                               ? py::reinterpret_steal<py::object>(PySequence_Tuple(value.ptr()))
                               : py::object(*components);
        if (!items) throw py::error_already_set();
        const auto length = static_cast<std::int64_t>(PySequence_Fast_GET_SIZE(items.ptr()));
        if (!take_length(value, depth, length)) return false;
        for (std::int64_t i = 0; i < length; ++i) {
            if (!walk(PySequence_Fast_GET_ITEM(items.ptr(), i), depth + 1)) return false;
        }
        return true;
    }

    Nested nested;

private:
    template <class Text>
    bool refuse_ragged(std::size_t depth, Text found) {
        return refused(why_, ErrorCode::shape_mismatch, [&] {
            return "a nested list must be as long in every row: found " + found() + " at depth " +
                   std::to_string(depth);
        });
    }

    bool take_number(py::handle value, std::size_t depth) {
        const auto kind = number_kind(value);
        if (!kind) {
            return refused(why_, ErrorCode::type_mismatch, [&] {
                return "a list holds numbers, not " + shown(value) + " (" +
                       detail::with_article(type_name(value)) + ")";
            });
        }
        if (depth != nested.shape.size())
            return refuse_ragged(depth, [&] { return "the number " + shown(value) + " beside lists"; });
        leaves_seen_ = true;
        nested.scalar = std::max(nested.scalar, *kind, [](ScalarType a, ScalarType b) {
            const auto order = [](ScalarType s) {
                return s == ScalarType::boolean ? 0 : s == ScalarType::int64 ? 1 : 2;
            };
            return order(a) < order(b);
        });
        nested.numbers.push_back(py::reinterpret_borrow<py::object>(value));
        return true;
    }

    bool take_length(py::handle value, std::size_t depth, std::int64_t length) {
        if (depth == nested.shape.size()) {
            if (leaves_seen_)
                return refuse_ragged(depth, [&] { return "the list " + shown(value) + " beside numbers"; });
            nested.shape.push_back(length);
            if (length == 0) leaves_seen_ = true;
        } else if (nested.shape[depth] != length) {
            return refuse_ragged(depth, [&] {
                return "lengths " + std::to_string(nested.shape[depth]) + " and " + std::to_string(length);
            });
        }
        return true;
    }

    bool leaves_seen_ = false;
    Refusal* why_;
};

/// Strided copies are NumPy's own, and so is the MemoryError where there is no room for one.
py::array contiguous(const py::array& array) {
    constexpr int flags = int{py::array::c_style} | int{py::detail::npy_api::NPY_ARRAY_ENSUREARRAY_};
    auto result = py::reinterpret_steal<py::object>(
        py::detail::npy_api::get().PyArray_FromAny_(array.ptr(), nullptr, 0, 0, flags, nullptr));
    if (!result) throw py::error_already_set();
    return py::reinterpret_borrow<py::array>(result);
}

std::span<const std::byte> bytes_of(const py::array& contiguous_array) {
    return {static_cast<const std::byte*>(contiguous_array.data()),
            static_cast<std::size_t>(contiguous_array.nbytes())};
}

AnyTensor make_empty(const Device& device, const ElementType& element, const Dims& shape) {
    const GilRelease release;
    return AnyTensor::empty(device, element, shape);
}

std::vector<py::ssize_t> full_shape(const Dims& shape, const ElementType& element) {
    std::vector<py::ssize_t> result(shape.begin(), shape.end());
    for (std::size_t i = 0; i < element.rank; ++i) result.push_back(element.extents[i]);
    return result;
}

}  // namespace

std::optional<py::list> components_of(py::handle value, Refusal* why) {
    constexpr std::array names{"x", "y", "z", "w"};
    const bool keyed = PyDict_Check(value.ptr()) != 0;
    if (PyUnicode_Check(value.ptr()) != 0 || py::isinstance<py::array>(value) || as_tensor(value) != nullptr)
        return py::list();
    py::list found;
    for (const char* name : names) {
        const py::str key(name);
        if (keyed && PyDict_Contains(value.ptr(), key.ptr()) != 1) break;
        const py::object component = keyed ? py::object(value[key]) : attribute_or_null(value, key);
        if (!component) break;
        found.append(component);
    }
    if (found.empty() || (!keyed && found.size() < 2)) return py::list();
    if (keyed && (found.size() < 2 || py::len(value) != found.size())) {
        refused(why, ErrorCode::unknown_name, [&] {
            return "a vector has x, y, z and w, from x on, and no other fields, unlike " + shown(value);
        });
        return std::nullopt;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const py::object component = found[i];
        if (number_kind(component)) continue;
        refused(why, ErrorCode::type_mismatch, [&] {
            return std::string(names[i]) + " is a number here, not " + shown(component) + " (" +
                   detail::with_article(type_name(component)) +
                   "): \"fields\" in the call spec give each component a kind of its own";
        });
        return std::nullopt;
    }
    return found;
}

std::optional<Nested> look_through(py::handle value, Refusal* why) {
    if (const auto kind = number_kind(value)) {
        Nested nested;
        nested.scalar = *kind;
        nested.own = own_type(value);
        nested.numbers.push_back(py::reinterpret_borrow<py::object>(value));
        return nested;
    }
    if (!is_sequence(value)) {
        const auto components = components_of(value, why);
        if (!components || components->empty()) return std::nullopt;
    }
    ListWalk walk(why);
    if (!walk.walk(value, 0)) return std::nullopt;
    // An empty list may feed any number.
    if (walk.nested.numbers.empty()) walk.nested.scalar = ScalarType::int64;
    return std::move(walk.nested);
}

std::optional<Nested> look_through(py::handle value, const Where& where) {
    Refusal why;
    std::optional<Nested> nested = look_through(value, &why);
    if (!nested && !why.text.empty()) refuse(why, where);
    return nested;
}

std::vector<std::byte> pack(const Nested& nested, ScalarType scalar, const Where& where) {
    const std::size_t size = size_of(scalar);
    std::vector<std::byte> bytes(nested.numbers.size() * size);
    std::byte* target = bytes.data();
    for (const py::object& number : nested.numbers) {
        pack_number(number, scalar, target, where);
        target += size;
    }
    return bytes;
}

std::vector<std::byte> pack(const py::array& array) {
    const py::array packed = contiguous(array);
    const auto bytes = bytes_of(packed);
    return {bytes.begin(), bytes.end()};
}

std::optional<Dims> shape_of(const py::array& array, Refusal* why) {
    if (!is_unmasked(array, why)) return std::nullopt;
    if (static_cast<std::size_t>(array.ndim()) > Dims::capacity) {
        refused(why, ErrorCode::rank_mismatch, [&] {
            return "an array of " + std::to_string(array.ndim()) + " dimensions; at most " +
                   std::to_string(Dims::capacity) + " are supported";
        });
        return std::nullopt;
    }
    Dims shape;
    for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.push_back(array.shape(i));
    return shape;
}

Dims shape_of(const py::array& array, const Where& where) {
    Refusal why;
    if (const auto shape = shape_of(array, &why)) return *shape;
    refuse(why, where);
}

Dims parse_shape(py::handle shape, const Where& where) {
    const auto extent = [&](py::handle item) {
        const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(item.ptr()));
        if (!number) {
            PyErr_Clear();
            refuse(ErrorCode::type_mismatch, where,
                   "a shape is an int or a sequence of ints, not " + shown(shape));
        }
        const long long value = PyLong_AsLongLong(number.ptr());
        if (value == -1 && PyErr_Occurred() != nullptr) PyErr_Clear();
        if (value < 0) refuse(ErrorCode::value_range, where, shown(item) + " is not an extent");
        return static_cast<std::int64_t>(value);
    };
    Dims dims;
    if (PyIndex_Check(shape.ptr())) {
        dims.push_back(extent(shape));
        return dims;
    }
    // A copy of a list, which code of its items may change.
    const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(shape.ptr()));
    if (!items) {
        PyErr_Clear();
        refuse(ErrorCode::type_mismatch, where,
               "a shape is an int or a sequence of ints, not " + shown(shape));
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
        dims.push_back(extent(PySequence_Fast_GET_ITEM(items.ptr(), i)));
    }
    return dims;
}

py::tuple to_tuple(const Dims& dims) {
    py::tuple result(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) result[i] = py::int_(dims[i]);
    return result;
}

AnyTensor upload(const Device& device, const py::array& array, const Where& where) {
    const StructType* structure = struct_type(array.dtype(), where);
    const ElementType element =
        structure != nullptr ? structure->element : ElementType{scalar_of(array, where), 0};
    const Dims shape = shape_of(array, where);
    // Before the copy, which may be far larger than the array: of one that is broadcast.
    AnyTensor tensor = make_empty(device, element, shape);
    const py::array packed = contiguous(array);
    const auto bytes = bytes_of(packed);
    const GilRelease release;
    detail::write_unrecorded(tensor, bytes);
    return tensor;
}

AnyTensor upload_mapped(const Device& device, const py::array& array, const ElementType& element,
                        const Dims& shape) {
    const bool is_packed = (array.flags() & py::array::c_style) != 0;
    const py::array packed = is_packed ? array : contiguous(array);
    const auto bytes = bytes_of(packed);
    const GilRelease release;
    return detail::make_mapped(device, element, shape, bytes);
}

AnyTensor upload(const Device& device, const Nested& nested, ScalarType scalar, const Where& where) {
    const auto bytes = pack(nested, scalar, where);
    const GilRelease release;
    return AnyTensor::from_host(device, ElementType{scalar, 0}, nested.shape, bytes);
}

py::array download(const Tensor& tensor) {
    const AnyTensor source = tensor.any;  // without the GIL the kf.Tensor may get another
    if (tensor.structure == nullptr) return download(source);
    py::array result(dtype_of(tensor), full_shape(source.shape(), {}));
    const std::span bytes(static_cast<std::byte*>(result.mutable_data()),
                          static_cast<std::size_t>(result.nbytes()));
    const GilRelease release;
    source.read(bytes);
    return result;
}

py::array download(const AnyTensor& tensor) {
    py::array result(dtype_of(tensor.element().scalar), full_shape(tensor.shape(), tensor.element()));
    const std::span bytes(static_cast<std::byte*>(result.mutable_data()),
                          static_cast<std::size_t>(result.nbytes()));
    const GilRelease release;
    tensor.read(bytes);
    return result;
}

void download_into(const Tensor& whole, const py::array& array) {
    const AnyTensor tensor = whole.any;
    if ((array.flags() & py::array::c_style) != 0) {
        const std::span bytes(static_cast<std::byte*>(const_cast<void*>(array.data())),
                              static_cast<std::size_t>(array.nbytes()));
        const GilRelease release;
        tensor.read(bytes);
        return;
    }
    array[py::ellipsis()] = download(whole);
}

py::object to_python(const ElementType& element, const std::byte* source) {
    if (element.rank == 0) return unpack_number(element.scalar, source);
    return to_array(element, source);
}

py::array to_array(const ElementType& element, const std::byte* source) {
    py::array result(dtype_of(element.scalar), full_shape({}, element));
    std::memcpy(result.mutable_data(), source, element.size());
    return result;
}

}  // namespace kf::python
