// A CUDA driver without a GPU.
#include "runtime/fake_driver/cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/fake_driver/cuda_errors.h"
#include "runtime/fake_driver/cuda_world.h"

namespace kf::test {
namespace {

using namespace cuda;  // the names of CUDA's, as the functions below take them
using namespace fake_cuda;

CUresult cuInit(unsigned) {
    KF_ENTER(cuInit)
    if (world->fake->gpus.empty()) {
        return CUDA_ERROR_NO_DEVICE;
    }
    world->started = true;
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
    KF_ENTER(cuDriverGetVersion)
    *version = world->fake->version;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
    const auto found = cuda_errors().find(error);
    *text = found == cuda_errors().end() ? nullptr : found->second.first;
    return found == cuda_errors().end() ? 1 : CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
    const auto found = cuda_errors().find(error);
    *text = found == cuda_errors().end() ? nullptr : found->second.second;
    return found == cuda_errors().end() ? 1 : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
    KF_ENTER(cuDeviceGetCount)
    *count = static_cast<int>(world->fake->gpus.size());
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    KF_ENTER(cuDeviceGet)
    *device = ordinal;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
    KF_ENTER(cuDeviceGetName)
    std::strncpy(name, world->fake->gpus.at(static_cast<std::size_t>(device)).name.c_str(),
                 static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    KF_ENTER(cuDeviceGetAttribute)
    const FakeCuda::Gpu& gpu = world->fake->gpus.at(static_cast<std::size_t>(device));
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 1: *value = 1024; break;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + 2: *value = 64; break;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7FFFFFFF; break;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 1:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + 2: *value = 65535; break;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = gpu.major; break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = gpu.minor; break;
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = gpu.pools ? 1 : 0; break;
        default: return 1;
    }
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
    KF_ENTER(cuDeviceTotalMem_v2)
    *bytes = world->fake->memory_limit;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    KF_ENTER(cuDevicePrimaryCtxRetain)
    while (world->contexts.size() <= static_cast<std::size_t>(device)) {
        world->contexts.push_back({static_cast<int>(world->contexts.size()), 0});
    }
    Context& found = world->contexts[static_cast<std::size_t>(device)];
    ++found.references;
    *context = handle<CUcontext>(&found);
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    KF_ENTER(cuDevicePrimaryCtxRelease_v2)
    if (--world->contexts.at(static_cast<std::size_t>(device)).references < 0) {
        violation("cuDevicePrimaryCtxRelease: released too often");
    }
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
    const std::lock_guard lock(mutex);
    ++world->fake->calls["cuCtxGetCurrent"];
    *context = stack.empty() ? nullptr : stack.back();
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    const std::lock_guard lock(mutex);
    ++world->fake->calls["cuCtxPushCurrent_v2"];
    stack.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
    const std::lock_guard lock(mutex);
    ++world->fake->calls["cuCtxPopCurrent_v2"];
    *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
    KF_ENTER(cuCtxSynchronize)
    for (std::size_t i = 0; i < world->streams.size(); ++i) {
        if (world->streams[i]->context == current_context()) {
            run_until(*world->streams[i], world->streams[i]->issued);
        }
    }
    return world->lost;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
    KF_ENTER(cuStreamCreate)
    if (current_context() == nullptr) {
        violation("cuStreamCreate: no current context");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (flags != CU_STREAM_NON_BLOCKING) {
        violation("cuStreamCreate: a stream that waits for the default stream");
    }
    Stream* made = new_stream(current_context());
    made->ours = true;
    *stream = handle<CUstream>(made);
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    KF_ENTER(cuStreamDestroy_v2)
    find("cuStreamDestroy", stream)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
    KF_ENTER(cuStreamSynchronize)
    Stream* found = find("cuStreamSynchronize", stream);
    KF_NEED(cuStreamSynchronize, found->context)
    if (found->capture != nullptr) {
        violation("cuStreamSynchronize: the stream is captured");
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    run_until(*found, found->issued);
    return world->lost;
}
CUresult cuStreamQuery(CUstream stream) {
    KF_ENTER(cuStreamQuery)
    Stream* found = find("cuStreamQuery", stream);
    KF_NEED(cuStreamQuery, found->context)
    check_capture_mode("cuStreamQuery");
    if (found->capture != nullptr) {
        violation("cuStreamQuery: the stream is captured");
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (found->done < found->issued && world->fake->busy_queries > 0) {
        --world->fake->busy_queries;
        return CUDA_ERROR_NOT_READY;
    }
    run_until(*found, found->issued);
    return world->fake->is_never_idle ? CUDA_ERROR_NOT_READY : world->lost;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    KF_ENTER(cuStreamWaitEvent)
    Stream* found = find("cuStreamWaitEvent", stream);
    if (found->capture != nullptr) {
        violation("cuStreamWaitEvent: the stream is captured");
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    Stream* other = of(event)->stream;
    if (other != nullptr) {
        const std::size_t position = of(event)->position;
        enqueue(*found, [other, position] { run_until(*other, position); });
    }
    return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
    KF_ENTER(cuStreamGetCtx)
    *context = handle<CUcontext>(find("cuStreamGetCtx", stream)->context);
    return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
    KF_ENTER(cuStreamGetId)
    const Stream* found = find("cuStreamGetId", stream);
    if (found->capture != nullptr) {
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    *id = found->id;
    return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, int* status) {
    KF_ENTER(cuStreamIsCapturing)
    *status = find("cuStreamIsCapturing", stream)->capture != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                                      : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t* id, CUgraph* graph,
                                   const CUgraphNode**, std::size_t*) {
    KF_ENTER(cuStreamGetCaptureInfo_v2)
    Graph* capture = find("cuStreamGetCaptureInfo", stream)->capture;
    *status = capture != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    *id = capture != nullptr ? capture->id : 0;
    *graph = handle<CUgraph>(capture);
    return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
    KF_ENTER(cuThreadExchangeStreamCaptureMode)
    std::swap(*mode, capture_mode);
    return CUDA_SUCCESS;
}
CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned references,
                            unsigned) {
    KF_ENTER(cuUserObjectCreate)
    *object = handle<CUuserObject>(new UserObject{destroy, data, references});
    return CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned) {
    KF_ENTER(cuUserObjectRelease)
    release(of(object));
    return CUDA_SUCCESS;
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned, unsigned flags) {
    KF_ENTER(cuGraphRetainUserObject)
    if (flags != CU_GRAPH_USER_OBJECT_MOVE) {
        ++of(object)->references;
    }
    of(graph)->objects.push_back(of(object));
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
    KF_ENTER(cuEventCreate)
    world->events.push_back(std::make_unique<Event>());
    world->events.back()->is_timed = flags != CU_EVENT_DISABLE_TIMING;
    world->events.back()->context = current_context();
    *event = handle<CUevent>(world->events.back().get());
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
    KF_ENTER(cuEventDestroy_v2)
    KF_NEED(cuEventDestroy, of(event)->context)
    ++world->destroyed_events;
    return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    KF_ENTER(cuEventRecord)
    Stream* found = find("cuEventRecord", stream);
    KF_NEED(cuEventRecord, found->context)
    if (found->capture != nullptr) {
        violation("cuEventRecord: the stream is captured");
    }
    of(event)->stream = found;
    of(event)->position = found->issued;
    return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
    KF_ENTER(cuEventQuery)
    check_capture_mode("cuEventQuery");
    const Event& found = *of(event);
    return found.stream == nullptr || found.stream->done >= found.position ? CUDA_SUCCESS
                                                                           : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent event) {
    KF_ENTER(cuEventSynchronize)
    check_capture_mode("cuEventSynchronize");
    if (of(event)->stream != nullptr) {
        run_until(*of(event)->stream, of(event)->position);
    }
    return world->lost;
}
/// Every command takes a millisecond.
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    KF_ENTER(cuEventElapsedTime)
    check_capture_mode("cuEventElapsedTime");
    for (const Event* event : {of(start), of(end)}) {
        if (!event->is_timed || event->stream == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (event->stream->done < event->position) return CUDA_ERROR_NOT_READY;
    }
    *milliseconds = static_cast<float>(of(end)->position) - static_cast<float>(of(start)->position);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
    KF_ENTER(cuMemPoolCreate)
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return 1;
    }
    world->pools.push_back(std::make_unique<Pool>());
    world->pools.back()->context = current_context();
    *pool = handle<CUmemoryPool>(world->pools.back().get());
    return CUDA_SUCCESS;
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    KF_ENTER(cuMemPoolDestroy)
    of(pool)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
    KF_ENTER(cuMemPoolSetAttribute)
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
        std::memcpy(&of(pool)->threshold, value, sizeof(std::uint64_t));
    }
    return CUDA_SUCCESS;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
    KF_ENTER(cuMemPoolGetAttribute)
    const std::uint64_t number =
        attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? of(pool)->used : of(pool)->reserved;
    std::memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t) {
    KF_ENTER(cuMemPoolTrimTo)
    check_capture_mode("cuMemPoolTrimTo");
    of(pool)->reserved = of(pool)->used;
    return CUDA_SUCCESS;
}
/// Addresses as CUDA gives them: multiples of 256.
CUdeviceptr new_memory(std::size_t size, Pool* pool, int gpu) {
    Allocation allocation;
    allocation.bytes = std::make_unique<std::byte[]>(size + 512);
    allocation.size = size;
    allocation.pool = pool;
    allocation.gpu = gpu;
    const auto base = (reinterpret_cast<CUdeviceptr>(allocation.bytes.get()) + 255) / 256 * 256;
    std::memset(at(base), 0xCD, size);
    world->memory[base] = std::move(allocation);
    return base;
}

CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
    KF_ENTER(cuPointerGetAttribute)
    const auto next = world->memory.upper_bound(address);
    if (attribute != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL || next == world->memory.begin() ||
        address >= std::prev(next)->first + std::prev(next)->second.size) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(value, &std::prev(next)->second.gpu, sizeof(int));
    return CUDA_SUCCESS;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t size, CUmemoryPool given,
                                 CUstream stream) {
    KF_ENTER(cuMemAllocFromPoolAsync)
    check_capture_mode("cuMemAllocFromPoolAsync");
    Pool& pool = *of(given);
    Stream* found = find("cuMemAllocFromPoolAsync", stream);
    KF_NEED(cuMemAllocFromPoolAsync, found->context)
    if (found->capture != nullptr) {
        violation("cuMemAllocFromPoolAsync: the stream is captured");
    }
    // What the pool has beyond what is used is in pieces of other sizes, unless it is large enough.
    if (pool.reserved - pool.used < size) {
        if (pool.reserved + size > world->fake->memory_limit) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        pool.reserved += size;
    }
    pool.used += size;
    *address = new_memory(size, &pool, found->context->gpu);
    return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    KF_ENTER(cuMemFreeAsync)
    check_capture_mode("cuMemFreeAsync");
    Stream* found = find("cuMemFreeAsync", stream);
    KF_NEED(cuMemFreeAsync, found->context)
    if (found->capture != nullptr) {
        violation("cuMemFreeAsync: the stream is captured");
    }
    const auto memory = world->memory.find(address);
    if (memory == world->memory.end() || memory->second.freed) {
        violation("cuMemFreeAsync: not an address to free");
        return 1;
    }
    Allocation* allocation = &memory->second;
    allocation->freed = true;
    enqueue(*found, [allocation, address] {
        std::memset(at(address), 0xDD, allocation->size);
        allocation->pool->used -= allocation->size;
    });
    return CUDA_SUCCESS;
}
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    KF_ENTER(cuMemGetInfo_v2)
    *total = world->fake->memory_limit;
    *free = *total;
    for (const auto& pool : world->pools) {
        *free -= pool->reserved;
    }
    return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** host, std::size_t size, unsigned) {
    KF_ENTER(cuMemHostAlloc)
    check_capture_mode("cuMemHostAlloc");
    *host = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    world->pinned[reinterpret_cast<CUdeviceptr>(*host)] = size;
    return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* host) {
    const std::lock_guard lock(mutex);
    world->pinned.erase(reinterpret_cast<CUdeviceptr>(host));
    std::free(host);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, std::size_t size, CUstream stream) {
    KF_ENTER(cuMemcpyHtoDAsync_v2)
    Stream* found = find("cuMemcpyHtoDAsync", stream);
    KF_NEED(cuMemcpyHtoDAsync, found->context)
    check_memory("cuMemcpyHtoDAsync", target, size);
    enqueue(*found, [=] { std::memcpy(at(target), source, size); });
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, std::size_t size, CUstream stream) {
    KF_ENTER(cuMemcpyDtoHAsync_v2)
    Stream* found = find("cuMemcpyDtoHAsync", stream);
    KF_NEED(cuMemcpyDtoHAsync, found->context)
    check_memory("cuMemcpyDtoHAsync", source, size);
    enqueue(*found, [=] { std::memcpy(target, at(source), size); });
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, std::size_t size, CUstream stream) {
    KF_ENTER(cuMemcpyDtoDAsync_v2)
    Stream* found = find("cuMemcpyDtoDAsync", stream);
    KF_NEED(cuMemcpyDtoDAsync, found->context)
    check_memory("cuMemcpyDtoDAsync", target, size);
    check_memory("cuMemcpyDtoDAsync", source, size);
    enqueue(*found, [=] { std::memcpy(at(target), at(source), size); });
    return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr target, unsigned word, std::size_t words, CUstream stream) {
    KF_ENTER(cuMemsetD32Async)
    Stream* found = find("cuMemsetD32Async", stream);
    KF_NEED(cuMemsetD32Async, found->context)
    check_memory("cuMemsetD32Async", target, 4 * words);
    enqueue(*found, [=] {
        for (std::size_t i = 0; i < words; ++i) {
            std::memcpy(at(target) + 4 * i, &word, 4);
        }
    });
    return CUDA_SUCCESS;
}

std::string field(const std::string& text, const std::string& name) {
    const std::size_t begin = text.find(name + "=");
    if (begin == std::string::npos) {
        return {};
    }
    const std::size_t from = begin + name.size() + 1;
    return text.substr(from, text.find(';', from) - from);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, int* options,
                            void** values) {
    KF_ENTER(cuModuleLoadDataEx)
    check_capture_mode("cuModuleLoadDataEx");
    if (current_context() == nullptr) {
        violation("cuModuleLoadDataEx: no current context");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    const auto* bytes = static_cast<const char*>(image);
    const bool ptx = bytes[0] != 0x7F;
    const std::string text(ptx ? bytes : bytes + 64);
    const FakeCuda::Gpu& gpu = world->fake->gpus.at(static_cast<std::size_t>(current_context()->gpu));
    const int made_for = std::atoi(field(text, "arch").substr(3).c_str());
    if (std::stoi(field(text, "version")) > world->fake->version) {
        if (ptx && count == 2 && options[0] == CU_JIT_ERROR_LOG_BUFFER) {
            std::strcpy(static_cast<char*>(values[0]), "ptxas fatal : Unsupported .version\n");
        }
        return ptx ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    const int here = 10 * gpu.major + gpu.minor;
    if (made_for > here || (!ptx && made_for / 10 != gpu.major)) {
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    world->modules.push_back(std::make_unique<Module>());
    world->modules.back()->context = current_context();
    world->modules.back()->entries = "," + field(text, "entries") + ",";
    *module = handle<CUmodule>(world->modules.back().get());
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
    KF_ENTER(cuModuleUnload)
    KF_NEED(cuModuleUnload, of(module)->context)
    of(module)->unloaded = true;
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    KF_ENTER(cuModuleGetFunction)
    KF_NEED(cuModuleGetFunction, of(module)->context)
    if (of(module)->entries.find("," + std::string(name) + ",") == std::string::npos) {
        return CUDA_ERROR_NOT_FOUND;
    }
    world->functions.push_back(std::make_unique<Function>());
    *world->functions.back() = {current_context(), of(module), name, false};
    *function = handle<CUfunction>(world->functions.back().get());
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, int, CUfunction function) {
    KF_ENTER(cuFuncGetAttribute)
    of(function)->loaded = true;
    *value = world->fake->max_threads;
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, CUfunction, int threads, std::size_t) {
    KF_ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor)
    *groups = 2048 / threads;
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction given, unsigned groups_x, unsigned groups_y, unsigned groups_z,
                        unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned, CUstream stream,
                        void** arguments, void** extra) {
    KF_ENTER(cuLaunchKernel)
    const Function& function = *of(given);
    Stream* found = find("cuLaunchKernel", stream);
    KF_NEED(cuLaunchKernel, function.context)
    KF_NEED(cuLaunchKernel, found->context)
    if (function.module->unloaded) {
        violation("cuLaunchKernel: the module was unloaded");
    }
    if (found->capture != nullptr && !function.loaded) {
        violation("cuLaunchKernel: a kernel would be loaded during a capture");
    }
    const FakeCuda::Extents groups{groups_x, groups_y, groups_z};
    const FakeCuda::Extents threads{threads_x, threads_y, threads_z};
    if (groups_x == 0 || groups_y == 0 || groups_y > 65535 || groups_z == 0 || groups_z > 65535 ||
        arguments != nullptr) {
        return 1;
    }
    std::vector<std::byte> block;
    if (extra != nullptr) {
        if (extra[0] != reinterpret_cast<void*>(launch_buffer_pointer) ||
            extra[2] != reinterpret_cast<void*>(launch_buffer_size) || extra[4] != nullptr) {
            return 1;
        }
        const auto* bytes = static_cast<const std::byte*>(extra[1]);
        block.assign(bytes, bytes + *static_cast<std::size_t*>(extra[3]));
    }
    enqueue(*found, kernel_operation(function, groups, threads, std::move(block)));
    return CUDA_SUCCESS;
}

}  // namespace

FakeCuda::FakeCuda() {
    if (world != nullptr) {
        throw std::logic_error("one FakeCuda at a time");
    }
    world = std::make_unique<World>();
    world->fake = this;
    stack.clear();
    capture_mode = 0;
}

FakeCuda::~FakeCuda() {
    for (const auto& graph : world->graphs) {
        for (UserObject* object : graph->objects) {
            release(object);
        }
    }
    world = nullptr;
}

void* FakeCuda::lookup(const char* name) {
#define KF_ENTRY(function, parameters) {#function, reinterpret_cast<void*>(&function)},
    static const std::map<std::string, void*> functions{KF_CUDA_FUNCTIONS(KF_ENTRY)
                                                            KF_CUDA_TEXTURE_FUNCTIONS(KF_ENTRY)};
#undef KF_ENTRY
    const auto found = functions.find(name);
    return found == functions.end() || world->fake->missing_function == name ? nullptr : found->second;
}

void FakeCuda::recover() {
    const std::lock_guard lock(mutex);
    world->lost = CUDA_SUCCESS;
}

CUcontext FakeCuda::context(int gpu) {
    CUcontext context = nullptr;
    (void)cuDevicePrimaryCtxRetain(&context, gpu);
    return context;
}

void FakeCuda::set_current(CUcontext context) { stack.assign(1, context); }

CUcontext FakeCuda::current() { return stack.empty() ? nullptr : stack.back(); }

CUstream FakeCuda::create_stream(int gpu) {
    const std::lock_guard lock(mutex);
    return handle<CUstream>(new_stream(of(context(gpu))));
}

void FakeCuda::destroy_stream(CUstream stream) {
    const std::lock_guard lock(mutex);
    find("destroy_stream", stream)->destroyed = true;
}

void FakeCuda::begin_capture(CUstream stream) {
    const std::lock_guard lock(mutex);
    world->graphs.push_back(std::make_unique<Graph>());
    world->graphs.back()->id = world->next_id++;
    find("begin_capture", stream)->capture = world->graphs.back().get();
}

CUgraph FakeCuda::end_capture(CUstream stream) {
    const std::lock_guard lock(mutex);
    return handle<CUgraph>(std::exchange(find("end_capture", stream)->capture, nullptr));
}

void FakeCuda::launch(CUgraph graph, CUstream stream) {
    const std::lock_guard lock(mutex);
    for (const Operation& operation : of(graph)->operations) {
        enqueue(*find("launch", stream), operation);
    }
}

void FakeCuda::destroy(CUgraph graph) {
    const std::lock_guard lock(mutex);
    for (UserObject* object : std::exchange(of(graph)->objects, {})) {
        release(object);
    }
}

void FakeCuda::synchronize(CUstream stream) {
    const std::lock_guard lock(mutex);
    Stream* found = find("synchronize", stream);
    run_until(*found, found->issued);
}

CUdeviceptr FakeCuda::allocate(std::size_t size, int gpu) {
    const std::lock_guard lock(mutex);
    return new_memory(size, nullptr, gpu);
}

void FakeCuda::free(CUdeviceptr address) {
    const std::lock_guard lock(mutex);
    Allocation& allocation = world->memory.at(address);
    allocation.freed = true;
    std::memset(at(address), 0xDD, allocation.size);
}

std::size_t FakeCuda::live_allocations() const {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count_if(world->memory.begin(), world->memory.end(),
                                                  [](const auto& entry) { return !entry.second.freed; }));
}

std::size_t FakeCuda::live_objects() const {
    const std::lock_guard lock(mutex);
    std::size_t count = world->events.size() - world->destroyed_events + world->pinned.size();
    for (const auto& stream : world->streams) {
        count += stream->ours && !stream->destroyed ? 1U : 0U;
    }
    for (const auto& pool : world->pools) {
        count += pool->destroyed ? 0U : 1U;
    }
    for (const auto& graph : world->graphs) {
        count += graph->destroyed || graph->nodes.empty() ? 0U : 1U;
    }
    for (const auto& exec : world->execs) {
        count += exec->destroyed ? 0U : 1U;
    }
    for (const auto& array : world->arrays) {
        count += array->is_destroyed() || array->is_applications ? 0U : 1U;
    }
    for (const auto& object : world->objects) {
        count += object->destroyed ? 0U : 1U;
    }
    for (const auto& module : world->modules) {
        count += module->unloaded ? 0U : 1U;
    }
    return count;
}

int FakeCuda::retained(int gpu) const {
    const std::lock_guard lock(mutex);
    return world->contexts.empty() ? 0 : world->contexts.at(static_cast<std::size_t>(gpu)).references;
}

}  // namespace kf::test
