// Puts the CUDA source of many kernels into one translation unit: most of NVRTC's time goes into Slang's
// prelude, which is then read once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct CudaKernelSource {
    std::string entry_point;  ///< as Slang wrote it
    std::string text;         ///< with Slang's prelude
    Location origin;
};

struct CudaUnit {
    std::string text;
    std::vector<std::string> entry_points;  ///< of each kernel, made unique
    std::vector<std::string> defines;       ///< for the compiler
};

/// Each kernel's part stands in a namespace of its own. Error: "internal-cuda-source" when a source doesn't
/// have the form that Slang gives it.
Outcome<CudaUnit> join_cuda_sources(const std::vector<CudaKernelSource>& kernels);

/// The index in `unit` of the kernel that a line of the compiler's log is about.
std::optional<std::size_t> kernel_of_log_line(const CudaUnit& unit, std::string_view line);

/// Lowers the `.version` of PTX to at most `major.minor`, for drivers older than NVRTC; text that has a
/// lower one stays as it is. The driver still refuses instructions that it doesn't know.
std::string cap_ptx_version(std::string ptx, int major, int minor);

}  // namespace kf::gen
