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
namespace {

bool is_sequence(py::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyRange_Check(value.ptr());
}

/// Walks one level; `depth` is how many extents are above it.
void walk(py::handle value, std::size_t depth, Nested& nested, bool& leaves_seen, const Where& where) {
    const auto refuse_ragged = [&](const std::string& found) {
        refuse(ErrorCode::shape_mismatch, where,
               "a nested list must be as long in every row: found " + found + " at depth " +
                   std::to_string(depth));
    };
    const py::list components =
        is_sequence(value) || number_kind(value) ? py::list() : components_of(value, where);
    if (!is_sequence(value) && components.empty()) {
        const auto kind = number_kind(value);
        if (!kind) {
            refuse(ErrorCode::type_mismatch, where,
                   "a list holds numbers, not " + shown(value) + " (" +
                       detail::with_article(type_name(value)) + ")");
        }
        if (depth != nested.shape.size()) refuse_ragged("the number " + shown(value) + " beside lists");
        leaves_seen = true;
        nested.scalar = std::max(nested.scalar, *kind, [](ScalarType a, ScalarType b) {
            const auto order = [](ScalarType s) {
                return s == ScalarType::boolean ? 0 : s == ScalarType::int64 ? 1 : 2;
            };
            return order(a) < order(b);
        });
        nested.numbers.push_back(py::reinterpret_borrow<py::object>(value));
        return;
    }
    if (depth >= Dims::capacity) {
        refuse(ErrorCode::rank_mismatch, where,
               "lists nest more than " + std::to_string(Dims::capacity) + " deep");
    }
    nested.components = nested.components || !components.empty();
    // A copy of a list: looking at its items may run code of theirs, which may change it.
    const auto items = components.empty() ? py::reinterpret_steal<py::object>(PySequence_Tuple(value.ptr()))
                                          : py::object(components);
    if (!items) throw py::error_already_set();
    const auto length = static_cast<std::int64_t>(PySequence_Fast_GET_SIZE(items.ptr()));
    if (depth == nested.shape.size()) {
        if (leaves_seen) refuse_ragged("the list " + shown(value) + " beside numbers");
        nested.shape.push_back(length);
        if (length == 0) leaves_seen = true;
    } else if (nested.shape[depth] != length) {
        refuse_ragged("lengths " + std::to_string(nested.shape[depth]) + " and " + std::to_string(length));
    }
    for (std::int64_t i = 0; i < length; ++i) {
        walk(PySequence_Fast_GET_ITEM(items.ptr(), i), depth + 1, nested, leaves_seen, where);
    }
}

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

py::list components_of(py::handle value, const Where& where) {
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
        refuse(ErrorCode::unknown_name, where,
               "a vector has x, y, z and w, from x on, and no other fields, unlike " + shown(value));
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const py::object component = found[i];
        if (number_kind(component)) continue;
        refuse(ErrorCode::type_mismatch, where,
               std::string(names[i]) + " is a number here, not " + shown(component) + " (" +
                   detail::with_article(type_name(component)) +
                   "): \"fields\" in the call spec give each component a kind of its own");
    }
    return found;
}

std::optional<Nested> look_through(py::handle value, const Where& where) {
    Nested nested;
    if (const auto kind = number_kind(value)) {
        nested.scalar = *kind;
        nested.numbers.push_back(py::reinterpret_borrow<py::object>(value));
        return nested;
    }
    if (!is_sequence(value) && components_of(value, where).empty()) return std::nullopt;
    bool leaves_seen = false;
    walk(value, 0, nested, leaves_seen, where);
    // An empty list may feed any number.
    if (nested.numbers.empty()) nested.scalar = ScalarType::int64;
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

Dims shape_of(const py::array& array, const Where& where) {
    refuse_masked(array, where);
    if (static_cast<std::size_t>(array.ndim()) > Dims::capacity) {
        refuse(ErrorCode::rank_mismatch, where,
               "an array of " + std::to_string(array.ndim()) + " dimensions; at most " +
                   std::to_string(Dims::capacity) + " are supported");
    }
    Dims shape;
    for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.push_back(array.shape(i));
    return shape;
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
    tensor.write(bytes);
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
