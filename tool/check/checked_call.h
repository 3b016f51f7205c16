// One overload under comparison: what gradients and forward derivatives are both compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "check/comparison.h"
#include "check/discrete_inputs.h"
#include "check/trial.h"
#include "core/module_state.h"

namespace kf::check {

/// `function`, `settings` and `report` must outlive it.
class CheckedCall {
protected:
    CheckedCall(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                CallReport& report);

    [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
    /// The call with random arguments, from a range that depends on the attempt, and a setting's values.
    Trial make_trial(const Case& chosen, int attempt, const Setting& setting);
    /// The settings, in an order of chance; one, an empty one, where there is no choice. Later cases have
    /// them in turn, where they gave results.
    [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
    const Setting& next_setting();
    /// What came of the last trial.
    void note_result(const Setting& setting, bool finite);
    /// What all trials gave as values, into the report.
    void report_tried();
    /// Whether a launch gives other results each time, which nothing can be compared with. Says so of the
    /// report's inputs then.
    bool is_racing(Trial& trial);
    /// Whether other numbers in an input change results.
    bool changes_results(Trial& trial, std::size_t leaf, int attempt);

    /// Returns the status that the comparisons and the compiled code together give the input.
    [[nodiscard]] Status settled_status(const InputReport& input, std::size_t leaf) const;

    const manifest::Call& call_;
    const Settings& wanted_;
    CallReport& report_;
    Precision precision_;
    std::mt19937_64 random_;

private:
    const detail::FunctionRef& function_;
    const manifest::Function& manifest_function_;
    std::size_t call_index_;
    std::vector<Case> cases_;
    std::vector<InputFacts> facts_;
    std::vector<DiscreteInput> discrete_inputs_;
    std::vector<Setting> settings_;
    std::vector<Setting> good_settings_;
    std::size_t next_ = 0;
    std::vector<std::vector<std::int64_t>> given_;         ///< by the last trial, of each input
    std::vector<std::set<std::int64_t>> tried_, in_vain_;  ///< of each input
};

}  // namespace kf::check
