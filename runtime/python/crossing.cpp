// Calls of functions that have Vulkan's kernels only, on CUDA tensors of other libraries.
#include "python/crossing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/device_state.h"
#include "core/manifest.h"
#include "python/gil.h"

namespace kf::python {

bool is_for_vulkan_only(const Artifact& artifact) {
    return std::ranges::all_of(artifact.manifest.kernels, [](const manifest::Kernel& kernel) {
        return std::ranges::all_of(kernel.images,
                                   [](const manifest::Image& image) { return image.format == "spirv"; });
    });
}

const Detour& detour_of(int ordinal) {
    static auto& all =
        *new std::map<int, Detour>();  // as the default device, it stays until the process ends
    if (const auto found = all.find(ordinal); found != all.end()) return found->second;
    const ContextPtr usual = default_context();
    std::shared_ptr<interop::Bridge> bridge;
    {
        const GilRelease release;
        bridge = interop::Bridge::open(ordinal, usual->device());
    }
    const Device& device = bridge->device();
    const bool is_usual = device.state() == usual->device().state();
    if (!is_usual) {
        device.state()->driver().while_waiting = &check_signals;
        device.show_lines(&show_line);
    }
    Detour made{is_usual ? usual : std::make_shared<Context>(device), std::move(bridge)};
    // Opening lets other threads run: the first one stays.
    return all.try_emplace(ordinal, std::move(made)).first->second;
}

AnyTensor cross(interop::Crossing& crossing, const ForeignTensor& tensor, bool is_read, bool is_written,
                const Where& where) {
    try {
        return crossing.lend({tensor.address, ElementType{tensor.scalar, 0}, tensor.shape, tensor.strides,
                              is_read, is_written});
    } catch (const ArgumentError& error) {
        throw ArgumentError(error.code(), prefix(where) + error.what(), error.native_code());
    }
}

// What PyTorch's CUDAPluggableAllocator calls, by these names.
extern "C" {
__attribute__((visibility("default"))) void* kf_cuda_allocate(std::ptrdiff_t size, int device, void*) {
    return interop::allocate_shared(size, device);
}
__attribute__((visibility("default"))) void kf_cuda_free(void* address, std::ptrdiff_t, int, void*) {
    interop::free_shared(address);
}
}  // extern "C"

}  // namespace kf::python
