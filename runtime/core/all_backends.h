// All drivers, for programs that don't say which they need.
#pragma once

#include "core/backends.h"

namespace kf::detail {

// Each is defined in a file of its own, which the linker takes where it is named.
extern const Backend cuda_backend;
extern const Backend vulkan_backend;

/// Has the linker take all drivers.
void use_all_backends();

/// Does the same in programs without generated code; see kf/backends.h, where such code has another one.
void choose_backends();

}  // namespace kf::detail
