// An application with CUDA of its own.
#include "application.h"

#include <dlfcn.h>

#include <map>
#include <stdexcept>
#include <string>

#include "runtime/fake_driver/cuda.h"

namespace kf::test {
namespace {

using namespace cuda;  // the names of CUDA's

class FakeApplication final : public Application {
public:
    explicit FakeApplication(FakeCuda& fake) : fake_(fake) {}
    CUcontext context(int gpu) override { return fake_.context(gpu); }
    void set_current(CUcontext context) override { FakeCuda::set_current(context); }
    CUcontext current() override { return FakeCuda::current(); }
    CUstream create_stream(int gpu) override { return fake_.create_stream(gpu); }
    void destroy_stream(CUstream stream) override { fake_.destroy_stream(stream); }
    CUdeviceptr allocate(std::size_t size, int gpu) override { return fake_.allocate(size, gpu); }
    void free(CUdeviceptr address) override { fake_.free(address); }
    void synchronize(CUstream stream) override { fake_.synchronize(stream); }
    void begin_capture(CUstream stream) override { fake_.begin_capture(stream); }
    CUgraph end_capture(CUstream stream) override { return fake_.end_capture(stream); }
    void launch(CUgraph graph, CUstream stream) override { fake_.launch(graph, stream); }
    void destroy(CUgraph graph) override { fake_.destroy(graph); }

private:
    FakeCuda& fake_;
};

class RealApplication final : public Application {
public:
    RealApplication() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
        call<unsigned>("cuInit", 0U);
    }
    CUcontext context(int gpu) override {
        CUcontext& known = contexts_[gpu];
        if (known == nullptr) {
            call<CUcontext*, int>("cuDevicePrimaryCtxRetain", &known, gpu);
        }
        return known;
    }
    void set_current(CUcontext context) override { call<CUcontext>("cuCtxSetCurrent", context); }
    CUcontext current() override {
        CUcontext now = nullptr;
        call<CUcontext*>("cuCtxGetCurrent", &now);
        return now;
    }
    CUstream create_stream(int gpu) override {
        const CUcontext before = current();
        set_current(context(gpu));
        CUstream stream = nullptr;
        call<CUstream*, unsigned>("cuStreamCreate", &stream, CU_STREAM_NON_BLOCKING);
        set_current(before);
        streams_[stream] = gpu;
        return stream;
    }
    void destroy_stream(CUstream stream) override { call<CUstream>("cuStreamDestroy_v2", stream); }
    CUdeviceptr allocate(std::size_t size, int gpu) override {
        const CUcontext before = current();
        set_current(context(gpu));
        CUdeviceptr address = 0;
        call<CUdeviceptr*, std::size_t>("cuMemAlloc_v2", &address, size);
        set_current(before);
        gpus_[address] = gpu;
        return address;
    }
    void free(CUdeviceptr address) override {
        const CUcontext before = current();
        set_current(context(gpus_.at(address)));
        call<CUdeviceptr>("cuMemFree_v2", address);
        set_current(before);
    }
    void synchronize(CUstream stream) override { call<CUstream>("cuStreamSynchronize", stream); }
    void begin_capture(CUstream stream) override {
        constexpr int global_mode = 0;  // the strictest
        call<CUstream, int>("cuStreamBeginCapture_v2", stream, global_mode);
    }
    CUgraph end_capture(CUstream stream) override {
        CUgraph graph = nullptr;
        call<CUstream, CUgraph*>("cuStreamEndCapture", stream, &graph);
        const CUcontext before = current();
        set_current(context(streams_.at(stream)));
        call<void**, CUgraph, unsigned long long>("cuGraphInstantiateWithFlags", &graphs_[graph], graph,
                                                  0ULL);
        set_current(before);
        return graph;
    }
    void launch(CUgraph graph, CUstream stream) override {
        call<void*, CUstream>("cuGraphLaunch", graphs_.at(graph), stream);
    }
    void destroy(CUgraph graph) override {
        call<void*>("cuGraphExecDestroy", graphs_.at(graph));
        call<CUgraph>("cuGraphDestroy", graph);
        graphs_.erase(graph);
    }

private:
    template <class... Arguments>
    void call(const char* name, Arguments... arguments) const {
        const auto function = reinterpret_cast<CUresult (*)(Arguments...)>(dlsym(library_, name));
        const CUresult result = function == nullptr ? -1 : function(arguments...);
        if (result != CUDA_SUCCESS) {
            throw std::runtime_error(std::string(name) + " failed: " + std::to_string(result));
        }
    }

    void* library_;
    std::map<int, CUcontext> contexts_;
    std::map<CUstream, int> streams_;
    std::map<CUdeviceptr, int> gpus_;  ///< by address
    std::map<CUgraph, void*> graphs_;
};

}  // namespace

std::unique_ptr<Application> fake_application(FakeCuda& fake) {
    return std::make_unique<FakeApplication>(fake);
}

std::unique_ptr<Application> real_application() { return std::make_unique<RealApplication>(); }

}  // namespace kf::test
