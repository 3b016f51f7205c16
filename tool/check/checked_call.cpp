// Arguments for an overload.
#include "check/checked_call.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/convert.h"
#include "core/kinds/questions.h"

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
      facts_(facts_of(function.module->manifest(), call_)),
      seen_(call_.arguments.size()),
      search_random_(settings.seed) {
    const Arguments arguments = lay_out(manifest_function_, call_, cases().front(), settings.shapes);
    // The order has random numbers of its own, so that a new input leaves all others as they are.
    std::mt19937_64 random(settings.seed);
    discrete_inputs_ = discrete_inputs_of(call_, facts_, arguments, random);
    settings_ = settings_of(discrete_inputs_, random);
    tried_.resize(discrete_inputs_.size());
    in_vain_.resize(discrete_inputs_.size());
}

Trial CheckedCall::make_trial(const Case& chosen, int attempt, const Setting& setting,
                              const std::vector<std::size_t>& watched) {
    const Interval range = range_of(wanted_, attempt);
    ranges_.assign(call_.arguments.size(), range);
    searched_ = false;
    Arguments arguments = lay_out(manifest_function_, call_, chosen, wanted_.shapes);
    fill(arguments, call_, chosen, range.first, range.second, random_);
    given_ = put(arguments, discrete_inputs_, setting);
    Trial trial(function_, call_index_, std::move(arguments), Dims(chosen.shape), random_);
    if (!watched.empty()) trial.watch(watched);
    finite_ = trial.run() || find_numbers(trial, setting);
    return trial;
}

bool CheckedCall::is_number(const Trial& trial, std::size_t leaf) const {
    const Leaf& of = trial.arguments().leaves[leaf];
    return !of.positions.empty() && is_floating(of.scalar) && depends_on_elements(call_.arguments[leaf]);
}

bool CheckedCall::find_numbers(Trial& trial, const Setting& setting) {
    constexpr std::size_t most_in_vain = 8;
    if (given_up_.size() == most_in_vain ||
        std::find(given_up_.begin(), given_up_.end(), setting) != given_up_.end())
        return false;
    std::vector<std::size_t> leaves;
    DomainQuestion question;
    question.outputs = trial.centre().size();
    std::vector<Interval> start;
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
        if (!is_number(trial, i)) continue;
        leaves.push_back(i);
        question.counts.push_back(trial.arguments().leaves[i].positions.size());
        start.push_back(found_.empty() ? ranges_[i] : found_[i]);
    }
    question.finite = [&](const std::vector<std::vector<double>>& values) {
        for (std::size_t k = 0; k < leaves.size(); ++k) {
            const ScalarType scalar = trial.arguments().leaves[leaves[k]].scalar;
            std::vector<double> drawn;
            for (const double value : values[k]) drawn.push_back(drawn_value(scalar, value));
            trial.put(leaves[k], drawn);
        }
        (void)trial.run();
        return static_cast<std::size_t>(std::count_if(trial.centre().begin(), trial.centre().end(),
                                                      [](double value) { return std::isfinite(value); }));
    };
    const std::optional<std::vector<Interval>> found = search_domain(question, start, search_random_);
    if (!found) {
        given_up_.push_back(setting);
        return false;
    }
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        const Interval range = (*found)[k];
        ranges_[leaves[k]] = range;
        elsewhere_ = elsewhere_ || (range != range_of(wanted_, 0) && range != range_of(wanted_, 1));
    }
    found_ = ranges_;
    searched_ = true;
    return true;
}

double CheckedCall::step_factor(std::size_t leaf) const {
    return searched_ ? std::exp2(std::round(std::log2(width(leaf) / 3))) : 1;
}

const Setting& CheckedCall::next_setting() {
    const std::vector<Setting>& from = good_settings_.empty() ? settings_ : good_settings_;
    return from[next_++ % from.size()];
}

void CheckedCall::note_result(const Setting& setting, bool finite, const Trial& trial) {
    for (std::size_t i = 0; finite && i < seen_.size(); ++i) {
        if (!is_number(trial, i) || call_.arguments[i].tangent_of >= 0) continue;
        const Leaf& leaf = trial.arguments().leaves[i];
        for (const std::size_t at : leaf.positions) {
            const double value = get(trial.arguments().items[leaf.item].bytes, leaf.scalar, at);
            const Interval before = seen_[i].value_or(Interval(value, value));
            seen_[i] = {std::min(before.first, value), std::max(before.second, value)};
        }
    }
    for (std::size_t c = 0; c < discrete_inputs_.size(); ++c) {
        (finite ? tried_[c] : in_vain_[c]).insert(given_[c].begin(), given_[c].end());
    }
    const bool known =
        std::find(good_settings_.begin(), good_settings_.end(), setting) != good_settings_.end();
    if (finite && !known) good_settings_.push_back(setting);
}

void CheckedCall::report_tried() {
    for (std::size_t i = 0; elsewhere_ && i < seen_.size(); ++i) {
        if (!seen_[i]) continue;
        const std::string& name = call_.arguments[i].name;
        const auto same = [&](const Searched& one) { return one.name == name; };
        if (std::none_of(report_.searched.begin(), report_.searched.end(), same))
            report_.searched.push_back({name, seen_[i]->first, seen_[i]->second});
    }
    // The report has them already where a call is compared in two ways.
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
        input.status = Status::not_checked;
        input.why_not =
            "the same launch gave other results the second time: its threads race, or go by the order in "
            "which they run";
    }
    return true;
}

bool CheckedCall::changes_results(Trial& trial, std::size_t leaf) {
    std::uniform_real_distribution<double> number(ranges_[leaf].first, ranges_[leaf].second);
    std::vector<double> values(trial.arguments().leaves[leaf].positions.size());
    for (double& value : values) value = number(random_);
    return trial.changes_with(leaf, values);
}

Status CheckedCall::settled_status(const InputReport& input, std::size_t leaf) const {
    const Status status = status_of(input);
    return status == Status::not_exercised && facts_[leaf].unused ? Status::unused : status;
}

}  // namespace kf::check
