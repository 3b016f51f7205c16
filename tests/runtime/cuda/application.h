// An application with CUDA of its own: streams, graphs and current contexts, on the fake driver or a real
// one.
#pragma once

#include <memory>

#include "cuda/api.h"

namespace kf::test {

class FakeCuda;

/// Throws std::runtime_error where CUDA fails.
class Application {
public:
    virtual ~Application() = default;
    /// The primary context of a GPU, kept as long as this lives.
    virtual cuda::CUcontext context(int gpu) = 0;
    virtual void set_current(cuda::CUcontext context) = 0;
    virtual cuda::CUcontext current() = 0;
    /// One that doesn't wait for the default stream.
    virtual cuda::CUstream create_stream(int gpu = 0) = 0;
    virtual void destroy_stream(cuda::CUstream stream) = 0;
    /// Device memory.
    virtual cuda::CUdeviceptr allocate(std::size_t size, int gpu = 0) = 0;
    virtual void free(cuda::CUdeviceptr address) = 0;
    virtual void synchronize(cuda::CUstream stream) = 0;
    virtual void begin_capture(cuda::CUstream stream) = 0;
    /// What was captured, ready to run.
    virtual cuda::CUgraph end_capture(cuda::CUstream stream) = 0;
    virtual void launch(cuda::CUgraph graph, cuda::CUstream stream) = 0;
    virtual void destroy(cuda::CUgraph graph) = 0;
};

std::unique_ptr<Application> fake_application(FakeCuda& fake);
/// On libcuda.so.1.
std::unique_ptr<Application> real_application();

}  // namespace kf::test
