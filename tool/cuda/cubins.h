// Compiles the CUDA source of a plan's kernels to images: a cubin for each architecture, and PTX.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
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
    /// The result of cuda_headers(): stored cubins are for these.
    std::vector<std::filesystem::path> headers = {};
    /// Makes a worker's compiler, on the caller's thread; none: all workers use `compiler`. `programs`: how
    /// many it compiles, more or less.
    std::function<std::unique_ptr<const CudaCompiler>(std::size_t programs)> make_worker = {};
    /// Called for each kernel that is compiled for an architecture: with how many are, of how many, and its
    /// name. From any thread.
    std::function<void(std::size_t, std::size_t, const std::string&)> tell = {};
    /// Called for each kernel and architecture before the first is compiled: with whether the store has it.
    std::function<void(const CudaKernelSource&, const std::string&, bool)> found = {};
    process::JobServer* slots = nullptr;  ///< that further workers need; not owned; may be null
    /// Called with all that each kernel's compilation for an architecture gave, by the kernel's index, in the
    /// order of architectures, once all are compiled. With it PTX and logs are there, also of what is stored.
    std::function<void(std::size_t, const std::string&, const CudaCode&)> made = {};
};

/// The architectures of a spec that states none, as far as the compiler knows them.
inline constexpr const char* default_architectures[] = {"sm_80", "sm_90", "sm_100"};

/// The images of each kernel, in order: each is made of its kernel's source alone.
/// Errors: "cuda-architecture" (one that the compiler doesn't know), at the target; at the kernels' origins
/// "cuda-compile", with the log in the notes (where the log is about what kernels include, at the target),
/// and those of isolated_compiler.h.
Outcome<std::vector<std::vector<manifest::Image>>> compile_cuda(const std::vector<CudaKernelSource>& kernels,
                                                                const CudaJob& job);

/// CUDA's headers that the kernels may include: inputs of a run, as the compiler's files are.
std::vector<std::filesystem::path> cuda_headers(const std::vector<CudaKernelSource>& kernels,
                                                const CudaCompiler& compiler);

}  // namespace kf::gen
