// The text of the findings that a command prints, and whether they end it.
#include "cli/findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "diagnostic/snippet.h"

namespace kf::gen {
namespace {

/// Whether an error is one in kfgen itself, in a compiler or in the file system, and not one in the input.
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

/// Prints up to a number of findings of one severity, and says how many more there are.
template <class Print>
class Limited {
public:
    explicit Limited(const Print& print) : print_(print) {}
    void add(const Diagnostic& found) {
        if (++count_ <= most_findings) print_(found);
    }
    void end(const char* what) const {
        if (count_ <= most_findings) return;
        print_({Severity::note,
                "findings-left-out",
                {},
                std::to_string(count_ - most_findings) + " more " + what + " aren't shown",
                {}});
    }

private:
    const Print& print_;
    std::size_t count_ = 0;
};

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
    Limited warned(print);
    for (Diagnostic warning : warnings) {
        if (options.werror) {
            warning.severity = Severity::error;
            result.exit_code = exit_input;
        }
        if (options.werror || options.verbosity != Verbosity::quiet) warned.add(warning);
    }
    warned.end("warnings");
    Limited failed(print);
    for (const Diagnostic& error : errors) {
        if (is_a_failure(error)) result.exit_code = exit_failed;
        if (result.exit_code == exit_done) {
            result.exit_code = is_of_command_line(error) ? exit_command_line : exit_input;
        }
        failed.add(error);
    }
    failed.end("errors");
    return result;
}

}  // namespace kf::gen
