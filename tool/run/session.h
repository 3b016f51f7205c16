// Makes a plan from a command line: what every command of kfgen does first.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cuda/nvrtc.h"
#include "kernels/code_keys.h"
#include "output/file_system.h"
#include "plan/plan.h"
#include "slang/compiler.h"
#include "slang/debug_calls.h"
#include "spec/spec.h"

namespace kf::gen {

/// The spec as this run sees it: the command line's options win over the file's.
Outcome<Spec> load_spec(const Options& options, const FileSystem& file_system);

/// Bytes that a child may take where no option says: its share of what `memory` leaves for them all, three
/// quarters. Many jobs still have 2 GiB each, since few kernels need so much at once. 0, any number, where
/// `memory` is 0.
std::uint64_t default_memory_limit(std::uint64_t memory, unsigned jobs);

/// Returns the kinds of reports that some of the spec's calls, or variants of them, make.
DebugUse debug_use(const Spec& spec);

/// Returns Slang's options for this spec; all paths absolute.
CompilerOptions compiler_options(const Spec& spec, const Options& options);

/// How many kernels are compiled at once.
unsigned job_count(const Options& options);

/// Returns the targets that the spec is compiled for, each once.
std::vector<CodeTarget> code_targets(const Spec& spec);

/// The spec's modules, absolute.
std::vector<std::filesystem::path> module_paths(const Spec& spec);

/// Returns the modules, and behind them the files that the spec links in.
std::vector<std::filesystem::path> slang_paths(const Spec& spec);

struct Planned {
    Plan plan;
    std::map<std::string, std::string> sources;         ///< Slang source files read, by absolute paths
    std::vector<GlobalParameter> globals;               ///< of the spec's modules
    std::vector<std::filesystem::path> cpp_files = {};  ///< what was read for the spec's "structs", absolute
    std::map<std::string, std::array<std::string, 2>> compiled = {};  ///< see Module::compiled
};

Outcome<Planned> plan_spec(const Spec& spec, Compiler& compiler);

/// Opens the compiler of CUDA source, which finds headers in `folders`, too. Called only for a spec that has
/// CUDA as a target.
using OpenCuda = std::function<Outcome<std::shared_ptr<const CudaCompiler>>(
    const std::vector<std::filesystem::path>& folders)>;

/// NVRTC from where default_cuda_search() looks. Error: "nvrtc-missing".
Outcome<std::shared_ptr<const CudaCompiler>> open_installed_cuda(
    const std::vector<std::filesystem::path>& folders);

/// The keys of kernels that `planned` needs: by the texts that Slang read, which may have been edited since.
CodeKeys code_keys(const CompilerOptions& options, const Planned& planned,
                   const std::string& compiler_version);

}  // namespace kf::gen
