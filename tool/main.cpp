// kfgen: reads a call spec and Slang modules, writes kernels and typed wrappers.
#include <kf/error.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <span>
#include <string_view>

#include "cache/run_state.h"
#include "check/gradients.h"
#include "check/reasons.h"
#include "check/report.h"
#include "cli/options.h"
#include "core/artifact.h"
#include "output/depfile.h"
#include "output/sink.h"
#include "run/generate.h"
#include "run/inspection.h"
#include "run/listing.h"
#include "run/session.h"
#include "run/support.h"

namespace {

using namespace kf::gen;

void print(const Diagnostics& diagnostics, const Options& options) {
    for (const Diagnostic& diagnostic : diagnostics) {
        const bool json = options.error_format == ErrorFormat::json;
        std::cerr << (json ? format_json(diagnostic) : format_text(diagnostic)) << '\n';
    }
}

/// Errors in kfgen itself, in a compiler or in the file system are told apart from errors in the input.
bool is_a_failure(const Diagnostic& error) {
    constexpr std::array<std::string_view, 5> failures = {
        "file-unwritable", "nvrtc-missing", "slang-internal", "slang-optimiser-missing", "slang-timeout"};
    return error.id.starts_with("internal-") ||
           std::find(failures.begin(), failures.end(), error.id) != failures.end();
}

int fail(const Diagnostics& errors, const Options& options) {
    print(errors, options);
    return std::any_of(errors.begin(), errors.end(), is_a_failure) ? exit_failed : exit_input;
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
    if (!spec) return fail(spec.errors(), options);
    const OutputPaths paths = output_paths(spec.value(), options);
    std::vector<std::string> key_parts = output_options(options);
    key_parts.insert(key_parts.begin(), KFGEN_VERSION);
    const std::string key = run_key(std::move(key_parts), programs());
    std::vector<OutputFile> stamps;
    if (!options.stamp.empty()) stamps.push_back({options.stamp, "", true});
    DryRunSink dry(disk);
    DiskSink wet(disk);
    OutputSink& sink = options.dry_run ? static_cast<OutputSink&>(dry) : wet;

    const Outcome<std::string> state_text = disk.read(paths.state);
    const auto state = state_text ? parse_run_state(state_text.value()) : std::nullopt;
    if (state && is_current(disk, *state, key)) {
        if (options.verbosity == Verbosity::verbose) std::cout << "nothing changed\n";
        const auto stamped = sink.write(stamps);
        return stamped ? exit_done : fail(stamped.errors(), options);
    }

    Outcome<Generated> generated = generate_files(spec.value(), options, paths, disk);
    if (!generated) return fail(generated.errors(), options);
    std::vector<OutputFile>& files = generated.value().files;
    std::vector<std::filesystem::path> targets;
    if (!options.stamp.empty()) targets.push_back(options.stamp);
    for (const OutputFile& file : files) targets.push_back(file.path);
    std::vector<std::filesystem::path> read;
    for (const auto& [path, text] : generated.value().inputs.files) read.push_back(path);
    read.insert(read.end(), generated.value().inputs.programs.begin(),
                generated.value().inputs.programs.end());
    files.push_back({paths.depfile, depfile_text(targets, read), false});
    const RunState next = record_run(disk, key, generated.value().inputs, files);
    files.push_back({paths.state, run_state_text(next), false});
    files.insert(files.end(), stamps.begin(), stamps.end());
    const auto written = sink.write(files);
    if (!written) return fail(written.errors(), options);
    say(written.value(), options);
    return exit_done;
}

int fail(const kf::Error& error, const std::filesystem::path& file, const Options& options) {
    print(
        {{Severity::error, std::string(kf::error_id(error.code())), {file.string(), 0, 0}, error.what(), {}}},
        options);
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

/// Of an artifact, or of what was generated and not written.
int check_gradients(const Options& options, std::span<const std::byte> artifact, const Plan* plan) {
    try {
        kf::check::Explain explain;
        if (plan != nullptr)
            explain = [=](auto f, auto c, auto a) { return kf::check::reason(*plan, f, c, a); };
        const auto report = kf::check::check_gradients(artifact, check_settings(options.gradients), explain);
        std::cout << (options.gradients.json ? kf::check::json_of(report) : kf::check::text_of(report));
        return report.is_right() ? exit_done : exit_input;
    } catch (const kf::Error& error) {
        return fail(error, plan != nullptr ? options.spec : options.artifact, options);
    }
}

int check_artifact(const Options& options) {
    try {
        return check_gradients(options, kf::artifact::read_file(options.artifact.string()), nullptr);
    } catch (const kf::Error& error) {
        return fail(error, options.artifact, options);
    }
}

int check(const Options& options, DiskFileSystem& disk) {
    if (!options.artifact.empty()) return check_artifact(options);
    const Outcome<Spec> spec = load_spec(options, disk);
    if (!spec) return fail(spec.errors(), options);
    const OutputPaths paths = output_paths(spec.value(), options);
    const Outcome<Generated> generated = generate_files(spec.value(), options, paths, disk);
    if (!generated) return fail(generated.errors(), options);
    if (!options.gradients.wanted) return exit_done;
    const std::vector<OutputFile>& files = generated.value().files;
    const auto artifact = std::find_if(files.begin(), files.end(),
                                       [&](const OutputFile& file) { return file.path == paths.artifact; });
    return check_gradients(options, std::as_bytes(std::span(artifact->content)), &generated.value().plan);
}

int list(const Options& options, DiskFileSystem& disk) {
    const Outcome<Spec> spec = load_spec(options, disk);
    if (!spec) return fail(spec.errors(), options);
    auto compiler = make_slang_compiler(compiler_options(spec.value(), options), support_modules());
    if (!compiler) return fail(compiler.errors(), options);
    const Outcome<Planned> planned = plan_spec(spec.value(), *compiler.value());
    if (!planned) return fail(planned.errors(), options);
    const Outcome<KernelSet> kernels = collect_kernels(planned.value().plan, code_targets(spec.value()));
    if (!kernels) return fail(kernels.errors(), options);
    std::cout << listing(planned.value().plan, kernels.value());
    return exit_done;
}

int inspect(const Options& options, const DiskFileSystem& disk) {
    const Outcome<std::string> text = inspect_artifact(options.artifact, disk);
    if (!text) return fail(text.errors(), options);
    std::cout << text.value();
    return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        DiskFileSystem disk;
        const CommandLine line = parse_command_line({argv + 1, argv + argc}, disk, KFGEN_VERSION);
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
    } catch (const std::exception& error) {
        std::cerr << "kfgen: internal error: " << error.what() << '\n';
        return exit_failed;
    }
}
