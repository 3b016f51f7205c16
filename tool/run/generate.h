// All stages but the last: from a spec to the bytes of every output.
#pragma once

#include <filesystem>
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
    std::filesystem::path header, source, artifact, python, stub, depfile, state;
};

OutputPaths output_paths(const Spec& spec, const Options& options);

/// The outputs, what was read for them, and the plan that they follow.
struct Generated {
    std::vector<OutputFile> files;
    RunInputs inputs;
    Plan plan;
};

/// Writes nothing but the kernel cache. All errors of the stage that failed.
Outcome<Generated> generate_files(const Spec& spec, const Options& options, const OutputPaths& paths,
                                  FileSystem& disk, const OpenCuda& open_cuda = open_installed_cuda);

}  // namespace kf::gen
