// From the CUDA source of a plan's kernels to images: a cubin for each architecture, and PTX.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "cuda/nvrtc.h"
#include "cuda/unit.h"
#include "kernels/compile.h"
#include "process/job_server.h"
#include "spec/spec.h"

namespace kf::gen {

struct CudaJob {
    const TargetSpec& target;
    const CudaCompiler& compiler;
    unsigned workers = 1;
    KernelStore* store = nullptr;  ///< not owned; may be null
    /// What cuda_headers() returned: stored cubins are for these.
    std::vector<std::filesystem::path> headers = {};
    /// Told of each unit that is done, for each architecture: how many are, of how many, and what it is. From
    /// any thread.
    std::function<void(std::size_t, std::size_t, const std::string&)> tell = {};
    process::JobServer* slots = nullptr;  ///< that further workers need; not owned; may be null
};

/// What a spec that states no architectures is compiled for, as far as the compiler knows them.
inline constexpr const char* default_architectures[] = {"sm_80", "sm_90", "sm_100"};

/// The images of each kernel, in order. Kernels of one translation unit share their images' bytes.
/// Errors: "cuda-architecture" (one that the compiler doesn't know), "cuda-compile": at the kernels' origins
/// where the compiler's log tells them, else at the target, with the log in the notes.
Outcome<std::vector<std::vector<manifest::Image>>> compile_cuda(const std::vector<CudaKernelSource>& kernels,
                                                                const CudaJob& job);

/// CUDA's headers that the kernels may include: inputs of a run, as the compiler's files are.
std::vector<std::filesystem::path> cuda_headers(const std::vector<CudaKernelSource>& kernels,
                                                const CudaCompiler& compiler);

}  // namespace kf::gen
