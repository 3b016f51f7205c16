// Tensors of other libraries by Python's protocols: __dlpack__ and __cuda_array_interface__.
#include <limits>
#include <utility>

#include "core/describe.h"
#include "python/attributes.h"
#include "python/errors.h"
#include "python/foreign_parts.h"
#include "python/gil.h"
#include "python/scalars.h"

namespace kf::python {

using detail::Refusal;

namespace {

constexpr const char* versioned_name = "dltensor_versioned";
constexpr const char* unversioned_name = "dltensor";

/// Lets go of what a capsule held, as its producer wants it, by any thread.
template <class Managed>
std::shared_ptr<void> owner_of(Managed* managed) {
    return {managed, [](void* held) {
                auto* const let_go = static_cast<Managed*>(held);
                if (let_go->deleter == nullptr) return;
                if (const GilHold lock; lock) let_go->deleter(let_go);
            }};
}

template <class Managed>
Managed* taken_from(const py::object& capsule, const char* name, const char* used_name) {
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
    // From here on its destructor leaves the tensor to us.
    if (managed == nullptr || PyCapsule_SetName(capsule.ptr(), used_name) != 0) throw py::error_already_set();
    return managed;
}

void take(const dlpack::Tensor& given, ForeignTensor& tensor, const Where& where) {
    Refusal why;
    if (!take_tensor(given, tensor, &why)) refuse(why, where);
    if (tensor.address == 0 && has_elements(tensor))
        refuse(ErrorCode::type_mismatch, where, "the tensor has no memory");
}

ForeignTensor from_versioned(dlpack::ManagedTensorVersioned* managed, const Where& where) {
    ForeignTensor tensor;
    tensor.owner = owner_of(managed);
    if (managed->version.major != dlpack::version.major) {
        refuse(ErrorCode::type_mismatch, where,
               "the tensor comes by DLPack " + std::to_string(managed->version.major) + "." +
                   std::to_string(managed->version.minor) + ", and versions 0 and 1 are known");
    }
    take(managed->tensor, tensor, where);
    tensor.read_only = (managed->flags & dlpack::flag_read_only) != 0;
    return tensor;
}

ForeignTensor from_capsule(const py::object& capsule, const Where& where) {
    if (PyCapsule_IsValid(capsule.ptr(), versioned_name) != 0) {
        return from_versioned(
            taken_from<dlpack::ManagedTensorVersioned>(capsule, versioned_name, "used_dltensor_versioned"),
            where);
    }
    if (PyCapsule_IsValid(capsule.ptr(), unversioned_name) != 0) {
        auto* const managed = taken_from<dlpack::ManagedTensor>(capsule, unversioned_name, "used_dltensor");
        ForeignTensor tensor;
        tensor.owner = owner_of(managed);
        take(managed->tensor, tensor, where);
        return tensor;
    }
    const char* const name = PyCapsule_GetName(capsule.ptr());
    PyErr_Clear();
    refuse(ErrorCode::type_mismatch, where,
           std::string("a capsule named '") + (name != nullptr ? name : "") +
               "' is given where DLPack has 'dltensor_versioned' or 'dltensor': a capsule can be taken once");
}

/// Calls value.__dlpack__(), as producers of version 1 know it, else as older ones do.
py::object ask_for_capsule(const py::object& method, const py::dict& keywords) {
    py::dict versioned = keywords.attr("copy")();
    versioned["max_version"] = py::make_tuple(dlpack::version.major, dlpack::version.minor);
    try {
        return method(**versioned);
    } catch (py::error_already_set& error) {
        if (!error.matches(PyExc_TypeError)) throw;
    }
    return method(**keywords);
}

/// Reads a tensor with what its library's current stream does before it, whatever its current device.
ForeignTensor from_exchange(const dlpack::ExchangeApi& api, py::handle value, const Where& where) {
    if (const py::object requires_grad = attribute_or_null(value, py::str("requires_grad"));
        requires_grad.ptr() == Py_True) {
        throw py::buffer_error("Can't export tensors that require gradient, use tensor.detach()");
    }
    dlpack::ManagedTensorVersioned* managed = nullptr;
    if (api.managed_tensor_from_py_object_no_sync(value.ptr(), &managed) != 0) throw py::error_already_set();
    ForeignTensor tensor = from_versioned(managed, where);
    tensor.stream = current_stream(api, tensor.ordinal);
    return tensor;
}

ForeignTensor from_dlpack(py::handle value, const py::object& method, const Reading& reading,
                          const Where& where) {
    const py::object device_method = attribute_or_null(value, py::str("__dlpack_device__"));
    if (!device_method) {
        refuse(ErrorCode::type_mismatch, where,
               "an object with __dlpack__() must have __dlpack_device__(), too, and " +
                   detail::with_article(type_name(value)) + " hasn't");
    }
    const py::object said = device_method();
    const auto device = pair_of_ints(said);
    if (!device) {
        refuse(ErrorCode::type_mismatch, where,
               "__dlpack_device__() returns a pair of ints, and this one returned " + shown(said));
    }
    const bool has_streams = device->first == dlpack::cuda || device->first == dlpack::cuda_managed;
    const dlpack::ExchangeApi* const api = exchange_of(Py_TYPE(value.ptr()));
    if (has_streams && api != nullptr && reading.stream == Reading::default_stream)
        return from_exchange(*api, value, where);
    py::dict keywords;
    if (has_streams) keywords["stream"] = py::int_(reading.stream);
    const py::object capsule = ask_for_capsule(method, keywords);
    if (PyCapsule_CheckExact(capsule.ptr()) == 0) {
        refuse(ErrorCode::type_mismatch, where,
               "__dlpack__() returns a capsule, and this one returned " + shown(capsule));
    }
    ForeignTensor tensor = from_capsule(capsule, where);
    if (has_streams && reading.stream == Reading::default_stream) tensor.stream = nullptr;
    return tensor;
}

/// Returns an entry of a __cuda_array_interface__; null where it is missing or None.
py::object entry(const py::dict& interface, const char* name) {
    if (!interface.contains(name)) return {};
    const py::object found = interface[name];
    return found.is_none() ? py::object() : found;
}

[[noreturn]] void refuse_interface(const Where& where, const std::string& message) {
    refuse(ErrorCode::type_mismatch, where, "its __cuda_array_interface__ " + message);
}

Dims dims_of(const py::object& given, const char* name, const Where& where) {
    if (!py::isinstance<py::tuple>(given)) {
        refuse_interface(where, std::string("has no tuple as '") + name + "' but " + shown(given));
    }
    Refusal why;
    const auto items = py::reinterpret_borrow<py::tuple>(given);
    if (!take_shape(static_cast<std::int64_t>(items.size()), &why)) refuse(why, where);
    Dims dims;
    for (const py::handle item : items) {
        if (!is_integer(item)) refuse_interface(where, std::string("has '") + name + "' " + shown(given));
        dims.push_back(integer_of(item, where, std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max(), "of 64 bits"));
    }
    return dims;
}

ForeignTensor from_interface(py::handle value, const py::object& given, const Where& where) {
    if (!py::isinstance<py::dict>(given)) refuse_interface(where, "is no dict but " + shown(given));
    const auto interface = py::reinterpret_borrow<py::dict>(given);
    if (entry(interface, "mask"))
        refuse_interface(where, "has a mask, and kernels know none: give every element");
    const py::object type = entry(interface, "typestr");
    const py::object data = entry(interface, "data");
    const py::object shape = entry(interface, "shape");
    if (!type || !data || !shape) refuse_interface(where, "has no 'shape', 'typestr' or 'data'");

    ForeignTensor tensor;
    tensor.kind = ForeignMemoryKind::cuda;
    tensor.ordinal = ForeignTensor::unknown_ordinal;
    const py::dtype dtype = numpy_dtype(type, where);
    const std::optional<ScalarType> scalar = scalar_of(dtype);
    if (!scalar) {
        refuse(
            ErrorCode::type_mismatch, where,
            "kernels have no dtype " + std::string(py::str(static_cast<py::handle>(dtype))) + known_dtypes);
    }
    tensor.scalar = *scalar;
    tensor.shape = dims_of(shape, "shape", where);
    for (const std::int64_t extent : tensor.shape) {
        if (extent < 0) refuse_interface(where, "has the shape " + shown(shape));
    }
    fill_strides(tensor);
    if (const py::object strides = entry(interface, "strides")) {
        const auto size = static_cast<std::int64_t>(size_of(tensor.scalar));
        tensor.strides = dims_of(strides, "strides", where);
        if (tensor.strides.size() != tensor.shape.size())
            refuse_interface(where, "has the shape " + shown(shape) + " and the strides " + shown(strides));
        for (std::size_t i = 0; i < tensor.strides.size(); ++i) {
            if (tensor.strides[i] % size != 0 && tensor.shape[i] > 1) {
                refuse(ErrorCode::layout_mismatch, where,
                       "the strides, " + shown(strides) + " bytes, aren't whole elements of " +
                           std::to_string(size) + " bytes: give a contiguous copy");
            }
            tensor.strides[i] /= size;
        }
    }
    if (!py::isinstance<py::tuple>(data) || py::len(data) != 2)
        refuse_interface(where, "has no (address, read_only) as 'data' but " + shown(data));
    const auto address = py::reinterpret_borrow<py::tuple>(data)[0];
    tensor.read_only = py::cast<bool>(py::reinterpret_borrow<py::tuple>(data)[1]);
    if (has_elements(tensor)) {
        tensor.address = PyLong_AsUnsignedLongLong(py::object(address).ptr());
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        if (tensor.address == 0) refuse(ErrorCode::type_mismatch, where, "the tensor has no memory");
    }
    const py::object version = entry(interface, "version");
    const py::object stream = entry(interface, "stream");
    if (stream) {
        void* const handle = PyLong_AsVoidPtr(stream.ptr());
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        const bool is_default = handle == reinterpret_cast<void*>(Reading::default_stream);
        tensor.stream = is_default ? nullptr : handle;
    } else if (!version || py::cast<int>(version) < 3) {
        tensor.stream = nullptr;  // which doesn't say, and is the default one of most
    }
    tensor.owner = shared_owner(py::reinterpret_borrow<py::object>(value));
    return tensor;
}

}  // namespace

ForeignTensor read_foreign(py::handle value, const Reading& reading, const Where& where) {
    if (PyCapsule_CheckExact(value.ptr()) != 0) {
        ForeignTensor tensor = from_capsule(py::reinterpret_borrow<py::object>(value), where);
        if (tensor.kind == ForeignMemoryKind::cuda) tensor.stream = nullptr;
        return tensor;
    }
    // PyTorch's exporters forget the bit, and a tensor without it says so itself.
    if (attribute_or_null(value, py::str("is_neg")) && is_negated(value.ptr()))
        return read_foreign(value.attr("resolve_neg")(), reading, where);
    const py::object method = attribute_or_null(value, py::str("__dlpack__"));
    if (method) {
        ForeignTensor tensor = from_dlpack(value, method, reading, where);
        // CuPy's DLPack divides negative strides as if they had no sign; its other protocol is right.
        if (reach_of(tensor) || !has_elements(tensor)) return tensor;
    }
    if (const py::object interface = attribute_or_null(value, py::str("__cuda_array_interface__")))
        return from_interface(value, interface, where);
    if (method) return from_dlpack(value, method, reading, where);
    refuse(ErrorCode::type_mismatch, where,
           "an object with __dlpack__() or __cuda_array_interface__ is needed, not " +
               detail::with_article(type_name(value)));
}

}  // namespace kf::python
