// Halves the loops until those are left that change a result.
#include "check/loop_limits.h"

#include <algorithm>
#include <cmath>

#include "check/kernel_code.h"
#include "core/module_state.h"

namespace kf::check {

LoopLimits::LoopLimits(const LimitedLoops& loops, std::function<Module(const std::vector<std::byte>&)> load)
    : loops_(loops), load_(std::move(load)) {}

const Module* LoopLimits::module(const Range& loops, const std::string& function) {
    // Every call is compared where `loops` are all of them.
    const bool all = loops == Range{0, loops_.loops.size()};
    const std::pair key{all ? "" : function, loops};
    auto known = modules_.find(key);
    if (known == modules_.end()) {
        const std::vector<std::byte> artifact = loops_.artifact(loops.first, loops.second, key.first);
        known = modules_.emplace(key, std::nullopt).first;
        if (!artifact.empty()) known->second = load_(artifact);
    }
    return known->second ? &*known->second : nullptr;
}

std::optional<std::vector<double>> LoopLimits::other_outputs(const Compared& compared, const Range& loops) {
    const Module* other = module(loops, compared.function);
    if (other == nullptr) return std::nullopt;
    Trial ended = compared.trial.in(*other);
    (void)ended.run();
    for (std::size_t i = 0; i < compared.expected.size(); ++i) {
        const double off = std::abs(ended.centre()[i] - compared.expected[i]);
        // The negation counts NaN as another value, too.
        if (!(off <= compared.trial.rounding(i, compared.epsilon))) return ended.centre();
    }
    return std::nullopt;
}

void LoopLimits::find(const Compared& compared, const Range& loops, std::vector<Range>& found) {
    if (!other_outputs(compared, loops)) return;
    const auto [begin, end] = loops;
    const std::size_t before = found.size();
    if (end - begin > 1) {
        const std::size_t middle = begin + (end - begin) / 2;
        find(compared, {begin, middle}, found);
        find(compared, {middle, end}, found);
    }
    if (found.size() == before) found.push_back(loops);
}

void LoopLimits::compare(const Trial& trial, const Precision& precision, CallReport& report) {
    const Range all{0, loops_.loops.size()};
    const manifest::Manifest& manifest = trial.function().module->manifest();
    const std::string& name = manifest.functions[trial.function().function].name;
    const Module* ended = module(all, name);
    if (ended == nullptr) return;
    if (!has_other_code(manifest, ended->state()->manifest(), trial.function().function, trial.call()))
        return;
    Compared compared{trial, name, precision.epsilon, trial.centre()};
    if (!other_outputs(compared, all)) return;
    // Compilers may round otherwise where iterations are counted: compared is what is counted and goes on.
    if (auto counted = other_outputs(compared, {0, 0})) compared.expected = std::move(*counted);
    std::vector<Range> found;
    find(compared, all, found);
    for (const auto& [begin, end] : found) {
        std::vector<PastLimit> named(loops_.loops.begin() + static_cast<std::ptrdiff_t>(begin),
                                     loops_.loops.begin() + static_cast<std::ptrdiff_t>(end));
        auto& past = report.past_limits;
        if (std::find(past.begin(), past.end(), named) == past.end()) past.push_back(std::move(named));
    }
}

}  // namespace kf::check
