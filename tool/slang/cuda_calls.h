// Functions in Slang's CUDA code that kernels would have too many copies of.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// Marks functions that add to gradients as `__noinline__` where more than a few copies of one would be in a
/// kernel. Each load of an unrolled loop adds to one in the backward pass, and NVRTC takes 0.2 s for each
/// copy.
std::string call_sums(std::string_view code);

}  // namespace kf::gen
