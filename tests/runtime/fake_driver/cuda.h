// A CUDA driver without a GPU: device memory is host memory, kernels are functions, and streams run late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cuda/functions.h"
#include "cuda/texture_functions.h"

namespace kf::test {

/// Nothing on a stream runs before somebody waits for it, and then only what must: work that isn't ordered
/// by an event sees memory as it was. Freed memory is overwritten and never used again. One at a time
/// lives; while it lives, lookup() finds functions that reach it. Members may be changed between calls.
class FakeCuda {
public:
    struct Gpu {
        std::string name = "NVIDIA Fake";
        int major = 9;
        int minor = 0;
        bool pools = true;
    };
    /// Of a grid, or of a group.
    using Extents = std::array<std::uint32_t, 3>;
    /// Runs a kernel: its parameter block, groups and threads a group. Anything but success loses the device.
    using Kernel =
        std::function<cuda::CUresult(const std::byte* block, const Extents& groups, const Extents& threads)>;

    FakeCuda();
    ~FakeCuda();
    FakeCuda(const FakeCuda&) = delete;
    FakeCuda& operator=(const FakeCuda&) = delete;

    /// For OpenOptions::lookup.
    static void* lookup(const char* name);

    std::vector<Gpu> gpus{Gpu{}};
    int version = 13000;                             ///< of CUDA
    std::string missing_function;                    ///< lookup() doesn't find it
    std::map<std::string, cuda::CUresult> failures;  ///< by function: returned instead of a call
    std::uint64_t memory_limit = 1ULL << 30;         ///< bytes that pools may reserve
    std::map<std::string, Kernel> kernels;           ///< by entry point
    std::map<std::string, std::size_t> block_sizes;  ///< bytes of their parameter, which graphs take
    std::size_t largest_array = 1UL << 17;           ///< texels along a row
    bool gathers = true;                             ///< arrays can be made for that
    int max_threads = 1024;                          ///< of a kernel's group
    int busy_queries = 0;                            ///< calls of cuStreamQuery that find work to do still
    bool is_never_idle = false;  ///< cuStreamQuery finds work of others, however long one waits

    std::map<std::string, std::size_t> calls;  ///< by function
    /// What a real driver would not forgive: the wrong current context, memory or streams that are gone,
    /// work during a capture that may not be there.
    std::vector<std::string> violations;

    /// An image as kernel.cpp gives it to the driver. `version`: of CUDA, which the driver must have.
    static std::vector<std::byte> cubin(const std::string& architecture, const std::string& entries,
                                        int version = 12000);
    static std::vector<std::byte> ptx(const std::string& architecture, const std::string& entries,
                                      int version = 12000);

    /// As if the process had been started again after it lost the device.
    void recover();

    // What an application does with its own CUDA.
    cuda::CUcontext context(int gpu);  ///< the primary one, kept
    static void set_current(cuda::CUcontext context);
    static cuda::CUcontext current();
    cuda::CUstream create_stream(int gpu = 0);
    void destroy_stream(cuda::CUstream stream);
    void begin_capture(cuda::CUstream stream);
    cuda::CUgraph end_capture(cuda::CUstream stream);
    void launch(cuda::CUgraph graph, cuda::CUstream stream);
    void destroy(cuda::CUgraph graph);
    void synchronize(cuda::CUstream stream);
    cuda::CUdeviceptr allocate(std::size_t size, int gpu = 0);
    void free(cuda::CUdeviceptr address);  ///< not waited for: nobody may use it any more

    cuda::CUarray create_array(const cuda::CUDA_ARRAY3D_DESCRIPTOR& description);

    // What kernels do with a texture's or a surface's object: all texels of its array, packed.
    static std::span<std::byte> texels(std::uint64_t object);
    static const cuda::CUDA_TEXTURE_DESC& texture(cuda::CUtexObject object);
    static unsigned first_mip(cuda::CUtexObject object);

    [[nodiscard]] std::size_t live_allocations() const;  ///< that nobody freed
    [[nodiscard]] std::size_t live_objects() const;      ///< streams of the driver's, events, arrays …
    [[nodiscard]] int retained(int gpu) const;  ///< references to the primary context, context()'s too
};

}  // namespace kf::test
