// All stages but the last: from a spec to the bytes of every output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/run_state.h"
#include "cli/options.h"
#include "cuda/nvrtc.h"
#include "kernels/collect.h"
#include "kernels/compile.h"
#include "output/sink.h"
#include "plan/plan.h"
#include "run/session.h"
#include "spec/spec.h"

namespace kf::gen {

/// Where everything goes, from the spec's name and the options.
struct OutputPaths {
    std::filesystem::path header, source, artifact, python, stub, py_typed, depfile, state, stamp, journal;
    std::filesystem::path device_header;  ///< empty where the spec asks for none
    std::filesystem::path torch_test;
    std::filesystem::path object;  ///< empty where the artifact goes into no object file

    /// Returns the outputs that users asked for.
    [[nodiscard]] std::vector<std::filesystem::path> outputs(const Options& options) const;
    /// Returns all paths that any run may write.
    [[nodiscard]] std::vector<std::filesystem::path> all() const;
};

OutputPaths output_paths(const Spec& spec, const Options& options);

/// Returns the files of the programs that run: kfgen itself and Slang's library.
std::vector<std::filesystem::path> programs();

/// Returns a text of all that outputs depend on beside the files that were read. A record of a run says
/// whether the programs of that time have changed since; another kfgen, of the same version in another place,
/// must not take it for its own.
std::string run_key(std::vector<std::string> options, const std::vector<std::filesystem::path>& programs);

/// The outputs, what was read for them, and the plan that they follow.
struct Generated {
    std::vector<OutputFile> files;
    RunInputs inputs;
    Plan plan;
    std::vector<std::string> kernels = {};  ///< "compiled: NAME (spirv)" or "cached: …" of each
};

/// Writes nothing but the kernel cache. All errors of the stage that failed, and all warnings so far.
/// Of `sources`, by their paths, nothing is read from the disk.
Outcome<Generated> generate_files(const Spec& spec, const Options& options, const OutputPaths& paths,
                                  const OpenCuda& open_cuda = open_installed_cuda,
                                  const std::map<std::string, std::string>& sources = {});

/// How far kernels are made, for those who look at them.
enum class KernelStage : std::uint8_t {
    source,  ///< their Slang
    code,    ///< and what Slang makes of it: SPIR-V, CUDA source
    images,  ///< and what NVRTC makes of CUDA source
};

/// A kernel, and what was made of it up to the stage.
struct MadeKernel {
    std::int64_t number = 0;  ///< as `kfgen list` counts
    KernelUnit unit;
    CompiledUnit compiled = {};
    manifest::Kernel kernel = {};                             ///< with the images that there are
    std::vector<std::pair<std::string, CudaCode>> cuda = {};  ///< by architecture
};

struct MadeKernels {
    Plan plan;
    std::vector<std::vector<CallKernels>> calls;  ///< of the plan's functions: kernels by their numbers
    std::vector<MadeKernel> kernels;              ///< the chosen ones
};

using ChooseKernels = std::function<Outcome<std::vector<std::int64_t>>(const Plan&, const KernelSet&)>;

/// Makes those of the spec's kernels that `choose` returns the numbers of. Writes nothing but the kernel
/// cache.
Outcome<MadeKernels> make_kernels(const Spec& spec, const Options& options, KernelStage stage,
                                  const ChooseKernels& choose,
                                  const OpenCuda& open_cuda = open_installed_cuda);

/// The bytes of an artifact with all functions and calls of the spec's, whose backward and fused passes have
/// no kernels. `sources` as above.
Outcome<std::vector<std::byte>> generate_forward_passes(const Spec& spec, const Options& options,
                                                        const std::map<std::string, std::string>& sources);

}  // namespace kf::gen
