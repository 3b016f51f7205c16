// `kfgen check --gradients`, as far as it is the compiler's.
#include "check_process/gradient_check.h"

#include <kf/error.h>

#include <algorithm>
#include <span>

#include "check_process/reasons.h"
#include "core/artifact.h"
#include "run/difference_probe.h"
#include "run/limit_probe.h"

namespace kf::gen {

namespace {

check::Task task_for(const GradientOptions& options) {
    check::Task task;
    task.settings = {options.device, options.seed, options.range, {}, options.except};
    for (const auto& [argument, extents] : options.shapes)
        task.settings.shapes.push_back({argument, extents});
    task.json = options.json;
    return task;
}

}  // namespace

CheckEnd check_artifact(const std::filesystem::path& program, const Options& options) {
    check::Task task = task_for(options.gradients);
    try {
        task.artifact = artifact::read_file(options.artifact.string());
    } catch (const Error& error) {
        const std::string id(error_id(error.code()));
        return {exit_input, {}, {{Severity::error, id, {options.artifact.string(), 0, 0}, error.what(), {}}}};
    }
    return run_check(program, options.artifact, task, {});
}

CheckEnd check_generated(const std::filesystem::path& program, const Spec& spec, const Options& options,
                         const Generated& generated) {
    check::Task task = task_for(options.gradients);
    const std::filesystem::path path = output_paths(spec, options).artifact;
    const auto file = std::find_if(generated.files.begin(), generated.files.end(),
                                   [&](const OutputFile& one) { return one.path == path; });
    const auto bytes = std::as_bytes(std::span(file->content));
    task.artifact.assign(bytes.begin(), bytes.end());
    task.reasons = reasons(generated.plan);
    DifferenceArtifacts own = difference_artifacts(spec, options);
    task.not_compared = untested_texts(own);
    task.differences = std::move(own.artifacts);
    LimitProbe probe(spec, options, generated.inputs.files);
    for (const ProbedLoop& loop : probe.loops())
        task.loops.push_back({loop.location.file, loop.location.line, loop.function, loop.limit});
    return run_check(program, options.spec, task, [&](const check::Question& question) {
        check::Answer answer{probe.artifact(question.begin, question.end, question.function), {}};
        if (answer.artifact.empty()) answer.failure = probe.failure();
        return answer;
    });
}

}  // namespace kf::gen
