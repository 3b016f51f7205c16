// Calls of functions that have Vulkan's kernels only, on CUDA tensors of other libraries.
#pragma once

#include <memory>

#include "interop/bridge.h"
#include "python/context.h"
#include "python/errors.h"
#include "python/foreign.h"

namespace kf::python {

/// Where such calls run: the Vulkan device of the same GPU.
struct Detour {
    ContextPtr context;
    std::shared_ptr<interop::Bridge> bridge;
};

/// Tells whether an artifact has no kernel for CUDA.
bool is_for_vulkan_only(const Artifact& artifact);

/// Returns the one of a CUDA device, which is opened once and kept. Throws DeviceError where there is none.
const Detour& detour_of(int ordinal);

/// The memory of a tensor as the call has it; see interop::Crossing.
AnyTensor cross(interop::Crossing& crossing, const ForeignTensor& tensor, bool is_read, bool is_written,
                const Where& where);

}  // namespace kf::python
