// What the fake CUDA driver knows, and how its functions begin.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/fake_driver/cuda.h"

namespace kf::test::fake_cuda {

using namespace cuda;  // the names of CUDA's

struct Context {
    int gpu = 0;
    int references = 0;
};

struct UserObject {
    CUhostFn destroy = nullptr;
    void* data = nullptr;
    unsigned references = 0;
};

using Operation = std::function<void()>;

/// Of a graph that is made node by node.
struct Node {
    Operation operation;
    std::vector<const Node*> before;
};

struct Graph {
    std::uint64_t id = 0;
    std::vector<Operation> operations;
    std::vector<UserObject*> objects;
    std::vector<std::unique_ptr<Node>> nodes;
    bool destroyed = false;
};

/// Runs a graph's nodes: each after those that it names, and else the last ones first.
struct GraphExec {
    std::vector<const Node*> order;
    std::map<const Node*, Operation> operations;
    bool destroyed = false;
};

struct Stream {
    Context* context = nullptr;
    std::uint64_t id = 0;
    std::deque<Operation> waiting;
    std::size_t issued = 0;
    std::size_t done = 0;
    Graph* capture = nullptr;
    bool destroyed = false;
    bool ours = false;  ///< made through the driver's interface
};

struct Event {
    Context* context = nullptr;
    Stream* stream = nullptr;
    std::size_t position = 0;
    bool is_timed = false;
};

struct Pool {
    Context* context = nullptr;
    std::uint64_t used = 0;
    std::uint64_t reserved = 0;
    std::uint64_t threshold = 0;
    bool destroyed = false;
};

struct Allocation {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    Pool* pool = nullptr;  ///< null: the application's
    int gpu = 0;
    bool freed = false;
};

struct MipmappedArray {
    std::vector<CUarray> levels;
    bool destroyed = false;
};

struct Array {
    Context* context = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR description;
    MipmappedArray* of = nullptr;  ///< that it is a level of, or null
    std::size_t texel = 0;         ///< bytes
    std::size_t rows = 1;
    std::size_t slices = 1;
    std::vector<std::byte> bytes;
    bool destroyed = false;
    bool is_applications = false;

