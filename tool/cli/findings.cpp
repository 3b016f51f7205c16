// What a command prints of what it found, and whether that ends it.
#include "cli/findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "diagnostic/snippet.h"

namespace kf::gen {
namespace {

/// Errors in kfgen itself, in a compiler or in the file system are told apart from errors in the input.
bool is_a_failure(const Diagnostic& error) {
    constexpr std::array<std::string_view, 12> failures = {
        "check-program-failed", "check-program-unusable",  "file-unwritable", "nvrtc-internal",
        "nvrtc-memory",         "nvrtc-missing",           "nvrtc-timeout",   "slang-internal",
        "slang-invalid-code",   "slang-optimiser-missing", "slang-timeout",   "slang-memory"};
    return error.id.starts_with("internal-") ||
           std::find(failures.begin(), failures.end(), error.id) != failures.end();
}

/// Errors in what the command line asks for.
bool is_of_command_line(const Diagnostic& error) {
    constexpr std::array<std::string_view, 6> ids = {"command-line",     "explain-unknown",
                                                     "init-file-exists", "init-not-a-module",
                                                     "output-conflict",  "spec-is-a-module"};
    return std::find(ids.begin(), ids.end(), error.id) != ids.end();
}

}  // namespace

Findings findings(const Diagnostics& warnings, const Diagnostics& errors, const Options& options,
                  const FileSystem* disk) {
    Findings result;
    std::map<std::string, std::string> sources;
    const auto shown = [&](const Location& place) -> std::string {
        if (disk == nullptr || place.line < 1) return {};
        const auto [known, is_new] = sources.try_emplace(place.file);
        if (is_new) {
            if (const Outcome<std::string> text = disk->read(place.file)) known->second = text.value();
        }
        return snippet(known->second, place);
    };
    const auto print = [&](const Diagnostic& diagnostic) {
        const bool json = options.error_format == ErrorFormat::json;
        result.text +=
            (json ? format_json(diagnostic) : format_text(diagnostic, shown(diagnostic.location))) + '\n';
    };
    for (Diagnostic warning : warnings) {
        if (options.werror) {
            warning.severity = Severity::error;
            result.exit_code = exit_input;
        }
        if (options.werror || options.verbosity != Verbosity::quiet) print(warning);
    }
    for (const Diagnostic& error : errors) {
        if (is_a_failure(error)) result.exit_code = exit_failed;
        if (result.exit_code == exit_done) {
            result.exit_code = is_of_command_line(error) ? exit_command_line : exit_input;
        }
        print(error);
    }
    return result;
}

}  // namespace kf::gen
