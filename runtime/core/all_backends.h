// All drivers, for programs that don't say which they need.
#pragma once

namespace kf::detail {

/// Has the linker take all drivers.
void use_all_backends();

/// Does the same in programs without generated code; see kf/backends.h, where such code has another one.
void choose_backends();

}  // namespace kf::detail
