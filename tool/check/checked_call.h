// One overload under comparison: what gradients and forward derivatives are both compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "check/comparison.h"
#include "check/discrete_inputs.h"
#include "check/domain.h"
#include "check/trial.h"
#include "core/module_state.h"

namespace kf::check {

/// `function`, `settings` and `report` must outlive it.
class CheckedCall {
protected:
    CheckedCall(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                CallReport& report);

    [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
    /// Returns the call with random arguments and a setting's values, after its forward pass. Numbers come
    /// from a range that depends on the attempt, or, if results aren't finite there, from where a search
    /// finds that they are. Outputs are those whose gradients flow in, or `watched` if there are any.
    Trial make_trial(const Case& chosen, int attempt, const Setting& setting,
                     const std::vector<std::size_t>& watched = {});
    /// Whether the last trial's results were finite.
    [[nodiscard]] bool is_finite() const { return finite_; }
    /// Returns how wide the range is that the last trial's numbers of a leaf come from.
    [[nodiscard]] double width(std::size_t leaf) const { return ranges_[leaf].second - ranges_[leaf].first; }
    /// Returns the factor from usual steps to those that fit the last trial's range of a leaf: a power of 2.
    [[nodiscard]] double step_factor(std::size_t leaf) const;
    /// The settings, in random order; one, an empty one, where there is no choice. Later cases have them in
    /// turn, where they gave results.
    [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
    const Setting& next_setting();
    /// Records how the last trial ended.
    void note_result(const Setting& setting, bool finite, const Trial& trial);
    /// Writes the values that all trials gave into the report.
    void report_tried();
    /// Whether a launch gives other results each time, which nothing can be compared with. Says so of the
    /// report's inputs then.
    bool is_racing(Trial& trial);
    /// Whether other numbers in an input change results.
    bool changes_results(Trial& trial, std::size_t leaf);

    /// Returns the status that the comparisons and the compiled code together give the input.
    [[nodiscard]] Status settled_status(const InputReport& input, std::size_t leaf) const;

    const manifest::Call& call_;
    const Settings& wanted_;
    CallReport& report_;
    Precision precision_;
    std::mt19937_64 random_;

private:
    /// Whether it found numbers with which the trial's results are finite, and gave it these.
    bool find_numbers(Trial& trial, const Setting& setting);
    [[nodiscard]] bool is_number(const Trial& trial, std::size_t leaf) const;

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
    bool finite_ = false;
    std::vector<Interval> ranges_;               ///< of the last trial's leaves
    bool searched_ = false;                      ///< these are not what was asked for
    std::vector<Interval> found_;                ///< by the last search that found some; empty: none has
    bool elsewhere_ = false;                     ///< some search found others than those of the attempts
    std::vector<Setting> given_up_;              ///< settings for which a search found nothing
    std::vector<std::optional<Interval>> seen_;  ///< of each leaf, the numbers that gave results
    std::mt19937_64 search_random_;              ///< its own, so that other numbers stay as they are
};

}  // namespace kf::check
