// The CUDA functions for memory and semaphores that another API has, too.
#pragma once

#include <functional>

#include "cuda/api.h"

// X(name in libcuda, parameters): all return CUresult.
#define KF_CUDA_SHARING_FUNCTIONS(X)                                                                       \
    X(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                                                   \
    X(cuMemCreate, (CUmemGenericAllocationHandle * handle, std::size_t bytes,                              \
                    const CUmemAllocationProp* properties, unsigned long long flags))                      \
    X(cuMemRelease, (CUmemGenericAllocationHandle handle))                                                 \
    X(cuMemGetAllocationGranularity, (std::size_t * bytes, const CUmemAllocationProp* properties, int of)) \
    X(cuMemAddressReserve, (CUdeviceptr * address, std::size_t bytes, std::size_t alignment,               \
                            CUdeviceptr wanted, unsigned long long flags))                                 \
    X(cuMemAddressFree, (CUdeviceptr address, std::size_t bytes))                                          \
    X(cuMemMap, (CUdeviceptr address, std::size_t bytes, std::size_t offset,                               \
                 CUmemGenericAllocationHandle handle, unsigned long long flags))                           \
    X(cuMemUnmap, (CUdeviceptr address, std::size_t bytes))                                                \
    X(cuMemSetAccess,                                                                                      \
      (CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count))          \
    X(cuMemExportToShareableHandle,                                                                        \
      (void* file, CUmemGenericAllocationHandle handle, int type, unsigned long long flags))               \
    X(cuMemFree_v2, (CUdeviceptr address))                                                                 \
    X(cuImportExternalMemory, (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* handle)) \
    X(cuExternalMemoryGetMappedBuffer,                                                                     \
      (CUdeviceptr * address, CUexternalMemory memory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* buffer))    \
    X(cuDestroyExternalMemory, (CUexternalMemory memory))                                                  \
    X(cuImportExternalSemaphore,                                                                           \
      (CUexternalSemaphore * semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* handle))                \
    X(cuDestroyExternalSemaphore, (CUexternalSemaphore semaphore))                                         \
    X(cuSignalExternalSemaphoresAsync,                                                                     \
      (const CUexternalSemaphore* semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* values,         \
       unsigned count, CUstream stream))                                                                   \
    X(cuWaitExternalSemaphoresAsync,                                                                       \
      (const CUexternalSemaphore* semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* values,           \
       unsigned count, CUstream stream))

namespace kf::cuda {

#define KF_CUDA_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;

struct SharingFunctions {
    KF_CUDA_SHARING_FUNCTIONS(KF_CUDA_MEMBER)
    bool is_complete = false;

    /// Loads the functions that the driver has.
    static SharingFunctions load(const std::function<void*(const char*)>& lookup);
};

#undef KF_CUDA_MEMBER

}  // namespace kf::cuda
