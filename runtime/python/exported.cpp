// Tensors of ours for other libraries: DLPack and __cuda_array_interface__.
#include "python/exported.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "core/tensor_state.h"
#include "python/buffer.h"
#include "python/dlpack_abi.h"
#include "python/errors.h"
#include "python/foreign.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

/// DLPack's own error, for what can't be had that way.
[[noreturn]] void cannot_export(const std::string& why) { throw py::buffer_error("__dlpack__: " + why); }

/// A tensor, and what others may do with it.
struct Exportable {
    const Tensor& tensor;
    bool read_only = false;
};

Exportable exportable(const Tensor& tensor) { return {tensor, false}; }
Exportable exportable(const Buffer& buffer) { return {buffer.tensor, !buffer.writable}; }

bool is_cuda(const Tensor& tensor) { return tensor.context->device().info().backend == "cuda"; }

/// Returns where others find it: memory of a Vulkan device is none that they could reach, so that they get a
/// copy on the CPU.
dlpack::Device place_of(const Tensor& tensor) {
    if (is_cuda(tensor)) return {dlpack::cuda, tensor.context->device().info().index};
    return {dlpack::cpu, 0};
}

struct Freed {
    void operator()(std::byte* bytes) const { std::free(bytes); }  // NOLINT: it has an alignment
};
using Bytes = std::unique_ptr<std::byte[], Freed>;

/// What a capsule leads to, until its taker calls the deleter: from any thread, with or without Python's
/// lock.
template <class Managed>
struct Exported {
    Managed managed{};
    Dims shape;
    Dims strides;
    AnyTensor tensor;  ///< on a device
    Bytes copy;        ///< on the CPU
};

template <class Managed>
constexpr const char* name_of = "dltensor_versioned";
template <>
constexpr const char* name_of<dlpack::ManagedTensor> = "dltensor";

template <class Managed>
void delete_exported(Managed* managed) {
    delete static_cast<Exported<Managed>*>(managed->context);
}

/// Lets go of what nobody took.
template <class Managed>
void delete_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, name_of<Managed>) == 0) return;
    delete_exported(static_cast<Managed*>(PyCapsule_GetPointer(capsule, name_of<Managed>)));
}

/// Copies all elements to memory that is aligned as others like it.
Bytes copy_to_host(const AnyTensor& tensor) {
    constexpr std::size_t alignment = 64;
    const std::size_t size = static_cast<std::size_t>(tensor.size()) * tensor.element().size();
    const std::size_t room = (size + alignment - 1) / alignment * alignment;
    Bytes bytes(static_cast<std::byte*>(std::aligned_alloc(alignment, room == 0 ? alignment : room)));
    if (!bytes) throw std::bad_alloc();
    const GilRelease release;
    tensor.read({bytes.get(), size});
    return bytes;
}

/// What is asked of one __dlpack__().
struct Export {
    bool versioned = false;
    bool to_host = false;
    bool copies = false;
    std::optional<void*> stream;  ///< the taker's, which is to wait for what was issued
};

template <class Managed>
py::object make_capsule(const Exportable& given, const Export& request) {
    const AnyTensor& tensor = given.tensor.any;
    auto exported = std::make_unique<Exported<Managed>>();
    exported->shape = tensor.shape();
    dlpack::Tensor& described = exported->managed.tensor;
    if (request.to_host) {
        exported->copy = copy_to_host(tensor);
        exported->strides = detail::row_major(tensor.shape());
        described.data = exported->copy.get();
        described.device = {dlpack::cpu, 0};
    } else {
        const GilRelease release;
        exported->tensor = request.copies ? copy_on_device(tensor) : tensor.without_grads();
        exported->strides = exported->tensor.strides();
        lend(exported->tensor, request.stream);
        described.data = reinterpret_cast<void*>(exported->tensor.address());
        described.device = place_of(given.tensor);
    }
    if (tensor.size() == 0) described.data = nullptr;
    described.ndim = static_cast<std::int32_t>(exported->shape.size());
    described.dtype = dlpack_type(tensor.element().scalar);
    described.shape = &exported->shape[0];
    described.strides = &exported->strides[0];
    if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
        const bool is_copied = request.to_host || request.copies;
        exported->managed.version = dlpack::version;
        exported->managed.flags = is_copied         ? dlpack::flag_is_copied
                                  : given.read_only ? dlpack::flag_read_only
                                                    : 0;
    }
    exported->managed.deleter = &delete_exported<Managed>;
    exported->managed.context = exported.get();
    PyObject* const capsule = PyCapsule_New(&exported->managed, name_of<Managed>, &delete_capsule<Managed>);
    if (capsule == nullptr) throw py::error_already_set();
    (void)exported.release();
    return py::reinterpret_steal<py::object>(capsule);
}

/// Reads `max_version` and `dl_device`; nothing for None.
std::optional<std::pair<int, int>> pair_of(py::handle value, const char* name) {
    if (value.is_none()) return std::nullopt;
    const auto pair = pair_of_ints(value);
    if (!pair) {
        throw py::type_error(std::string("__dlpack__: ") + name + "= takes a pair of ints or None, not " +
                             shown(value));
    }
    return pair;
}

