// Counts the kernels of each function.
#include "run/size_note.h"

#include <algorithm>
#include <set>
#include <vector>

namespace kf::gen {

namespace {

struct Share {
    const PlannedFunction* function = nullptr;
    std::set<std::int64_t> kernels;
};

/// "x 4, y 6": how many kinds each argument has, the most first.
std::string kinds_text(const Spec& spec, const PlannedFunction& function) {
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (const CallSpec& call : spec.calls) {
        if (std::none_of(function.calls.begin(), function.calls.end(),
                         [&](const PlannedCall& planned) { return planned.location == call.location; }))
            continue;
        for (const ArgumentSpec& argument : call.arguments) {
            if (argument.alternatives.size() > 1)
                counts.emplace_back(argument.name, argument.alternatives.size());
        }
    }
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [name, count] : counts)
        text += (text.empty() ? "" : " x ") + std::to_string(count) + " kinds of '" + name + "'";
    return text;
}

}  // namespace

std::string size_note(const Spec& spec, const Plan& plan, const KernelSet& kernels, std::size_t missing) {
    if (missing < many_kernels) return {};
    std::vector<Share> shares;
    for (std::size_t index = 0; index < plan.functions.size(); ++index) {
        Share& share = shares.emplace_back();
        share.function = &plan.functions[index];
        for (const CallKernels& call : kernels.calls.at(index)) {
            const std::vector<std::int64_t> numbers = call.kernels();
            share.kernels.insert(numbers.begin(), numbers.end());
        }
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const Share& a, const Share& b) { return a.kernels.size() > b.kernels.size(); });
    constexpr std::size_t most = 3;
    if (shares.size() > most) shares.resize(most);
    std::string text = spec.name + " makes " + std::to_string(kernels.units.size()) + " kernels; " +
                       std::to_string(missing) + " are to be compiled. The most are of:\n";
    for (const Share& share : shares) {
        const std::size_t overloads = std::max<std::size_t>(share.function->calls.size(), 1);
        text += "  '" + share.function->name + "': " + std::to_string(share.kernels.size()) +
                " kernels, of " + std::to_string(overloads) + (overloads == 1 ? " overload" : " overloads");
        const std::string kinds = kinds_text(spec, *share.function);
        text += (kinds.empty() ? "" : ": " + kinds) + '\n';
    }
    return text;
}

}  // namespace kf::gen
