// What turns on the checks of buffers' indices in kernels for CUDA: templates/cuda_prelude_begin.cuh.
#pragma once

#include <string_view>

namespace kf::gen {

/// Kernels that name this check; the macro turns on what follows.
inline constexpr std::string_view buffer_checks_user = "kf_wrong_index";
inline constexpr std::string_view buffer_checks_macro = "KF_CHECKS_BUFFERS";

}  // namespace kf::gen
