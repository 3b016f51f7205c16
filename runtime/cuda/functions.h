// The CUDA functions that the driver calls, in one table an object: no globals, no exported cu* symbols.
#pragma once

#include <functional>

#include "cuda/api.h"

// X(name in libcuda, parameters): all return CUresult.
#define KF_CUDA_FUNCTIONS(X)                                                                              \
    X(cuInit, (unsigned flags))                                                                           \
    X(cuDriverGetVersion, (int* version))                                                                 \
    X(cuGetErrorName, (CUresult error, const char** text))                                                \
    X(cuGetErrorString, (CUresult error, const char** text))                                              \
    X(cuDeviceGetCount, (int* count))                                                                     \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                                      \
    X(cuDeviceGetName, (char* name, int size, CUdevice device))                                           \
    X(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))                                 \
    X(cuDeviceTotalMem_v2, (std::size_t * bytes, CUdevice device))                                        \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                   \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                    \
    X(cuCtxGetCurrent, (CUcontext * context))                                                             \
    X(cuCtxPushCurrent_v2, (CUcontext context))                                                           \
    X(cuCtxPopCurrent_v2, (CUcontext * context))                                                          \
    X(cuCtxSynchronize, ())                                                                               \
    X(cuStreamCreate, (CUstream * stream, unsigned flags))                                                \
    X(cuStreamDestroy_v2, (CUstream stream))                                                              \
    X(cuStreamSynchronize, (CUstream stream))                                                             \
    X(cuStreamQuery, (CUstream stream))                                                                   \
    X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))                                \
    X(cuStreamGetCtx, (CUstream stream, CUcontext * context))                                             \
    X(cuStreamGetId, (CUstream stream, unsigned long long* id))                                           \
    X(cuStreamIsCapturing, (CUstream stream, int* status))                                                \
    X(cuStreamGetCaptureInfo_v2, (CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,        \
                                  const CUgraphNode** dependencies, std::size_t* count))                  \
    X(cuThreadExchangeStreamCaptureMode, (int* mode))                                                     \
    X(cuGraphRetainUserObject, (CUgraph graph, CUuserObject object, unsigned count, unsigned flags))      \
    X(cuGraphCreate, (CUgraph * graph, unsigned flags))                                                   \
    X(cuGraphDestroy, (CUgraph graph))                                                                    \
    X(cuGraphAddKernelNode_v2, (CUgraphNode * node, CUgraph graph, const CUgraphNode* before,             \
                                std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters))            \
    X(cuGraphAddMemsetNode,                                                                               \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode* before, std::size_t count,                   \
       const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext context))                                     \
    X(cuGraphAddMemcpyNode, (CUgraphNode * node, CUgraph graph, const CUgraphNode* before,                \
                             std::size_t count, const CUDA_MEMCPY3D* parameters, CUcontext context))      \
    X(cuGraphInstantiateWithFlags, (CUgraphExec * runs, CUgraph graph, unsigned long long flags))         \
    X(cuGraphExecKernelNodeSetParams_v2,                                                                  \
      (CUgraphExec runs, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters))                    \
    X(cuGraphLaunch, (CUgraphExec runs, CUstream stream))                                                 \
    X(cuGraphExecDestroy, (CUgraphExec runs))                                                             \
    X(cuUserObjectCreate,                                                                                 \
      (CUuserObject * object, void* data, CUhostFn destroy, unsigned references, unsigned flags))         \
    X(cuUserObjectRelease, (CUuserObject object, unsigned count))                                         \
    X(cuEventCreate, (CUevent * event, unsigned flags))                                                   \
    X(cuEventDestroy_v2, (CUevent event))                                                                 \
    X(cuEventRecord, (CUevent event, CUstream stream))                                                    \
    X(cuEventQuery, (CUevent event))                                                                      \
    X(cuEventSynchronize, (CUevent event))                                                                \
    X(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end))                              \
    X(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps* properties))                           \
    X(cuMemPoolDestroy, (CUmemoryPool pool))                                                              \
    X(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void* value))                             \
    X(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void* value))                             \
    X(cuMemPoolTrimTo, (CUmemoryPool pool, std::size_t bytes_to_keep))                                    \
    X(cuMemAllocFromPoolAsync,                                                                            \
      (CUdeviceptr * address, std::size_t bytes, CUmemoryPool pool, CUstream stream))                     \
    X(cuMemFreeAsync, (CUdeviceptr address, CUstream stream))                                             \
    X(cuPointerGetAttribute, (void* value, int attribute, CUdeviceptr address))                           \
    X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                         \
    X(cuMemHostAlloc, (void** host, std::size_t bytes, unsigned flags))                                   \
    X(cuMemFreeHost, (void* host))                                                                        \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr target, const void* source, std::size_t bytes, CUstream stream)) \
    X(cuMemcpyDtoHAsync_v2, (void* target, CUdeviceptr source, std::size_t bytes, CUstream stream))       \
    X(cuMemcpyDtoDAsync_v2, (CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream)) \
    X(cuMemsetD32Async, (CUdeviceptr target, unsigned word, std::size_t words, CUstream stream))          \
    X(cuModuleLoadDataEx,                                                                                 \
      (CUmodule * module, const void* image, unsigned count, int* options, void** values))                \
    X(cuModuleUnload, (CUmodule module))                                                                  \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name))                    \
    X(cuFuncGetAttribute, (int* value, int attribute, CUfunction function))                               \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                        \
      (int* groups, CUfunction function, int threads, std::size_t shared))                                \
    X(cuLaunchKernel, (CUfunction function, unsigned groups_x, unsigned groups_y, unsigned groups_z,      \
                       unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared_bytes, \
                       CUstream stream, void** arguments, void** extra))

namespace kf::cuda {

#define KF_CUDA_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;

struct Functions {
    KF_CUDA_FUNCTIONS(KF_CUDA_MEMBER)

    /// `lookup` finds a function by its name in libcuda, or returns null. Throws kf::DeviceError (no_driver)
    /// for a driver that is too old, naming its version, and else naming the function that is missing.
    static Functions load(const std::function<void*(const char*)>& lookup);
};

#undef KF_CUDA_MEMBER

}  // namespace kf::cuda
