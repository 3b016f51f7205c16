// What `kfgen list` prints.
#include "run/listing.h"

#include <map>

#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::ArgumentKind;
using manifest::Role;

std::string kind_text(const manifest::Argument& argument) {
    const std::string element = slang_name(argument.element);
    if (argument.kind == ArgumentKind::value) return "value<" + element + ">";
    return "tensor<" + element + ">[" + std::to_string(argument.rank) + "]";
}

std::string overload_text(const PlannedCall& call) {
    std::string text = "(";
    std::string result;
    for (const PlannedArgument& argument : call.arguments) {
        if (argument.host.role == Role::result) {
            result = " -> " + kind_text(argument.host);
            continue;
        }
        if (text.size() > 1) text += ", ";
        if (argument.host.role == Role::out) text += "out ";
        if (argument.host.role == Role::inout) text += "inout ";
        text += argument.host.name + ": " + kind_text(argument.host);
    }
    return text + ")" + result + ", rank " + std::to_string(call.rank);
}

/// How many overloads use each kernel.
std::map<std::int64_t, int> uses(const KernelSet& kernels) {
    std::map<std::int64_t, int> counts;
    for (const auto& calls : kernels.calls) {
        for (const CallKernels& call : calls) {
            for (const manifest::Pass& pass : {call.forward, call.backward}) {
                ++counts[pass.contiguous];
                ++counts[pass.strided];
            }
        }
    }
    return counts;
}

}  // namespace

std::string listing(const Plan& plan, const KernelSet& kernels) {
    const std::map<std::int64_t, int> counts = uses(kernels);
    std::string text;
    const auto add_kernel = [&](std::int64_t index) {
        if (index < 0) return;
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
            const CallKernels& call = kernels.calls[f][c];
            for (const manifest::Pass& pass : {call.forward, call.backward}) {
                add_kernel(pass.contiguous);
                add_kernel(pass.strided);
            }
        }
    }
    text += std::to_string(kernels.units.size()) + " kernel(s)\n";
    return text;
}

}  // namespace kf::gen
