// kfgen's end of the conversation with kfgen-check, the program that runs what was generated.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "check/messages.h"
#include "cli/options.h"
#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// How a check ended: what it prints, and what kfgen exits with.
struct CheckEnd {
    ExitCode code = exit_done;
    std::string report;  ///< for stdout
    Diagnostics errors;
};

/// Finds kfgen-check in the folder of this program's file, whatever links lead to it. Error:
/// "check-program-unusable", where it isn't there or can't be executed.
Outcome<std::filesystem::path> find_check_program();
Outcome<std::filesystem::path> find_check_program(const std::filesystem::path& folder);

/// Makes the artifacts that a check asks for while it runs.
using MakeArtifact = std::function<check::Answer(const check::Question&)>;

/// Starts the program, gives it the task, and answers it until it has ended. `input` is the file that errors
/// of the task are about. A program of another version is "check-program-unusable", one that ends without a
/// result "check-program-failed". Throws std::runtime_error for a fault of the program's own.
CheckEnd run_check(const std::filesystem::path& program, const std::filesystem::path& input,
                   const check::Task& task, const MakeArtifact& make_artifact);

}  // namespace kf::gen
