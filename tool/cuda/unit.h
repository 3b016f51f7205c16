// Makes the text that NVRTC compiles from the CUDA source that Slang makes of a kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct CudaKernelSource {
    std::string entry_point;  ///< as Slang wrote it
    std::string text;         ///< with Slang's prelude
    Location origin;
    std::uint32_t threads = 0;          ///< of a group
    std::uint32_t resident_groups = 0;  ///< that registers should leave room for, each; 0: as it comes
    std::string interface;              ///< that the name in the unit ends with; see core/interface.h
    std::string name = {};              ///< the kernel's, as users read it
};

/// Refers to the source that it was made of.
struct CudaUnit {
    std::string defines;       ///< lines that turn on parts of the prelude
    std::string_view prelude;  ///< Slang's
    std::string entry_point;
    std::string bounded;    ///< the kernel's text
    std::string unbounded;  ///< without a bound on its registers; empty where there is none
};

/// Error: "internal-cuda-source" when a source doesn't have the form that Slang gives it.
Outcome<CudaUnit> cuda_unit(const CudaKernelSource& kernel);

/// Whether a line of the compiler's log is about the kernel, not about what it includes.
bool is_about_kernel(const CudaUnit& unit, std::string_view line);

/// Lowers the `.version` of PTX to at most `major.minor`, for drivers older than NVRTC; text that has a
/// lower one stays as it is. The driver still refuses instructions that it doesn't know.
std::string cap_ptx_version(std::string ptx, int major, int minor);

}  // namespace kf::gen
