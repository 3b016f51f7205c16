// The text of `kfgen list`.
#include "run/listing.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "emit/device_header.h"
#include "emit/overload.h"
#include "emit/text.h"
#include "run/reached_plan.h"
#include "run/session.h"

namespace kf::gen {

namespace {

/// Whether it is clear why a probe doesn't compile: its kernels won't either.
bool has_known_reason(const Diagnostic& failure) {
    return failure.id == "slang-loop-start" || failure.id == "slang-target-code";
}

/// How many overloads use each kernel.
std::map<std::int64_t, int> uses(const KernelSet& kernels) {
    std::map<std::int64_t, int> counts;
    for (const auto& calls : kernels.calls) {
        for (const CallKernels& call : calls) {
            for (const std::int64_t index : call.kernels()) ++counts[index];
        }
    }
    return counts;
}

}  // namespace

std::string listing(const Plan& plan, const KernelSet& kernels) {
    const std::map<std::int64_t, int> counts = uses(kernels);
    std::string text;
    const auto add_kernel = [&](std::int64_t index) {
        const KernelUnit& unit = kernels.units[static_cast<std::size_t>(index)];
        text += "    kernel " + std::to_string(index) + ": " + unit.name + ", " +
                std::to_string(unit.group_size[0]) + " threads a group, " + unit.source_hash.substr(0, 12);
        if (counts.at(index) > 1) text += ", shared by " + std::to_string(counts.at(index)) + " overloads";
        text += "\n";
    };
    for (std::size_t f = 0; f < plan.functions.size(); ++f) {
        const PlannedFunction& function = plan.functions[f];
        text += function.name + "\n";
        for (std::size_t c = 0; c < function.calls.size(); ++c) {
            text += "  " + overload_text(function.calls[c]) + "\n";
            for (const std::int64_t index : kernels.calls[f][c].kernels()) add_kernel(index);
        }
    }
    text += std::to_string(kernels.units.size()) + " kernel(s)\n";
    return text;
}

Outcome<std::string> list_calls(const Spec& spec, const Options& options) {
    const Outcome<ReachedPlan> reached = reached_plan(spec, options);
    const auto warned = [&](Outcome<std::string> outcome) {
        return std::move(outcome).with_warnings(reached.warnings());
    };
    if (!reached) return warned(reached.errors());
    const Plan& plan = reached.value().plan;
    const Outcome<KernelSet> kernels = collect_kernels(plan, code_targets(spec));
    if (!kernels) return warned(kernels.errors());
    // Anything else that doesn't compile is for the commands that compile it to say.
    Diagnostics known;
    const Diagnostics& failures = reached.value().failures;
    std::copy_if(failures.begin(), failures.end(), std::back_inserter(known), has_known_reason);
    if (!known.empty()) return warned(known);
    std::string text = listing(plan, kernels.value());
    if (spec.device_header) {
        const auto functions = device_functions(plan);
        if (!functions) return warned(functions.errors());
        text += spec.name + ".cuh\n";
        for (const DeviceFunction& function : functions.value()) {
            for (const std::string& line : doc_lines(device_declaration(function)))
                text += "  " + line + "\n";
        }
    }
    return warned(std::move(text));
}

}  // namespace kf::gen
