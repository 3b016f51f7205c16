// The text of the findings that a command prints, and whether they end it.
#pragma once

#include <cstddef>
#include <string>

#include "cli/options.h"
#include "diagnostic/diagnostic.h"
#include "output/file_system.h"

namespace kf::gen {

/// Text for stderr, one line or more a finding, and the code to exit with; exit_done: the command goes on.
struct Findings {
    std::string text;
    ExitCode exit_code = exit_done;
};

/// The most warnings, or errors, that are shown: more would only hide the first, which say what to fix.
inline constexpr std::size_t most_findings = 100;

/// Warnings come first. With `werror` they are errors, else a quiet run leaves them out. As text, each shows
/// its source line, where `disk` has it.
Findings findings(const Diagnostics& warnings, const Diagnostics& errors, const Options& options,
                  const FileSystem* disk = nullptr);

template <class T>
Findings findings(const Outcome<T>& outcome, const Options& options, const FileSystem* disk = nullptr) {
    return findings(outcome.warnings(), outcome ? Diagnostics() : outcome.errors(), options, disk);
}

}  // namespace kf::gen
