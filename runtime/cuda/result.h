// CUresult as text and as an exception.
#pragma once

#include <string>

#include "cuda/functions.h"

namespace kf::cuda {

/// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", in the driver's own words.
std::string result_text(const Functions& functions, CUresult result);

/// Whether the error leaves the context of no more use to anybody in the process.
bool is_sticky(CUresult result);

/// Throws kf::DeviceError ("cuda: cuLaunchKernel failed: CUDA_ERROR_..."). See also Context::check().
void check(const Functions& functions, CUresult result, const char* function);

[[noreturn]] void fail(const Functions& functions, CUresult result, const std::string& what);

/// "12.4" of 12040.
std::string version_text(int version);

}  // namespace kf::cuda
