// kfgen: reads a call spec and Slang modules, writes kernels and typed wrappers.
#include <exception>
#include <iostream>

#include "cache/run_state.h"
#include "check_process/check_process.h"
#include "check_process/gradient_check.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "output/journal.h"
#include "output/sink.h"
#include "run/against.h"
#include "run/explanation.h"
#include "run/extraction.h"
#include "run/generate.h"
#include "run/inspection.h"
#include "run/listing.h"
#include "run/long_loops.h"
#include "run/records.h"
#include "run/session.h"
#include "run/starter.h"

namespace {

using namespace kf::gen;
namespace manifest = kf::manifest;

/// Prints what was found; gives the code to exit with, or exit_done where the command goes on.
int report(const Findings& found) {
    std::cerr << found.text;
    return found.exit_code;
}

void say(const std::vector<OutputResult>& results, const Options& options) {
    if (options.verbosity == Verbosity::quiet) return;
    for (const OutputResult& result : results) {
        if (result.action == OutputAction::unchanged && options.verbosity != Verbosity::verbose) continue;
        const char* action = result.action == OutputAction::created   ? "created"
                             : result.action == OutputAction::updated ? "updated"
                                                                      : "unchanged";
        std::cout << (options.dry_run ? "would be " : "") << action << ": " << result.path.string() << '\n';
    }
}

int init(const Options& options, DiskFileSystem& disk) {
    const Outcome<Starter> starter = make_starter(options, disk);
    if (const int code = report(findings(starter, options, &disk)); code != exit_done) return code;
    const auto& [path, text] = starter.value();
    if (path == "-") {
        std::cout << text;
        return exit_done;
    }
    DiskSink sink(disk, path.parent_path() / ("." + path.filename().string() + ".kfgen-journal"));
    const auto written = sink.write({{path, text, false}});
    if (const int code = report(findings(written, options, &disk)); code != exit_done) return code;
    say(written.value(), options);
    return exit_done;
}

int generate(const Options& options, DiskFileSystem& disk) {
    const Outcome<Spec> spec = load_spec(options, disk);
    if (const int code = report(findings(spec, options, &disk)); code != exit_done) return code;
    const OutputPaths paths = output_paths(spec.value(), options);
    const Diagnostics taken = conflicts(paths, options, named_inputs(spec.value(), options));
    if (!taken.empty()) return report(findings({}, taken, options, &disk));
    if (!options.dry_run) finish_interrupted(disk, paths.journal, paths.all());
    std::vector<std::string> key_parts = output_options(options);
    key_parts.insert(key_parts.begin(), KFGEN_VERSION);
    const std::string key = run_key(std::move(key_parts), programs());
    DryRunSink dry(disk);
    DiskSink wet(disk, paths.journal);
    OutputSink& sink = options.dry_run ? static_cast<OutputSink&>(dry) : wet;

    const Outcome<std::string> state_text = disk.read(paths.state);
    const auto state = state_text ? parse_run_state(state_text.value()) : std::nullopt;
    const auto recorded = disk.status(paths.state).value_or(FileStatus()).changed;
    if (state && !options.compiles_always && is_current(disk, *state, key, recorded)) {
        if (!options.dry_run && !is_settled(disk, *state, recorded)) settle(disk, *state, paths.state);
        const int code = report(findings(state->warnings, {}, options, &disk));
        if (code != exit_done) return code;
        if (options.verbosity == Verbosity::verbose) std::cout << "nothing changed\n";
        return report(findings(sink.write(stamps(options)), options));
    }

    Outcome<Generated> generated = generate_files(spec.value(), options, paths);
    if (const int code = report(findings(generated, options, &disk)); code != exit_done) return code;
    const Diagnostics overwritten = conflicts(paths, options, generated.value().inputs.paths());
    if (!overwritten.empty()) return report(findings({}, overwritten, options, &disk));
    const auto written =
        sink.write(with_records(generated.value(), generated.warnings(), paths, options, key, disk));
    if (const int code = report(findings(written, options, &disk)); code != exit_done) return code;
    if (!options.dry_run) settle(disk, paths.state);
    say(written.value(), options);
    if (options.verbosity == Verbosity::verbose) {
        for (const std::string& kernel : generated.value().kernels) std::cout << kernel << '\n';
    }
    return exit_done;
}

int finish(const CheckEnd& end, const Options& options, const DiskFileSystem& disk) {
    report(findings({}, end.errors, options, &disk));
    std::cout << end.report;
    return end.code;
}

int compare(const Options& options, const DiskFileSystem& disk) {
    const Outcome<std::vector<InterfaceChange>> changes = changes_against(options, disk);
    if (const int code = report(findings(changes, options, &disk)); code != exit_done) return code;
    std::cout << interface_report(changes.value(), options.gradients.json);
    return breaks_callers(changes.value()) ? exit_input : exit_done;
}

int check(const Options& options, DiskFileSystem& disk) {
    if (!options.against.empty()) return compare(options, disk);
    std::filesystem::path program;
    if (options.gradients.wanted) {
        const Outcome<std::filesystem::path> found = find_check_program();
        if (const int code = report(findings(found, options, &disk)); code != exit_done) return code;
        program = found.value();
    }
    if (!options.artifact.empty()) return finish(check_artifact(program, options), options, disk);
    const Outcome<Spec> spec = load_spec(options, disk);
    if (const int code = report(findings(spec, options, &disk)); code != exit_done) return code;
    const OutputPaths paths = output_paths(spec.value(), options);
    const Outcome<Generated> generated = generate_files(spec.value(), options, paths);
    if (const int code = report(findings(generated, options, &disk)); code != exit_done) return code;
    report(findings(loop_warnings(spec.value(), generated.value().inputs.files), {}, options, &disk));
    if (!options.gradients.wanted) return exit_done;
    return finish(check_generated(program, spec.value(), options, generated.value()), options, disk);
}

/// Prints what `text_of` makes of the spec.
template <class TextOf>
int print_of_spec(const Options& options, const DiskFileSystem& disk, TextOf text_of) {
    const Outcome<Spec> spec = load_spec(options, disk);
    if (const int code = report(findings(spec, options, &disk)); code != exit_done) return code;
    const Outcome<std::string> text = text_of(spec.value());
    if (const int code = report(findings(text, options, &disk)); code != exit_done) return code;
    std::cout << text.value();
    return exit_done;
}

int inspect(const Options& options, DiskFileSystem& disk) {
    const Outcome<manifest::Manifest> artifact = read_artifact(options.artifact, disk);
    if (const int code = report(findings(artifact, options, &disk)); code != exit_done) return code;
    if (!options.extract.empty()) {
        DiskSink sink(disk, options.extract / ".kfgen-journal");
        const auto written = sink.write(extracted_files(artifact.value(), options.extract));
        if (const int code = report(findings(written, options, &disk)); code != exit_done) return code;
        say(written.value(), options);
        return exit_done;
    }
    std::cout << inspection(artifact.value());
    return exit_done;
}

int run(const CommandLine& line, DiskFileSystem& disk) {
    if (line.done) {
        (line.exit_code == exit_done ? std::cout : std::cerr) << line.text;
        return line.exit_code;
    }
    switch (line.options.command) {
        case Command::init: return init(line.options, disk);
        case Command::generate: return generate(line.options, disk);
        case Command::check: return check(line.options, disk);
        case Command::list:
            return print_of_spec(line.options, disk,
                                 [&](const Spec& spec) { return list_calls(spec, line.options); });
        case Command::explain:
            return print_of_spec(line.options, disk,
                                 [&](const Spec& spec) { return explain(spec, line.options); });
        case Command::inspect: return inspect(line.options, disk);
        case Command::none: break;
    }
    return exit_command_line;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        DiskFileSystem disk;
        const CommandLine line = parse_command_line({argv + 1, argv + argc}, disk, KFGEN_VERSION);
        const int code = run(line, disk);
        // Output that nobody could read is an error, whatever else the run did.
        if (std::cout.flush()) return code;
        return report(findings(
            {}, {{Severity::error, "file-unwritable", {"standard output", 0, 0}, "it can't be written", {}}},
            line.options));
    } catch (const std::exception& error) {
        std::cerr << "kfgen: internal error: " << error.what() << '\n';
        return exit_failed;
    }
}
