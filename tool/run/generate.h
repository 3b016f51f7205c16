// All stages but the last: from a spec to the bytes of every output.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cache/run_state.h"
#include "cli/options.h"
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

    /// What users asked for.
    [[nodiscard]] std::vector<std::filesystem::path> outputs(const Options& options) const;
    /// Returns all paths that any run may write.
    [[nodiscard]] std::vector<std::filesystem::path> all() const;
};

OutputPaths output_paths(const Spec& spec, const Options& options);

/// What runs: kfgen itself and Slang's library.
std::vector<std::filesystem::path> programs();

/// What outputs depend on beside the files that were read. A record of a run says whether the programs of
/// that time have changed since; another kfgen, of the same version in another place, must not take it for
/// its own.
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
                                  FileSystem& disk, const OpenCuda& open_cuda = open_installed_cuda,
                                  const std::map<std::string, std::string>& sources = {});

/// The bytes of an artifact with all functions and calls of the spec's, whose backward and fused passes have
/// no kernels. `sources` as above.
Outcome<std::vector<std::byte>> generate_forward_passes(const Spec& spec, const Options& options,
                                                        FileSystem& disk,
                                                        const std::map<std::string, std::string>& sources);

}  // namespace kf::gen