/// Reads `stream` in the protocol's words.
std::optional<void*> stream_of(py::handle stream) {
    if (stream.is_none()) return nullptr;  // the legacy default stream, as 1
    if (PyLong_CheckExact(stream.ptr()) == 0) {
        throw py::type_error("__dlpack__: stream= takes the handle of a CUDA stream, an int, or None, not " +
                             shown(stream));
    }
    const long long number = PyLong_AsLongLong(stream.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (number == -1) return std::nullopt;
    if (number == 0 || number < -1) {
        throw py::value_error(
            "__dlpack__: stream=" + std::to_string(number) +
            " is no stream: 1 is the legacy default one, 2 the one of each thread, -1 is none");
    }
    return number == 1 ? nullptr : reinterpret_cast<void*>(number);
}

py::object dlpack_of(const Exportable& given, py::handle stream, py::handle max_version, py::handle dl_device,
                     py::handle copy) {
    const Tensor& tensor = given.tensor;
    if (tensor.structure != nullptr) {
        cannot_export("DLPack has no structs: the " + describe(tensor) +
                      " has fields; view(dtype) sees its bytes as numbers, to_numpy() copies it");
    }
    const dlpack::Device place = place_of(tensor);
    const bool on_host = place.type == dlpack::cpu;
    Export request;
    request.versioned = pair_of(max_version, "max_version").value_or(std::pair(0, 0)).first >= 1;
    request.to_host = on_host;
    if (const auto wanted = pair_of(dl_device, "dl_device")) {
        const auto [type, id] = *wanted;
        const bool is_there = type == place.type && (on_host || id == place.id);
        if (!is_there && type != dlpack::cpu) {
            cannot_export("the tensor is on device " + tensor.context->device().info().id +
                          ", and can be had there or on the CPU, (1, 0), not on " + shown(dl_device));
        }
        request.to_host = type == dlpack::cpu;
    }
    if (!copy.is_none() && PyBool_Check(copy.ptr()) == 0)
        throw py::type_error("__dlpack__: copy= takes True, False or None, not " + shown(copy));
    const bool must_not_copy = copy.ptr() == Py_False;
    if (must_not_copy && request.to_host) {
        cannot_export("the tensor is on device " + tensor.context->device().info().id +
                      ", and the CPU gets a copy: copy=False can't be kept");
    }
    request.copies = !copy.is_none() && !must_not_copy;
    if (!on_host) {
        request.stream = stream_of(stream);
    } else if (!stream.is_none() && !(PyLong_CheckExact(stream.ptr()) && PyLong_AsLong(stream.ptr()) == -1)) {
        throw py::value_error("__dlpack__: a copy on the CPU has no stream, and stream=" + shown(stream) +
                              " is given");
    }
    if (request.versioned) return make_capsule<dlpack::ManagedTensorVersioned>(given, request);
    if (given.read_only && !request.to_host && !request.copies) {
        cannot_export(
            "the buffer is read-only, which consumers of DLPack 0 can't be told: ask for "
            "max_version=(1, 0), or copy=True, or make it with writable=True");
    }
    return make_capsule<dlpack::ManagedTensor>(given, request);
}

py::tuple device_of(const Tensor& tensor) {
    const dlpack::Device place = place_of(tensor);
    return py::make_tuple(place.type, place.id);
}

/// Describes CUDA memory; other tensors have no such attribute, which is how takers ask.
py::dict cuda_array_interface(const Exportable& given) {
    const Tensor& tensor = given.tensor;
    if (!is_cuda(tensor) || tensor.structure != nullptr) {
        throw py::attribute_error(
            "__cuda_array_interface__ is of tensors of numbers on CUDA devices; this is a " +
            describe(tensor) + " on device " + tensor.context->device().info().id);
    }
    const AnyTensor any = tensor.any;
    {
        const GilRelease release;
        lend(any, nullptr);
    }
    const auto size = static_cast<std::int64_t>(any.element().size());
    py::dict interface;
    interface["shape"] = to_tuple(any.shape());
    interface["typestr"] = dtype_of(tensor).attr("str");
    interface["data"] = py::make_tuple(any.address(), given.read_only);
    interface["version"] = 3;
    Dims strides = any.strides();
    for (std::size_t i = 0; i < strides.size(); ++i) strides[i] *= size;
    interface["strides"] = any.is_contiguous() ? py::object(py::none()) : py::object(to_tuple(strides));
    interface["stream"] = 1;  // the legacy default one, which waits for the tensor from here on
    return interface;
}

template <class Type>
void bind_exports_of(py::class_<Type>& type) {
    type.def(
            "__dlpack__",
            [](const Type& self, py::handle stream, py::handle max_version, py::handle dl_device,
               py::handle copy) { return dlpack_of(exportable(self), stream, max_version, dl_device, copy); },
            py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
            py::arg("dl_device") = py::none(), py::arg("copy") = py::none(),
            "A DLPack capsule of the memory of a CUDA device, for which `stream` then waits, or of a copy on "
            "the CPU.")
        .def(
            "__dlpack_device__", [](const Type& self) { return device_of(exportable(self).tensor); },
            "(2, index) on CUDA devices; else (1, 0), the CPU, where others get a copy.")
        .def_property_readonly(
            "__cuda_array_interface__",
            [](const Type& self) { return cuda_array_interface(exportable(self)); },
            "The memory of a CUDA device, in version 3 of the protocol; no such attribute on others.");
}

}  // namespace

void bind_exports(py::class_<Tensor>& type) { bind_exports_of(type); }
void bind_exports(py::class_<Buffer>& type) { bind_exports_of(type); }

}  // namespace kf::python
