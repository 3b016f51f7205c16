// Tensors of other libraries: what DLPack's struct says, and the C exchange API.
#include "python/foreign.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/describe.h"
#include "python/errors.h"
#include "python/foreign_parts.h"
#include "python/scalars.h"

namespace kf::python {

using detail::Refusal;
using detail::refused;

namespace {

/// PyTorch's and NumPy's name of an element type: "bfloat16".
std::string element_text(const dlpack::DataType& type) {
    const std::string bits = std::to_string(type.bits);
    const auto name = [&]() -> std::string {
        switch (type.code) {
            case dlpack::code_int: return "int" + bits;
            case dlpack::code_uint: return "uint" + bits;
            case dlpack::code_float: return "float" + bits;
            case dlpack::code_bfloat: return "bfloat" + bits;
            case dlpack::code_complex: return "complex" + bits;
            case dlpack::code_bool: return "bool of " + bits + " bits";
            default: break;
        }
        constexpr std::uint8_t first = 7;  // of the types that have one size
        constexpr std::array<const char*, 11> small{
            "float8_e3m4",     "float8_e4m3",   "float8_e4m3b11fnuz", "float8_e4m3fn",
            "float8_e4m3fnuz", "float8_e5m2",   "float8_e5m2fnuz",    "float8_e8m0fnu",
            "float6_e2m3fn",   "float6_e3m2fn", "float4_e2m1fn"};
        if (type.code >= first && type.code < first + small.size()) return small[type.code - first];
        return "of DLPack's code " + std::to_string(type.code) + " and " + bits + " bits";
    }();
    return type.lanes == 1 ? name : name + " in vectors of " + std::to_string(type.lanes);
}

std::optional<ScalarType> scalar_from(const dlpack::DataType& type) {
    if (type.lanes != 1) return std::nullopt;
    const auto sized = [&](ScalarType of_8, ScalarType of_16, ScalarType of_32,
                           ScalarType of_64) -> std::optional<ScalarType> {
        switch (type.bits) {
            case 8: return of_8;
            case 16: return of_16;
            case 32: return of_32;
            case 64: return of_64;
            default: return std::nullopt;
        }
    };
    switch (type.code) {
        case dlpack::code_int:
            return sized(ScalarType::int8, ScalarType::int16, ScalarType::int32, ScalarType::int64);
        case dlpack::code_uint:
            return sized(ScalarType::uint8, ScalarType::uint16, ScalarType::uint32, ScalarType::uint64);
        case dlpack::code_float:
            if (type.bits == 8) return std::nullopt;
            return sized(ScalarType::float16, ScalarType::float16, ScalarType::float32, ScalarType::float64);
        case dlpack::code_bool: return type.bits == 8 ? std::optional(ScalarType::boolean) : std::nullopt;
        default: return std::nullopt;
    }
}

const char* kind_name(std::int32_t type) {
    constexpr std::array<const char*, 19> names{"",
                                                "CPU",
                                                "CUDA",
                                                "CUDA's host memory",
                                                "OpenCL",
                                                "",
                                                "",
                                                "Vulkan",
                                                "Metal",
                                                "VPI",
                                                "ROCm",
                                                "ROCm's host memory",
                                                "an extension",
                                                "CUDA's managed memory",
                                                "oneAPI",
                                                "WebGPU",
                                                "Hexagon",
                                                "MAIA",
                                                "Trainium"};
    if (type < 0 || static_cast<std::size_t>(type) >= names.size()) return "";
    return names[static_cast<std::size_t>(type)];
}

bool take_device(const dlpack::Device& device, ForeignTensor& tensor, Refusal* why) {
    switch (device.type) {
        case dlpack::cpu:
        case dlpack::cuda_host:
            tensor.kind = ForeignMemoryKind::host;
            tensor.ordinal = 0;
            return true;
        case dlpack::cuda:
        case dlpack::cuda_managed:
            tensor.kind = ForeignMemoryKind::cuda;
            tensor.ordinal = device.id;
            return true;
        default:
            return refused(why, ErrorCode::device_mismatch, [&] {
                const std::string name = kind_name(device.type);
                return "tensors of the CPU and of CUDA devices are taken, not of DLPack's device type " +
                       std::to_string(device.type) + (name.empty() ? "" : " (" + name + ")");
            });
    }
}

/// An owner that Python keeps.
py::object capsule_of(const std::shared_ptr<void>& owner) {
    auto kept = std::make_unique<std::shared_ptr<void>>(owner);
    py::capsule capsule(kept.get(), [](void* held) { delete static_cast<std::shared_ptr<void>*>(held); });
    [[maybe_unused]] const auto* const given = kept.release();
    return capsule;
}

}  // namespace

dlpack::DataType dlpack_type(ScalarType scalar) {
    const auto code = [scalar] {
        switch (scalar) {
            case ScalarType::boolean: return dlpack::code_bool;
            case ScalarType::int8:
            case ScalarType::int16:
            case ScalarType::int32:
            case ScalarType::int64: return dlpack::code_int;
            case ScalarType::uint8:
            case ScalarType::uint16:
            case ScalarType::uint32:
            case ScalarType::uint64: return dlpack::code_uint;
            default: return dlpack::code_float;
        }
    }();
    return {code, static_cast<std::uint8_t>(size_of(scalar) * 8), 1};
}

bool take_shape(std::int64_t rank, Refusal* why) {
    if (rank >= 0 && rank <= static_cast<std::int64_t>(Dims::capacity)) return true;
    return refused(why, ErrorCode::rank_mismatch, [&] {
        return "a tensor of " + std::to_string(rank) + " dimensions; at most " +
               std::to_string(Dims::capacity) + " are supported";
    });
}

void fill_strides(ForeignTensor& tensor) {
    tensor.strides = Dims(tensor.shape.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
        tensor.strides[i] = stride;
        if (tensor.shape[i] != 0) stride *= tensor.shape[i];
    }
}

bool has_elements(const ForeignTensor& tensor) {
    for (const std::int64_t extent : tensor.shape) {
        if (extent == 0) return false;
    }
    return true;
}

bool take_tensor(const dlpack::Tensor& given, ForeignTensor& tensor, Refusal* why) {
    if (!take_device(given.device, tensor, why) || !take_shape(given.ndim, why)) return false;
    const std::optional<ScalarType> scalar = scalar_from(given.dtype);
    if (!scalar) {
        return refused(why, ErrorCode::type_mismatch,
                       [&] { return "kernels have no dtype " + element_text(given.dtype) + known_dtypes; });
    }
    tensor.scalar = *scalar;
    const auto rank = static_cast<std::size_t>(given.ndim);
    if (rank != 0 && given.shape == nullptr)
        return refused(why, ErrorCode::shape_mismatch, [] { return std::string("it has no shape"); });
    tensor.shape = rank == 0 ? Dims() : Dims(std::span<const std::int64_t>(given.shape, rank));
    for (const std::int64_t extent : tensor.shape) {
        if (extent < 0) {
            return refused(why, ErrorCode::shape_mismatch,
                           [&] { return "its shape has the extent " + std::to_string(extent); });
        }
    }
    if (rank != 0 && given.strides != nullptr) {
        tensor.strides = Dims(std::span<const std::int64_t>(given.strides, rank));
    } else {
        fill_strides(tensor);
    }
    tensor.address = has_elements(tensor) && given.data != nullptr
                         ? reinterpret_cast<std::uint64_t>(given.data) + given.byte_offset
                         : 0;
    return true;
}

std::string unreadable_text(const py::error_already_set& error) {
    const std::string text = py::bytes(py::str(error.value()).attr("encode")("utf8", "replace"));
    return "it can't be read: " + text.substr(0, text.find('\n'));
}

Borrowing borrow(const dlpack::ExchangeApi& api, PyObject* value, ForeignTensor& tensor, Refusal* why) {
    dlpack::Tensor found;
    if (api.dltensor_from_py_object_no_sync(value, &found) != 0) {
        py::error_already_set error;
        // What ends the program isn't about the tensor.
        if (!error.matches(PyExc_Exception)) throw error;
        refused(why, ErrorCode::type_mismatch, [&] { return unreadable_text(error); });
        return Borrowing::opaque;
    }
    tensor.read_only = false;
    tensor.owner = nullptr;
    tensor.stream.reset();
    if (!take_tensor(found, tensor, why)) return Borrowing::refused;
    if (tensor.address == 0 && has_elements(tensor)) {
        refused(why, ErrorCode::type_mismatch, [] { return std::string("it has no memory"); });
        return Borrowing::opaque;
    }
    return Borrowing::taken;
}

void* current_stream(const dlpack::ExchangeApi& api, int ordinal) {
    void* stream = nullptr;
    if (api.current_work_stream(dlpack::cuda, ordinal, &stream) != 0) throw py::error_already_set();
    return stream;
}

bool is_negated(PyObject* value) {
    static PyObject* const name = PyUnicode_InternFromString("is_neg");
    const auto said = py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(value, name));
    if (!said) throw py::error_already_set();
    return said.ptr() == Py_True;
}

py::array as_array(const ForeignTensor& tensor, py::handle base) {
    const auto size = static_cast<py::ssize_t>(size_of(tensor.scalar));
    const std::vector<py::ssize_t> shape(tensor.shape.begin(), tensor.shape.end());
    std::vector<py::ssize_t> strides(tensor.strides.begin(), tensor.strides.end());
    for (py::ssize_t& stride : strides) stride *= size;
    const py::dtype dtype = dtype_of(tensor.scalar);
    if (tensor.address == 0) return {dtype, shape};  // without elements
    const py::object kept = base ? py::reinterpret_borrow<py::object>(base) : capsule_of(tensor.owner);
    py::array array(dtype, shape, strides, tensor.host(), kept);
    if (tensor.read_only)
        py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}

std::string describe(const ForeignTensor& tensor) {
    return detail::with_article(numpy_name(tensor.scalar)) + " tensor of shape " + to_string(tensor.shape) +
           " on " +
           (tensor.kind == ForeignMemoryKind::host ? "cpu" : "cuda:" + std::to_string(tensor.ordinal));
}

}  // namespace kf::python
