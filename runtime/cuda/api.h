// The small part of CUDA's driver API that is called here, declared anew: cuda.h isn't needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

// Declarations of CUDA 12.0, with CUDA's names and numbers. A test compares this file with cuda.h where there
// is one.
namespace kf::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUkernel = struct CUkern_st*;
using CUarray = struct CUarray_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUuserObject = struct CUuserObject_st*;
using CUhostFn = void (*)(void*);

inline constexpr int needed_version = 12000;  ///< of the driver: CUDA 12.0

inline constexpr CUresult CUDA_SUCCESS = 0;
inline constexpr CUresult CUDA_ERROR_INVALID_VALUE = 1;
inline constexpr CUresult CUDA_ERROR_OUT_OF_MEMORY = 2;
inline constexpr CUresult CUDA_ERROR_STUB_LIBRARY = 34;
inline constexpr CUresult CUDA_ERROR_NO_DEVICE = 100;
inline constexpr CUresult CUDA_ERROR_INVALID_IMAGE = 200;
inline constexpr CUresult CUDA_ERROR_INVALID_CONTEXT = 201;
inline constexpr CUresult CUDA_ERROR_NO_BINARY_FOR_GPU = 209;
inline constexpr CUresult CUDA_ERROR_ECC_UNCORRECTABLE = 214;
inline constexpr CUresult CUDA_ERROR_INVALID_PTX = 218;
inline constexpr CUresult CUDA_ERROR_NVLINK_UNCORRECTABLE = 220;
inline constexpr CUresult CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221;
inline constexpr CUresult CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222;
inline constexpr CUresult CUDA_ERROR_JIT_COMPILATION_DISABLED = 223;
inline constexpr CUresult CUDA_ERROR_CONTAINED = 226;
inline constexpr CUresult CUDA_ERROR_NOT_FOUND = 500;
inline constexpr CUresult CUDA_ERROR_NOT_READY = 600;
inline constexpr CUresult CUDA_ERROR_ILLEGAL_ADDRESS = 700;
inline constexpr CUresult CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701;
inline constexpr CUresult CUDA_ERROR_LAUNCH_TIMEOUT = 702;
inline constexpr CUresult CUDA_ERROR_CONTEXT_IS_DESTROYED = 709;
inline constexpr CUresult CUDA_ERROR_ASSERT = 710;
inline constexpr CUresult CUDA_ERROR_HARDWARE_STACK_ERROR = 714;
inline constexpr CUresult CUDA_ERROR_LAUNCH_FAILED = 719;
inline constexpr CUresult CUDA_ERROR_TENSOR_MEMORY_LEAK = 721;
inline constexpr CUresult CUDA_ERROR_SYSTEM_NOT_READY = 802;
inline constexpr CUresult CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803;
inline constexpr CUresult CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804;
inline constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900;
inline constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905;
inline constexpr CUresult CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906;

inline constexpr int CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2;  // Y and Z follow
inline constexpr int CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5;   // Y and Z follow
inline constexpr int CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16;
inline constexpr int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75;
inline constexpr int CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76;
inline constexpr int CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115;
inline constexpr int CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0;
inline constexpr int CU_JIT_ERROR_LOG_BUFFER = 5;
inline constexpr int CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6;
inline constexpr int CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4;
inline constexpr int CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5;
inline constexpr int CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7;
inline constexpr int CU_MEM_ALLOCATION_TYPE_PINNED = 1;
inline constexpr int CU_MEM_LOCATION_TYPE_DEVICE = 1;
inline constexpr int CU_MEMORYTYPE_HOST = 1;
inline constexpr int CU_MEMORYTYPE_DEVICE = 2;
inline constexpr int CU_MEMORYTYPE_ARRAY = 3;
inline constexpr int CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9;
inline constexpr int CU_STREAM_CAPTURE_STATUS_NONE = 0;
inline constexpr int CU_STREAM_CAPTURE_STATUS_ACTIVE = 1;
inline constexpr int CU_STREAM_CAPTURE_MODE_RELAXED = 2;

inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr unsigned CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1;
inline constexpr unsigned CU_GRAPH_USER_OBJECT_MOVE = 1;

// CU_LAUNCH_PARAM_BUFFER_POINTER and ..._SIZE, markers in the last argument of cuLaunchKernel.
inline constexpr std::uintptr_t launch_buffer_pointer = 1;
inline constexpr std::uintptr_t launch_buffer_size = 2;