    [[nodiscard]] bool is_destroyed() const { return destroyed || (of != nullptr && of->destroyed); }
};

/// A texture's or a surface's.
struct Object {
    Array* array = nullptr;
    CUDA_TEXTURE_DESC texture;
    unsigned first_mip = 0;
    bool destroyed = false;
};

struct Module {
    Context* context = nullptr;
    std::string entries;  ///< ",a,b,"
    bool unloaded = false;
};

struct Function {
    Context* context = nullptr;
    Module* module = nullptr;
    std::string entry;
    bool loaded = false;
};

/// All there is. CUDA's functions carry no user data, so it can only be global.
struct World {
    FakeCuda* fake = nullptr;
    bool started = false;
    CUresult lost = CUDA_SUCCESS;
    std::uint64_t next_id = 1;
    std::deque<Context> contexts;
    std::vector<std::unique_ptr<Stream>> streams;
    std::map<Context*, Stream*> default_streams;
    std::vector<std::unique_ptr<Event>> events;
    std::vector<std::unique_ptr<Pool>> pools;
    std::map<CUdeviceptr, Allocation> memory;
    std::vector<std::unique_ptr<Module>> modules;
    std::vector<std::unique_ptr<Function>> functions;
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<std::unique_ptr<MipmappedArray>> mipmapped_arrays;
    std::vector<std::unique_ptr<Object>> objects;
    std::vector<std::unique_ptr<Graph>> graphs;
    std::vector<std::unique_ptr<GraphExec>> execs;
    std::map<CUdeviceptr, std::size_t> pinned;  ///< sizes of host memory, by address
    std::size_t destroyed_events = 0;
};

inline std::recursive_mutex mutex;
inline std::unique_ptr<World> world;
inline thread_local std::vector<CUcontext> stack;
inline thread_local int capture_mode = 0;

inline void violation(const std::string& text) { world->fake->violations.push_back(text); }

template <class Handle, class Object>
Handle handle(Object* object) {
    return reinterpret_cast<Handle>(object);
}
inline Context* of(CUcontext context) { return reinterpret_cast<Context*>(context); }
inline Event* of(CUevent event) { return reinterpret_cast<Event*>(event); }
inline Pool* of(CUmemoryPool pool) { return reinterpret_cast<Pool*>(pool); }
inline Array* of(CUarray array) { return reinterpret_cast<Array*>(array); }
inline MipmappedArray* of(CUmipmappedArray array) { return reinterpret_cast<MipmappedArray*>(array); }
inline Module* of(CUmodule module) { return reinterpret_cast<Module*>(module); }
inline Function* of(CUfunction function) { return reinterpret_cast<Function*>(function); }
inline Graph* of(CUgraph graph) { return reinterpret_cast<Graph*>(graph); }
inline Node* of(CUgraphNode node) { return reinterpret_cast<Node*>(node); }
inline GraphExec* of(CUgraphExec exec) { return reinterpret_cast<GraphExec*>(exec); }
inline UserObject* of(CUuserObject object) { return reinterpret_cast<UserObject*>(object); }

/// Counts the call; anything but success is what it returns.
inline CUresult enter(const std::string& name) {
    ++world->fake->calls[name];
    const auto failure = world->fake->failures.find(name);
    if (failure != world->fake->failures.end()) {
        return failure->second;
    }
    return world->lost;
}

inline Context* current_context() { return stack.empty() ? nullptr : of(stack.back()); }

inline CUresult need_context(const char* function, const Context* context) {
    if (current_context() == nullptr || current_context() != context) {
        violation(std::string(function) + ": the current context is not the object's");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

inline Stream* new_stream(Context* context) {
    world->streams.push_back(std::make_unique<Stream>());
    Stream* stream = world->streams.back().get();
    stream->context = context;
    stream->id = world->next_id++;
    return stream;
}

inline Stream* find(const char* function, CUstream stream) {
    if (stream == nullptr) {
        Stream*& found = world->default_streams[current_context()];
        if (found == nullptr) {
            found = new_stream(current_context());
        }
        return found;
    }
    auto* found = reinterpret_cast<Stream*>(stream);
    if (found->destroyed) {
        violation(std::string(function) + ": the stream was destroyed");
    }
    return found;
}

inline void run_until(Stream& stream, std::size_t position) {
    while (stream.done < position && world->lost == CUDA_SUCCESS) {
        const Operation operation = std::move(stream.waiting.front());
        stream.waiting.pop_front();
        ++stream.done;
        operation();
    }
}

inline void enqueue(Stream& stream, Operation operation) {
    if (stream.capture != nullptr) {
        stream.capture->operations.push_back(std::move(operation));
        return;
    }
    stream.waiting.push_back(std::move(operation));
    ++stream.issued;
}

inline bool any_capture() {
    return std::any_of(world->streams.begin(), world->streams.end(),
                       [](const auto& stream) { return stream->capture != nullptr; });
}

/// What a capture that wasn't begun in a laxer mode forbids every thread.
inline void check_capture_mode(const char* function) {
    if (any_capture() && capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
        violation(std::string(function) + ": a stream is captured");
    }
}

/// Pinned host memory has the same address on the device.
inline bool is_pinned(CUdeviceptr address, std::size_t size) {
    const auto next = world->pinned.upper_bound(address);
    if (next == world->pinned.begin()) return false;
    return address + size <= std::prev(next)->first + std::prev(next)->second;
}

inline void check_memory(const char* function, CUdeviceptr address, std::size_t size) {
    if (is_pinned(address, size)) return;
    auto next = world->memory.upper_bound(address);
    if (next == world->memory.begin()) {
        violation(std::string(function) + ": no memory there");
        return;
    }
    const auto& [base, allocation] = *std::prev(next);
    if (address + size > base + allocation.size) {
        violation(std::string(function) + ": past the end of the memory");
    } else if (allocation.freed) {
        violation(std::string(function) + ": the memory was freed");
    }
}

inline std::byte* at(CUdeviceptr address) { return reinterpret_cast<std::byte*>(address); }

inline void release(UserObject* object) {
    if (--object->references == 0) {
        object->destroy(object->data);
        delete object;
    }
}

// How each function of the driver's begins.
#define KF_ENTER(name)                 \
    const std::lock_guard lock(mutex); \
    if (const CUresult entered = enter(#name); entered != CUDA_SUCCESS) return entered;
#define KF_NEED(name, context) \
    if (const CUresult needed = need_context(#name, context); needed != CUDA_SUCCESS) return needed;

inline Operation kernel_operation(const Function& function, const FakeCuda::Extents& groups,
                                  const FakeCuda::Extents& threads, std::vector<std::byte> block) {
    return [module = function.module, entry = function.entry, block = std::move(block), groups, threads] {
        if (module->unloaded) {
            violation("the module of '" + entry + "' was unloaded before it ran");
        }
        const auto kernel = world->fake->kernels.find(entry);
        if (kernel == world->fake->kernels.end()) {
            violation("no kernel '" + entry + "'");
            return;
        }
        world->lost = kernel->second(block.data(), groups, threads);
    };
}

// Graphs that are made node by node, in cuda_graphs.cpp.
CUresult cuGraphCreate(CUgraph* graph, unsigned);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext);
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, std::size_t count,
                              const CUDA_MEMCPY3D* parameters, CUcontext);
CUresult cuGraphInstantiateWithFlags(CUgraphExec* runs, CUgraph graph, unsigned long long);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec runs, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters);
CUresult cuGraphLaunch(CUgraphExec runs, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec runs);

// Textures, in cuda_textures.cpp.
CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array);
CUresult cuArrayDestroy(CUarray array);
CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned levels);
CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray of_array, unsigned level);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array);
CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view);
CUresult cuTexObjectDestroy(CUtexObject object);
CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource);
CUresult cuSurfObjectDestroy(CUsurfObject object);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* given, CUstream stream);

}  // namespace kf::test::fake_cuda
