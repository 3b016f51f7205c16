// Compares our own declarations of CUDA's driver API with NVIDIA's header.
#include <cuda.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "cuda/functions.h"
#include "cuda/sharing_functions.h"
#include "cuda/texture_functions.h"

namespace kf::test {
namespace {

/// What matters to a call: pointers are alike, and an enumeration is its number.
template <class T>
constexpr auto plain() {
    if constexpr (std::is_pointer_v<T>) {
        return std::type_identity<void*>();
    } else if constexpr (std::is_enum_v<T>) {
        static_assert(sizeof(T) == sizeof(int));
        return std::type_identity<int>();
    } else {
        return std::type_identity<T>();
    }
}
template <class Function>
struct Plain;
template <class Result, class... Arguments>
struct Plain<Result (*)(Arguments...)> {
    using type = typename decltype(plain<Result>())::type (*)(typename decltype(plain<Arguments>())::type...);
};
template <class Ours, class Theirs>
constexpr bool is_alike = std::is_same_v<typename Plain<Ours>::type, typename Plain<Theirs>::type>;

// With the header's macros the names mean the newest versions; those declared otherwise are looked at by
// hand.
#define KF_ALIKE(name, theirs) \
    static_assert(is_alike<decltype(cuda::Functions::name), decltype(&::theirs)>, #name)
KF_ALIKE(cuInit, cuInit);
KF_ALIKE(cuDriverGetVersion, cuDriverGetVersion);
KF_ALIKE(cuGetErrorName, cuGetErrorName);
KF_ALIKE(cuGetErrorString, cuGetErrorString);
KF_ALIKE(cuDeviceGetCount, cuDeviceGetCount);
KF_ALIKE(cuDeviceGet, cuDeviceGet);
KF_ALIKE(cuDeviceGetName, cuDeviceGetName);
KF_ALIKE(cuDeviceGetAttribute, cuDeviceGetAttribute);
KF_ALIKE(cuDeviceTotalMem_v2, cuDeviceTotalMem);
KF_ALIKE(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
KF_ALIKE(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);
KF_ALIKE(cuCtxGetCurrent, cuCtxGetCurrent);
KF_ALIKE(cuCtxPushCurrent_v2, cuCtxPushCurrent);
KF_ALIKE(cuCtxPopCurrent_v2, cuCtxPopCurrent);
KF_ALIKE(cuCtxSynchronize, cuCtxSynchronize);
KF_ALIKE(cuStreamCreate, cuStreamCreate);
KF_ALIKE(cuStreamDestroy_v2, cuStreamDestroy);
KF_ALIKE(cuStreamSynchronize, cuStreamSynchronize);
KF_ALIKE(cuStreamQuery, cuStreamQuery);
KF_ALIKE(cuStreamWaitEvent, cuStreamWaitEvent);
KF_ALIKE(cuStreamGetCtx, cuStreamGetCtx);
KF_ALIKE(cuStreamGetId, cuStreamGetId);
KF_ALIKE(cuStreamIsCapturing, cuStreamIsCapturing);
KF_ALIKE(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode);
KF_ALIKE(cuGraphRetainUserObject, cuGraphRetainUserObject);
KF_ALIKE(cuGraphCreate, cuGraphCreate);
KF_ALIKE(cuGraphDestroy, cuGraphDestroy);
KF_ALIKE(cuGraphAddKernelNode_v2, cuGraphAddKernelNode);
KF_ALIKE(cuGraphAddMemsetNode, cuGraphAddMemsetNode);
KF_ALIKE(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode);
KF_ALIKE(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags);
KF_ALIKE(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams);
KF_ALIKE(cuGraphLaunch, cuGraphLaunch);
KF_ALIKE(cuGraphExecDestroy, cuGraphExecDestroy);
KF_ALIKE(cuUserObjectCreate, cuUserObjectCreate);
KF_ALIKE(cuUserObjectRelease, cuUserObjectRelease);
KF_ALIKE(cuEventCreate, cuEventCreate);
KF_ALIKE(cuEventDestroy_v2, cuEventDestroy);
KF_ALIKE(cuEventRecord, cuEventRecord);
KF_ALIKE(cuEventQuery, cuEventQuery);
KF_ALIKE(cuEventSynchronize, cuEventSynchronize);
KF_ALIKE(cuEventElapsedTime, cuEventElapsedTime);
KF_ALIKE(cuMemPoolCreate, cuMemPoolCreate);
KF_ALIKE(cuMemPoolDestroy, cuMemPoolDestroy);
KF_ALIKE(cuMemPoolSetAttribute, cuMemPoolSetAttribute);
KF_ALIKE(cuMemPoolGetAttribute, cuMemPoolGetAttribute);
KF_ALIKE(cuMemPoolTrimTo, cuMemPoolTrimTo);
KF_ALIKE(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync);
KF_ALIKE(cuMemFreeAsync, cuMemFreeAsync);
KF_ALIKE(cuPointerGetAttribute, cuPointerGetAttribute);
KF_ALIKE(cuMemGetInfo_v2, cuMemGetInfo);
KF_ALIKE(cuMemHostAlloc, cuMemHostAlloc);
KF_ALIKE(cuMemFreeHost, cuMemFreeHost);
KF_ALIKE(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync);
KF_ALIKE(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync);
KF_ALIKE(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync);
KF_ALIKE(cuMemsetD32Async, cuMemsetD32Async);
KF_ALIKE(cuModuleLoadDataEx, cuModuleLoadDataEx);
KF_ALIKE(cuModuleUnload, cuModuleUnload);
KF_ALIKE(cuModuleGetFunction, cuModuleGetFunction);
KF_ALIKE(cuFuncGetAttribute, cuFuncGetAttribute);
KF_ALIKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor);
KF_ALIKE(cuLaunchKernel, cuLaunchKernel);

#define KF_ALIKE_TEXTURE(name, theirs) \
    static_assert(is_alike<decltype(cuda::TextureFunctions::name), decltype(&::theirs)>, #name)
KF_ALIKE_TEXTURE(cuMemcpy3DAsync_v2, cuMemcpy3DAsync);
KF_ALIKE_TEXTURE(cuArray3DCreate_v2, cuArray3DCreate);
KF_ALIKE_TEXTURE(cuArray3DGetDescriptor_v2, cuArray3DGetDescriptor);
KF_ALIKE_TEXTURE(cuArrayDestroy, cuArrayDestroy);
KF_ALIKE_TEXTURE(cuMipmappedArrayCreate, cuMipmappedArrayCreate);
KF_ALIKE_TEXTURE(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel);
KF_ALIKE_TEXTURE(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy);
KF_ALIKE_TEXTURE(cuTexObjectCreate, cuTexObjectCreate);
KF_ALIKE_TEXTURE(cuTexObjectDestroy, cuTexObjectDestroy);
KF_ALIKE_TEXTURE(cuSurfObjectCreate, cuSurfObjectCreate);
KF_ALIKE_TEXTURE(cuSurfObjectDestroy, cuSurfObjectDestroy);

#define KF_ALIKE_SHARING(name, theirs) \
    static_assert(is_alike<decltype(cuda::SharingFunctions::name), decltype(&::theirs)>, #name)
KF_ALIKE_SHARING(cuDeviceGetUuid, cuDeviceGetUuid);
KF_ALIKE_SHARING(cuMemCreate, cuMemCreate);
KF_ALIKE_SHARING(cuMemRelease, cuMemRelease);
KF_ALIKE_SHARING(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity);
KF_ALIKE_SHARING(cuMemAddressReserve, cuMemAddressReserve);
KF_ALIKE_SHARING(cuMemAddressFree, cuMemAddressFree);
KF_ALIKE_SHARING(cuMemMap, cuMemMap);
KF_ALIKE_SHARING(cuMemUnmap, cuMemUnmap);
KF_ALIKE_SHARING(cuMemSetAccess, cuMemSetAccess);
KF_ALIKE_SHARING(cuMemExportToShareableHandle, cuMemExportToShareableHandle);
KF_ALIKE_SHARING(cuImportExternalMemory, cuImportExternalMemory);
KF_ALIKE_SHARING(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer);
KF_ALIKE_SHARING(cuDestroyExternalMemory, cuDestroyExternalMemory);
KF_ALIKE_SHARING(cuImportExternalSemaphore, cuImportExternalSemaphore);
KF_ALIKE_SHARING(cuDestroyExternalSemaphore, cuDestroyExternalSemaphore);
KF_ALIKE_SHARING(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync);
KF_ALIKE_SHARING(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync);
KF_ALIKE_SHARING(cuMemFree_v2, cuMemFree);

#define KF_EQUAL(name) static_assert(static_cast<long>(cuda::name) == static_cast<long>(::name), #name)
KF_EQUAL(CUDA_SUCCESS);
KF_EQUAL(CUDA_ERROR_INVALID_VALUE);
KF_EQUAL(CUDA_ERROR_OUT_OF_MEMORY);
KF_EQUAL(CUDA_ERROR_STUB_LIBRARY);
KF_EQUAL(CUDA_ERROR_NO_DEVICE);
KF_EQUAL(CUDA_ERROR_INVALID_IMAGE);
KF_EQUAL(CUDA_ERROR_INVALID_CONTEXT);
KF_EQUAL(CUDA_ERROR_NO_BINARY_FOR_GPU);
KF_EQUAL(CUDA_ERROR_ECC_UNCORRECTABLE);
KF_EQUAL(CUDA_ERROR_INVALID_PTX);
KF_EQUAL(CUDA_ERROR_NVLINK_UNCORRECTABLE);
KF_EQUAL(CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
KF_EQUAL(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
KF_EQUAL(CUDA_ERROR_JIT_COMPILATION_DISABLED);
KF_EQUAL(CUDA_ERROR_NOT_FOUND);
KF_EQUAL(CUDA_ERROR_NOT_READY);
KF_EQUAL(CUDA_ERROR_ILLEGAL_ADDRESS);
KF_EQUAL(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
KF_EQUAL(CUDA_ERROR_LAUNCH_TIMEOUT);
KF_EQUAL(CUDA_ERROR_CONTEXT_IS_DESTROYED);
KF_EQUAL(CUDA_ERROR_ASSERT);
KF_EQUAL(CUDA_ERROR_HARDWARE_STACK_ERROR);
KF_EQUAL(CUDA_ERROR_LAUNCH_FAILED);
KF_EQUAL(CUDA_ERROR_SYSTEM_NOT_READY);
KF_EQUAL(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
KF_EQUAL(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
KF_EQUAL(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
KF_EQUAL(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
KF_EQUAL(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
KF_EQUAL(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
KF_EQUAL(CU_JIT_ERROR_LOG_BUFFER);
KF_EQUAL(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
KF_EQUAL(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
KF_EQUAL(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
KF_EQUAL(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
KF_EQUAL(CU_MEM_ALLOCATION_TYPE_PINNED);
KF_EQUAL(CU_MEM_LOCATION_TYPE_DEVICE);
KF_EQUAL(CU_MEMORYTYPE_HOST);
KF_EQUAL(CU_MEMORYTYPE_DEVICE);
KF_EQUAL(CU_MEMORYTYPE_ARRAY);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH);
KF_EQUAL(CU_AD_FORMAT_UNSIGNED_INT8);
KF_EQUAL(CU_AD_FORMAT_UNSIGNED_INT16);
KF_EQUAL(CU_AD_FORMAT_UNSIGNED_INT32);
KF_EQUAL(CU_AD_FORMAT_SIGNED_INT8);
KF_EQUAL(CU_AD_FORMAT_SIGNED_INT16);
KF_EQUAL(CU_AD_FORMAT_SIGNED_INT32);
KF_EQUAL(CU_AD_FORMAT_HALF);
KF_EQUAL(CU_AD_FORMAT_FLOAT);
KF_EQUAL(CU_RES_VIEW_FORMAT_UINT_1X8);
KF_EQUAL(CU_RES_VIEW_FORMAT_SINT_1X8);
KF_EQUAL(CU_RES_VIEW_FORMAT_UINT_1X16);
KF_EQUAL(CU_RES_VIEW_FORMAT_SINT_1X16);
KF_EQUAL(CU_RES_VIEW_FORMAT_UINT_1X32);
KF_EQUAL(CU_RES_VIEW_FORMAT_SINT_1X32);
KF_EQUAL(CU_RES_VIEW_FORMAT_FLOAT_1X16);
KF_EQUAL(CU_RES_VIEW_FORMAT_FLOAT_1X32);
KF_EQUAL(CU_RESOURCE_TYPE_ARRAY);
KF_EQUAL(CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
KF_EQUAL(CU_TR_ADDRESS_MODE_WRAP);
KF_EQUAL(CU_TR_ADDRESS_MODE_CLAMP);
KF_EQUAL(CU_TR_ADDRESS_MODE_MIRROR);
KF_EQUAL(CU_TR_ADDRESS_MODE_BORDER);
KF_EQUAL(CU_TR_FILTER_MODE_POINT);
KF_EQUAL(CU_TR_FILTER_MODE_LINEAR);
static_assert(cuda::array_layered == CUDA_ARRAY3D_LAYERED);
static_assert(cuda::array_surface == CUDA_ARRAY3D_SURFACE_LDST);
static_assert(cuda::array_cubemap == CUDA_ARRAY3D_CUBEMAP);
static_assert(cuda::array_gather == CUDA_ARRAY3D_TEXTURE_GATHER);
static_assert(cuda::texture_integers == CU_TRSF_READ_AS_INTEGER);
static_assert(cuda::texture_normalized == CU_TRSF_NORMALIZED_COORDINATES);
static_assert(cuda::texture_srgb == CU_TRSF_SRGB);
static_assert(cuda::texture_exact_trilinear == CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
static_assert(cuda::texture_seamless_cubemap == CU_TRSF_SEAMLESS_CUBEMAP);
KF_EQUAL(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
KF_EQUAL(CU_STREAM_CAPTURE_STATUS_NONE);
KF_EQUAL(CU_STREAM_CAPTURE_STATUS_ACTIVE);
KF_EQUAL(CU_STREAM_CAPTURE_MODE_RELAXED);
KF_EQUAL(CU_STREAM_NON_BLOCKING);
KF_EQUAL(CU_EVENT_DISABLE_TIMING);
KF_EQUAL(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
KF_EQUAL(CU_GRAPH_USER_OBJECT_MOVE);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
KF_EQUAL(CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED);
KF_EQUAL(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
KF_EQUAL(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
KF_EQUAL(CU_MEM_ALLOC_GRANULARITY_MINIMUM);
KF_EQUAL(CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD);
KF_EQUAL(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);

static_assert(sizeof(cuda::CUmemPoolProps) == sizeof(::CUmemPoolProps));
static_assert(offsetof(cuda::CUmemPoolProps, location) == offsetof(::CUmemPoolProps, location));
static_assert(offsetof(cuda::CUmemPoolProps, win32SecurityAttributes) ==
              offsetof(::CUmemPoolProps, win32SecurityAttributes));
#define KF_SAME_PLACE(type, member)                                                                       \
    static_assert(                                                                                        \
        sizeof(cuda::type) == sizeof(::type) && offsetof(cuda::type, member) == offsetof(::type, member), \
        #type "::" #member)
KF_SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, gridDimX);
KF_SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, blockDimZ);
KF_SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
KF_SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, extra);
KF_SAME_PLACE(CUDA_KERNEL_NODE_PARAMS, ctx);
KF_SAME_PLACE(CUDA_MEMSET_NODE_PARAMS, value);
KF_SAME_PLACE(CUDA_MEMSET_NODE_PARAMS, elementSize);
KF_SAME_PLACE(CUDA_MEMSET_NODE_PARAMS, width);
KF_SAME_PLACE(CUDA_MEMSET_NODE_PARAMS, height);
KF_SAME_PLACE(CUDA_MEMCPY3D, srcMemoryType);
KF_SAME_PLACE(CUDA_MEMCPY3D, srcDevice);
KF_SAME_PLACE(CUDA_MEMCPY3D, dstMemoryType);
KF_SAME_PLACE(CUDA_MEMCPY3D, dstDevice);
KF_SAME_PLACE(CUDA_MEMCPY3D, WidthInBytes);
KF_SAME_PLACE(CUDA_MEMCPY3D, Depth);
KF_SAME_PLACE(CUDA_ARRAY3D_DESCRIPTOR, Format);
KF_SAME_PLACE(CUDA_ARRAY3D_DESCRIPTOR, Flags);
KF_SAME_PLACE(CUDA_RESOURCE_DESC, res);
KF_SAME_PLACE(CUDA_RESOURCE_DESC, flags);
KF_SAME_PLACE(CUDA_TEXTURE_DESC, filterMode);
KF_SAME_PLACE(CUDA_TEXTURE_DESC, flags);
KF_SAME_PLACE(CUDA_TEXTURE_DESC, mipmapFilterMode);
KF_SAME_PLACE(CUDA_TEXTURE_DESC, borderColor);
KF_SAME_PLACE(CUDA_RESOURCE_VIEW_DESC, width);
KF_SAME_PLACE(CUDA_RESOURCE_VIEW_DESC, firstMipmapLevel);
KF_SAME_PLACE(CUDA_RESOURCE_VIEW_DESC, lastLayer);
KF_SAME_PLACE(CUmemAllocationProp, requestedHandleTypes);
KF_SAME_PLACE(CUmemAllocationProp, location);
KF_SAME_PLACE(CUmemAllocationProp, allocFlags);
KF_SAME_PLACE(CUmemAccessDesc, flags);
KF_SAME_PLACE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle);
KF_SAME_PLACE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size);
KF_SAME_PLACE(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size);
KF_SAME_PLACE(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, handle);
KF_SAME_PLACE(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, flags);
KF_SAME_PLACE(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, params);
KF_SAME_PLACE(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, flags);
KF_SAME_PLACE(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, params);
KF_SAME_PLACE(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, flags);
static_assert(std::is_same_v<CUdeviceptr, cuda::CUdeviceptr> && std::is_same_v<CUdevice, cuda::CUdevice>);

TEST(Api, MarkersAreWhatTheHeaderSays) {
    EXPECT_EQ(reinterpret_cast<void*>(cuda::launch_buffer_pointer), CU_LAUNCH_PARAM_BUFFER_POINTER);
    EXPECT_EQ(reinterpret_cast<void*>(cuda::launch_buffer_size), CU_LAUNCH_PARAM_BUFFER_SIZE);
    EXPECT_EQ(nullptr, CU_LAUNCH_PARAM_END);
}

}  // namespace
}  // namespace kf::test
