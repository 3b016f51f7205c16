// kfgen: reads a call spec and Slang modules, writes kernels and typed wrappers.
#include <kf/error.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <span>

#include "cache/run_state.h"
#include "check/gradients.h"
#include "check/reasons.h"
#include "check/report.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "core/artifact.h"
#include "output/journal.h"
#include "output/sink.h"
#include "run/difference_probe.h"
#include "run/generate.h"
#include "run/inspection.h"
#include "run/limit_probe.h"
#include "run/listing.h"
#include "run/records.h"
#include "run/session.h"

namespace {

using namespace kf::gen;

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

int generate(const Options& options, DiskFileSystem& disk) {
    const Outcome<Spec> spec = load_spec(options, disk);
    if (const int code = report(findings(spec, options)); code != exit_done) return code;
    const OutputPaths paths = output_paths(spec.value(), options);
    const Diagnostics taken = conflicts(paths, options, named_inputs(spec.value(), options));
    if (!taken.empty()) return report(findings({}, taken, options));
    if (!options.dry_run) finish_interrupted(disk, paths.journal, paths.all());
    std::vector<std::string> key_parts = output_options(options);
    key_parts.insert(key_parts.begin(), KFGEN_VERSION);
    const std::string key = run_key(std::move(key_parts), programs());
    DryRunSink dry(disk);
    DiskSink wet(disk, paths.journal);
    OutputSink& sink = options.dry_run ? static_cast<OutputSink&>(dry) : wet;

    const Outcome<std::string> state_text = disk.read(paths.state);
    const auto state = state_text ? parse_run_state(state_text.value()) : std::nullopt;
    if (state && is_current(disk, *state, key)) {
        const int code = report(findings(state->warnings, {}, options));
        if (code != exit_done) return code;
        if (options.verbosity == Verbosity::verbose) std::cout << "nothing changed\n";
        return report(findings(sink.write(stamps(options)), options));
    }

    Outcome<Generated> generated = generate_files(spec.value(), options, paths, disk);
    if (const int code = report(findings(generated, options)); code != exit_done) return code;
    const Diagnostics overwritten = conflicts(paths, options, generated.value().inputs.paths());
    if (!overwritten.empty()) return report(findings({}, overwritten, options));
    const auto written =
        sink.write(with_records(generated.value(), generated.warnings(), paths, options, key, disk));
    if (const int code = report(findings(written, options)); code != exit_done) return code;
    say(written.value(), options);
    return exit_done;
}

int fail(const kf::Error& error, const std::filesystem::path& file, const Options& options) {
    const std::string id(kf::error_id(error.code()));
    report(findings({}, {{Severity::error, id, {file.string(), 0, 0}, error.what(), {}}}, options));
    return dynamic_cast<const kf::DeviceError*>(&error) != nullptr ? exit_failed : exit_input;
}

kf::check::Settings check_settings(const GradientOptions& options) {
    kf::check::Settings settings;
    settings.device = options.device;
    settings.seed = options.seed;
    settings.range = options.range;
    settings.except = options.except;
    for (const auto& [argument, extents] : options.shapes) settings.shapes.push_back({argument, extents});
    return settings;
}

kf::check::LimitedLoops limited_loops(LimitProbe* probe) {
    kf::check::LimitedLoops loops;
    if (probe == nullptr) return loops;
    for (const ProbedLoop& loop : probe->loops())
        loops.loops.push_back({loop.location.file, loop.location.line, loop.function, loop.limit});
    loops.artifact = [=](auto begin, auto end, const auto& function) {
        return probe->artifact(begin, end, function);
    };
    return loops;
}

/// Of an artifact, or of what was generated and not written.
int check_gradients(const Options& options, std::span<const std::byte> artifact, const Plan* plan,
                    const DifferenceArtifacts& own, LimitProbe* probe) {
    try {
        kf::check::Explain explain;
        if (plan != nullptr)
            explain = [=](auto f, auto c, auto a) { return kf::check::reason(*plan, f, c, a); };
        auto report = kf::check::check_gradients(artifact, check_settings(options.gradients), explain,
                                                 own.artifacts, limited_loops(probe));
        report.not_compared = untested_texts(own);
        if (probe != nullptr && !probe->failure().empty())
            report.not_compared.push_back("loops with their limits: " + probe->failure());
        std::cout << (options.gradients.json ? kf::check::json_of(report) : kf::check::text_of(report));
        return report.is_right() ? exit_done : exit_input;
    } catch (const kf::Error& error) {
        return fail(error, plan != nullptr ? options.spec : options.artifact, options);
    }
}

int check_artifact(const Options& options) {
    try {
        return check_gradients(options, kf::artifact::read_file(options.artifact.string()), nullptr, {},
                               nullptr);
    } catch (const kf::Error& error) {
        return fail(error, options.artifact, options);
    }
}

int check(const Options& options, DiskFileSystem& disk) {
    if (!options.artifact.empty()) return check_artifact(options);
    const Outcome<Spec> spec = load_spec(options, disk);
    if (const int code = report(findings(spec, options)); code != exit_done) return code;
    const OutputPaths paths = output_paths(spec.value(), options);
    const Outcome<Generated> generated = generate_files(spec.value(), options, paths, disk);
    if (const int code = report(findings(generated, options)); code != exit_done) return code;
    if (!options.gradients.wanted) return exit_done;
    const std::vector<OutputFile>& files = generated.value().files;
    const auto artifact = std::find_if(files.begin(), files.end(),
                                       [&](const OutputFile& file) { return file.path == paths.artifact; });
    LimitProbe probe(spec.value(), options, disk, generated.value().inputs.files);
    return check_gradients(options, std::as_bytes(std::span(artifact->content)), &generated.value().plan,
                           difference_artifacts(spec.value(), options, disk), &probe);
}

int list(const Options& options, DiskFileSystem& disk) {
    const Outcome<Spec> spec = load_spec(options, disk);
    if (const int code = report(findings(spec, options)); code != exit_done) return code;
    const Outcome<std::string> text = list_calls(spec.value(), options);
    if (const int code = report(findings(text, options)); code != exit_done) return code;
    std::cout << text.value();
    return exit_done;
}

int inspect(const Options& options, const DiskFileSystem& disk) {
    const Outcome<std::string> text = inspect_artifact(options.artifact, disk);
    if (const int code = report(findings(text, options)); code != exit_done) return code;
    std::cout << text.value();
    return exit_done;
}

int run(const CommandLine& line, DiskFileSystem& disk) {
    if (line.done) {
        (line.exit_code == exit_done ? std::cout : std::cerr) << line.text;
        return line.exit_code;
    }
    switch (line.options.command) {
        case Command::generate: return generate(line.options, disk);
        case Command::check: return check(line.options, disk);
        case Command::list: return list(line.options, disk);
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
        // What nobody could read was not done, whatever else was.
        if (std::cout.flush()) return code;
        return report(findings(
            {}, {{Severity::error, "file-unwritable", {"standard output", 0, 0}, "it can't be written", {}}},
            line.options));
    } catch (const std::exception& error) {
        std::cerr << "kfgen: internal error: " << error.what() << '\n';
        return exit_failed;
    }
}
