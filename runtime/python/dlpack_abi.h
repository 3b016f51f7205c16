// The ABI of DLPack 1.3, by which libraries hand each other tensors: our own declarations of its structs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kf::python::dlpack {

/// Another major version has another layout: of such a struct only what comes before `flags` may be read.
struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};
inline constexpr Version version{1, 3};

// Kinds of devices, of those that have numbers.
inline constexpr std::int32_t cpu = 1;
inline constexpr std::int32_t cuda = 2;
inline constexpr std::int32_t cuda_host = 3;      ///< pinned
inline constexpr std::int32_t cuda_managed = 13;  ///< reached from the host and from devices

struct Device {
    std::int32_t type;
    std::int32_t id;  ///< 0 of pinned and managed memory
};

// Codes of element types.
inline constexpr std::uint8_t code_int = 0;
inline constexpr std::uint8_t code_uint = 1;
inline constexpr std::uint8_t code_float = 2;
inline constexpr std::uint8_t code_bfloat = 4;
inline constexpr std::uint8_t code_complex = 5;
inline constexpr std::uint8_t code_bool = 6;

struct DataType {
    std::uint8_t code;
    std::uint8_t bits;    ///< of one lane
    std::uint16_t lanes;  ///< 1, but for vectors
};

/// A tensor whose memory, shape and strides are somebody else's.
struct Tensor {
    void* data;  ///< may be null where there are no elements
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t* shape;    ///< may be null for a rank of 0
    std::int64_t* strides;  ///< in elements; before 1.2, null of contiguous tensors
    std::uint64_t byte_offset;
};

/// What capsules named "dltensor" hold: a tensor and how to let it go. Without a version.
struct ManagedTensor {
    Tensor tensor;
    void* context;
    void (*deleter)(ManagedTensor* self);  ///< may be null
};

inline constexpr std::uint64_t flag_read_only = 1;
inline constexpr std::uint64_t flag_is_copied = 2;  ///< nobody else has the memory

/// What capsules named "dltensor_versioned" hold.
struct ManagedTensorVersioned {
    Version version;
    void* context;
    void (*deleter)(ManagedTensorVersioned* self);  ///< may be null
    std::uint64_t flags;
    Tensor tensor;
};

using SetError = void (*)(void* error_context, const char* kind, const char* message);

/// The functions that a type offers as __dlpack_c_exchange_api__, a capsule named "dlpack_exchange_api". It
/// lives as long as the process. All return 0, or -1 with an error set: Python's, but for the allocator.
/// None waits for a stream or lets one wait.
struct ExchangeApi {
    Version version;
    const ExchangeApi* previous;  ///< one of an older version; its header is as this one's
    /// Makes a tensor of the prototype's element type, shape and device.
    int (*managed_tensor_allocator)(Tensor* prototype, ManagedTensorVersioned** out, void* error_context,
                                    SetError set_error);
    int (*managed_tensor_from_py_object_no_sync)(void* object, ManagedTensorVersioned** out);
    /// Takes over `tensor`, and returns a new reference.
    int (*managed_tensor_to_py_object_no_sync)(ManagedTensorVersioned* tensor, void** out);
    /// Fills a struct that is good until control returns to the library; may be null.
    int (*dltensor_from_py_object_no_sync)(void* object, Tensor* out);
    int (*current_work_stream)(std::int32_t device_type, std::int32_t device_id, void** out);
};

static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, shape) == 24 && offsetof(Tensor, byte_offset) == 40);
static_assert(offsetof(ManagedTensor, context) == 48 && sizeof(ManagedTensor) == 64);
static_assert(offsetof(ManagedTensorVersioned, flags) == 24 &&
              offsetof(ManagedTensorVersioned, tensor) == 32);
static_assert(offsetof(ExchangeApi, managed_tensor_allocator) == 16 && sizeof(ExchangeApi) == 56);

}  // namespace kf::python::dlpack
