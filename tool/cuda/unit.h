// Puts the CUDA source of many kernels into one translation unit: most of NVRTC's time goes into Slang's
// prelude, which is then read once.
#pragma once

#include <cstddef>
#include <cstdint>
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
    std::uint32_t threads = 0;          ///< of a group
    std::uint32_t resident_groups = 0;  ///< that registers should leave room for, each; 0: as it comes
    std::string interface;              ///< that the name in the unit ends with; see core/interface.h
};

struct CudaUnit {
    /// A kernel whose registers are bounded.
    struct Bound {
        std::size_t kernel = 0;
        std::uint32_t threads = 0;
        std::uint32_t resident_groups = 0;
    };

    std::string text;
    std::vector<std::string> entry_points;  ///< of each kernel, made unique
    std::vector<std::string> defines;       ///< for the compiler, as are those of define_bounds()
    std::vector<Bound> bounds;
};

/// Each kernel's part stands in a namespace of its own. Error: "internal-cuda-source" when a source doesn't
/// have the form that Slang gives it.
Outcome<CudaUnit> join_cuda_sources(const std::vector<CudaKernelSource>& kernels);

/// The macros that bound registers, but for the kernels in `unbounded`.
std::vector<std::string> define_bounds(const CudaUnit& unit, const std::vector<std::size_t>& unbounded);

/// The bounded kernels that keep more in memory than a few registers, as ptxas says in the compiler's log:
/// those are quicker without a bound.
std::vector<std::size_t> spilling_kernels(const CudaUnit& unit, std::string_view log);

/// The index in `unit` of the kernel that a line of the compiler's log is about.
std::optional<std::size_t> kernel_of_log_line(const CudaUnit& unit, std::string_view line);

/// Lowers the `.version` of PTX to at most `major.minor`, for drivers older than NVRTC; text that has a
/// lower one stays as it is. The driver still refuses instructions that it doesn't know.
std::string cap_ptx_version(std::string ptx, int major, int minor);

}  // namespace kf::gen