// Declarations for memory and semaphores that are shared with other APIs.
using CUmemGenericAllocationHandle = unsigned long long;
using CUexternalMemory = struct CUextMemory_st*;
using CUexternalSemaphore = struct CUextSemaphore_st*;

inline constexpr int CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103;
inline constexpr int CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114;
inline constexpr int CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1;
inline constexpr int CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3;
inline constexpr int CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0;
inline constexpr int CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD = 1;
inline constexpr int CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD = 9;

struct CUuuid {
    unsigned char bytes[16] = {};
};

struct CUmemLocation {
    int type = 0;
    int id = 0;
};

struct CUmemAllocationProp {
    int type = 0;
    int requestedHandleTypes = 0;
    CUmemLocation location;
    void* win32HandleMetaData = nullptr;
    struct {
        unsigned char compressionType = 0;
        unsigned char gpuDirectRDMACapable = 0;
        unsigned short usage = 0;
        unsigned char reserved[4] = {};
    } allocFlags;
};

struct CUmemAccessDesc {
    CUmemLocation location;
    int flags = 0;
};

/// A file descriptor, or the Windows handle that CUDA takes in its place.
union CudaShareable {
    struct {
        void* handle;
        const void* name;
    } win32;
    int fd;
};

struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    int type = 0;
    CudaShareable handle{};
    unsigned long long size = 0;
    unsigned flags = 0;
    unsigned reserved[16] = {};
};

struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
    unsigned long long offset = 0;
    unsigned long long size = 0;
    unsigned flags = 0;
    unsigned reserved[16] = {};
};

struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
    int type = 0;
    CudaShareable handle{};
    unsigned flags = 0;
    unsigned reserved[16] = {};
};

struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS {
    struct {
        struct {
            unsigned long long value = 0;
        } fence;
        unsigned long long nvSciSync = 0;
        unsigned long long keyedMutex = 0;
        unsigned reserved[12] = {};
    } params;
    unsigned flags = 0;
    unsigned reserved[16] = {};
};

struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS {
    struct {
        struct {
            unsigned long long value = 0;
        } fence;
        unsigned long long nvSciSync = 0;
        struct {
            unsigned long long key = 0;
            unsigned timeoutMs = 0;
        } keyedMutex;
        unsigned reserved[10] = {};
    } params;
    unsigned flags = 0;
    unsigned reserved[16] = {};
};

struct CUmemPoolProps {
    int allocType = 0;
    int handleTypes = 0;
    struct {
        int type = 0;
        int id = 0;
    } location;
    void* win32SecurityAttributes = nullptr;
    unsigned char reserved[64] = {};
};

/// Version 2 of the struct, which the functions here take.
struct CUDA_KERNEL_NODE_PARAMS {
    CUfunction func = nullptr;
    unsigned gridDimX = 0;
    unsigned gridDimY = 0;
    unsigned gridDimZ = 0;
    unsigned blockDimX = 0;
    unsigned blockDimY = 0;
    unsigned blockDimZ = 0;
    unsigned sharedMemBytes = 0;
    void** kernelParams = nullptr;
    void** extra = nullptr;
    CUkernel kern = nullptr;
    CUcontext ctx = nullptr;
};

struct CUDA_MEMSET_NODE_PARAMS {
    CUdeviceptr dst = 0;
    std::size_t pitch = 0;
    unsigned value = 0;
    unsigned elementSize = 0;
    std::size_t width = 0;  ///< elements
    std::size_t height = 0;
};

/// Version 2 of the struct.
struct CUDA_MEMCPY3D {
    std::size_t srcXInBytes = 0;
    std::size_t srcY = 0;
    std::size_t srcZ = 0;
    std::size_t srcLOD = 0;
    int srcMemoryType = 0;
    const void* srcHost = nullptr;
    CUdeviceptr srcDevice = 0;
    CUarray srcArray = nullptr;
    void* reserved0 = nullptr;
    std::size_t srcPitch = 0;
    std::size_t srcHeight = 0;
    std::size_t dstXInBytes = 0;
    std::size_t dstY = 0;
    std::size_t dstZ = 0;
    std::size_t dstLOD = 0;
    int dstMemoryType = 0;
    void* dstHost = nullptr;
    CUdeviceptr dstDevice = 0;
    CUarray dstArray = nullptr;
    void* reserved1 = nullptr;
    std::size_t dstPitch = 0;
    std::size_t dstHeight = 0;
    std::size_t WidthInBytes = 0;
    std::size_t Height = 0;
    std::size_t Depth = 0;
};

}  // namespace kf::cuda
