// CUDA's names and texts of the errors that the fake driver knows.
#pragma once

#include <map>
#include <utility>

#include "cuda/api.h"

namespace kf::test {

inline const std::map<cuda::CUresult, std::pair<const char*, const char*>>& cuda_errors() {
    static const std::map<cuda::CUresult, std::pair<const char*, const char*>> list{
        {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
        {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
        {200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
        {201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
        {209, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"}},
        {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
        {222,
         {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
          "the provided PTX was compiled with an unsupported toolchain."}},
        {500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
        {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
        {701, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
        {803,
         {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
          "system has unsupported display driver / cuda driver combination"}},
    };
    return list;
}

}  // namespace kf::test
