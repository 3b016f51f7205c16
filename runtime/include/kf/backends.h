// The drivers that a program is linked with: those that its kernels are for, or all of them.
#pragma once

namespace kf {

struct Backend;

namespace detail {

// A program that names one of these has that driver in it; generated code names those of its kernels.
extern const Backend cuda_backend;
extern const Backend vulkan_backend;

#ifdef __ELF__
/// Keeps a name that nothing in the program reads.
#define KF_LINKED [[gnu::used]]
/// Called by the runtime, whose own definition has the linker take all drivers. This one, which generated
/// code has, stands in its place.
[[gnu::weak]] void choose_backends() {}
#else
#define KF_LINKED
#endif

}  // namespace detail
}  // namespace kf
