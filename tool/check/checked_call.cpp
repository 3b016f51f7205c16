// Arguments for an overload.
#include "check/checked_call.h"

#include <algorithm>
#include <utility>

namespace kf::check {

CheckedCall::CheckedCall(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                         CallReport& report)
    : call_(function.module->manifest().functions[function.function].calls[call]),
      wanted_(settings),
      report_(report),
      precision_(precision_of_call(call_)),
      random_(settings.seed * 1'000'003 + function.function * 1009 + call),
      function_(function),
      manifest_function_(function.module->manifest().functions[function.function]),
      call_index_(call),
      cases_(cases_of(manifest_function_, call_, settings.shapes,
                      group_size(function.module->manifest(), call_))),
      facts_(facts_of(function.module->manifest(), call_)) {
    const Arguments arguments = lay_out(manifest_function_, call_, cases().front(), settings.shapes);
    // The order has random numbers of its own, so that a new input leaves all others as they are.
    std::mt19937_64 random(settings.seed);
    discrete_inputs_ = discrete_inputs_of(call_, facts_, arguments, random);
    settings_ = settings_of(discrete_inputs_, random);
    tried_.resize(discrete_inputs_.size());
    in_vain_.resize(discrete_inputs_.size());
}

Trial CheckedCall::make_trial(const Case& chosen, int attempt, const Setting& setting) {
    const auto [low, high] = range_of(wanted_, attempt);
    Arguments arguments = lay_out(manifest_function_, call_, chosen, wanted_.shapes);
    fill(arguments, call_, chosen, low, high, random_);
    given_ = put(arguments, discrete_inputs_, setting);
    return {function_, call_index_, std::move(arguments), Dims(chosen.shape), random_};
}

const Setting& CheckedCall::next_setting() {
    const std::vector<Setting>& from = good_settings_.empty() ? settings_ : good_settings_;
    return from[next_++ % from.size()];
}

void CheckedCall::note_result(const Setting& setting, bool finite) {
    for (std::size_t c = 0; c < discrete_inputs_.size(); ++c) {
        (finite ? tried_[c] : in_vain_[c]).insert(given_[c].begin(), given_[c].end());
    }
    const bool known =
        std::find(good_settings_.begin(), good_settings_.end(), setting) != good_settings_.end();
    if (finite && !known) good_settings_.push_back(setting);
}

void CheckedCall::report_tried() {
    // The same ones, where a call is compared in two ways.
    if (!report_.tried.empty()) return;
    for (std::size_t c = 0; c < discrete_inputs_.size(); ++c) {
        const manifest::Argument& argument = call_.arguments[discrete_inputs_[c].leaf];
        Tried& tried = report_.tried.emplace_back();
        tried.name = argument.name;
        // An enum's values come in the order of its members.
        for (const std::int64_t value : discrete_inputs_[c].values) {
            const bool gave_results = tried_[c].contains(value);
            if (!gave_results && !in_vain_[c].contains(value)) continue;
            (gave_results ? tried.values : tried.not_finite).push_back(value_text(argument, value));
        }
        for (const std::int64_t value : discrete_inputs_[c].not_given) {
            tried.not_given.push_back(value_text(argument, value));
        }
    }
}

bool CheckedCall::is_racing(Trial& trial) {
    if (call_.dispatch == manifest::Dispatch::elements || trial.is_repeatable(precision_.epsilon))
        return false;
    for (InputReport& input : report_.inputs) {
        if (!input.why_not.empty()) continue;
        input.status = Status::no_gradient;
        input.why_not =
            "not checked: the same launch gave other results the second time: its threads race, or "
            "go by the order in which they run";
    }
    return true;
}

bool CheckedCall::changes_results(Trial& trial, std::size_t leaf, int attempt) {
    const auto [low, high] = range_of(wanted_, attempt);
    std::uniform_real_distribution<double> number(low, high);
    std::vector<double> values(trial.arguments().leaves[leaf].positions.size());
    for (double& value : values) value = number(random_);
    return trial.changes_with(leaf, values);
}

Status CheckedCall::settled_status(const InputReport& input, std::size_t leaf) const {
    const Status status = status_of(input);
    return status == Status::not_exercised && facts_[leaf].unused ? Status::unused : status;
}

}  // namespace kf::check
