// Compares the gradients of one overload with differences.
#include "check/call_check.h"

#include <kf/error.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "check/checked_call.h"
#include "check/trend.h"
#include "core/bind_error.h"

namespace kf::check {
namespace {

using manifest::Argument;

/// Components checked of each input in the first two tries of the first case; elsewhere half as many.
constexpr std::size_t most_components = 6;

bool has_gradient(const Argument& argument) {
    return detail::is_input(argument) && argument.gradient != manifest::Gradient::never;
}

/// One component or direction of one input: what differences say, and each backward pass.
struct Comparison {
    std::vector<Move> moves;
    std::string place;
    std::pair<Difference, std::optional<Difference>> difference;
};

/// A pass that adds to gradients.
struct Pass {
    detail::PassKind kind;
    bool deterministic;
    const char* name;
};

class CallCheck : CheckedCall {
public:
    CallCheck(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
              LoopLimits* limits, CallReport& report)
        : CheckedCall(function, call, settings, report), limits_(limits) {
        using detail::PassKind;
        if (call_.backward.is_built()) passes_.push_back({PassKind::backward, false, ""});
        if (call_.deterministic.is_built()) passes_.push_back({PassKind::backward, true, "deterministic, "});
        if (call_.fused.is_built()) passes_.push_back({PassKind::fused, false, "fused, "});
        if (call_.fused_deterministic.is_built()) {
            passes_.push_back({PassKind::fused, true, "fused, deterministic, "});
        }
    }

    void run() {
        for (const Case& chosen : cases()) {
            if (chosen.layout == Case::Layout::whole) {
                run_settings(chosen);
            } else {
                for (int attempt = 0; attempt < most_tries && !is_over(); ++attempt) {
                    if (attempt >= 1 && is_finite() && unsure_.empty()) break;
                    attempt_case(chosen, attempt, {next_setting(), most_components / 2, passes_.size()});
                }
            }
            if (is_over()) return;
        }
        settle_all();
    }

private:
    /// How an attempt is made.
    struct Plan {
        const Setting& setting;
        std::size_t components;  ///< of each input
        std::size_t passes;      ///< the first ones
    };

    [[nodiscard]] bool is_over() const { return races_ || !report_.failure.empty(); }

    /// Each setting in turn, from two ranges of numbers where they are few. All passes find gradients by the
    /// same derivatives: of the first settings all are run.
    void run_settings(const Case& chosen) {
        constexpr std::size_t few = 4;
        const std::vector<Setting>& all = settings();
        const std::size_t count = all.size() <= few ? 2 * all.size() : all.size();
        const int tries = all.size() == 1 ? most_tries - 1 : 3;
        for (std::size_t k = 0; k < count; ++k) {
            // Where there is more than one, the second time around comes from the other range.
            const std::size_t start = k + (k >= all.size() && all.size() % 2 == 0 ? 1 : 0);
            const Plan plan{all[k % all.size()], k < 2 ? most_components : most_components / 2,
                            k < 2 ? passes_.size() : std::min<std::size_t>(1, passes_.size())};
            for (int again = 0; again < tries; ++again) {
                if (k + 1 < count && all.size() == 1 && again > 0) break;
                attempt_case(chosen, static_cast<int>(start) + again, plan);
                if (is_over()) return;
                if (is_finite() && unsure_.empty()) break;
            }
        }
    }

    void attempt_case(const Case& chosen, int attempt, const Plan& plan) {
        unsure_.clear();
        Trial trial = make_trial(chosen, attempt, plan.setting);
        note_result(plan.setting, is_finite(), trial);
        if (!is_finite()) return;
        races_ = is_racing(trial);
        if (races_) return;
        if (limits_ != nullptr) {
            limits_->compare(trial, precision_, report_);
        }
        std::map<std::size_t, std::vector<Comparison>> comparisons;
        for (std::size_t p = 0; p < plan.passes; ++p) {
            const Pass& pass = passes_[p];
            trial.run_backward(pass.kind, pass.deterministic);
            if (const Argument* argument = trial.overrun()) {
                report_.failure = overrun_text(*argument);
                return;
            }
            if (pass.kind == detail::PassKind::fused && !gives_the_same(trial, pass)) return;
            std::map<std::size_t, std::vector<double>> gradients;
            for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
                if (has_gradient(call_.arguments[i])) gradients[i] = trial.gradients(i);
            }
            const std::string how = std::string(pass.name) + case_name(chosen.layout);
            for (const auto& [leaf, values] : gradients) {
                if (!comparisons.contains(leaf)) comparisons[leaf] = compare(trial, leaf, plan.components);
                Trend& trend = trends_.try_emplace({leaf, pass.name}, precision_).first->second;
                add_comparison(trial, leaf, values, comparisons[leaf], how, trend);
            }
        }
        for (const auto& [leaf, made] : comparisons) {
            InputReport& input = report_.inputs[leaf];
            if (!input.exercised && !input.steps) input.steps = changes_results(trial, leaf);
        }
    }

    /// A fused pass gives what the call alone does, but for roundings that compilers place elsewhere.
    bool gives_the_same(const Trial& trial, const Pass& pass) {
        const std::vector<double> found = trial.outputs();
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto [leaf, scalar] = trial.output(i);
            if (std::abs(found[i] - trial.centre()[i]) <= trial.rounding(i, precision_.epsilon)) continue;
            report_.failure = std::string(pass.name) + "'" + call_.arguments[leaf].name + "' is " +
                              std::to_string(found[i]) + " at " +
                              place_text(trial.arguments().leaves[leaf], scalar) + ", but " +
                              std::to_string(trial.centre()[i]) + " where the call is made alone";
            return false;
        }
        return true;
    }

    /// Steps are as large as the values are.
    [[nodiscard]] double step_of(const Trial& trial, std::size_t index, std::size_t scalar) const {
        const Leaf& leaf = trial.arguments().leaves[index];
        const ArgumentData& item = trial.arguments().items[leaf.item];
        const double value = std::abs(get(item.bytes, leaf.scalar, leaf.positions[scalar]));
        const double size = std::max(value, std::min(width(index), 4.0) / 4);
        return precision_.step * std::exp2(std::round(std::log2(std::max(size, 1e-30))));
    }

    std::vector<Comparison> compare(Trial& trial, std::size_t index, std::size_t components) {
        const Leaf& leaf = trial.arguments().leaves[index];
        std::vector<std::size_t> chosen(leaf.positions.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
        std::shuffle(chosen.begin(), chosen.end(), random_);
        const bool all = chosen.size() <= components;
        if (!all) chosen.resize(components);
        std::vector<Comparison> made;
        for (const std::size_t scalar : chosen) {
            Comparison& one = made.emplace_back();
            one.moves = {{scalar, step_of(trial, index, scalar)}};
            one.place = place_text(leaf, scalar);
        }
        // A whole tensor's elements may not all be written: its own outputs can't be told apart in a sum.
        const manifest::Argument& argument = call_.arguments[index];
        const bool mixed = has_free_access(argument) && reads_elements(argument) && writes_elements(argument);
        if (!all && !mixed) {
            Comparison& one = made.emplace_back();
            for (std::size_t scalar = 0; scalar < leaf.positions.size(); ++scalar) {
                const double step = step_of(trial, index, scalar);
                one.moves.push_back({scalar, random_() % 2 == 0 ? step : -step});
            }
            one.place = "all, in a random direction";
        }
        for (Comparison& one : made) one.difference = measure(trial, index, one.moves, 1);
        return made;
    }

    std::pair<Difference, std::optional<Difference>> measure(Trial& trial, std::size_t index,
                                                             std::vector<Move> moves, double factor) {
        // The step goes with the first scalar, so that the slope is that along it.
        const double step = std::abs(moves.front().by) * factor;
        const double unit = std::abs(moves.front().by);
        for (Move& move : moves) move.by /= unit;
        return trial.differentiate(index, moves, step, precision_.epsilon);
    }

    void add_comparison(Trial& trial, std::size_t index, const std::vector<double>& gradients,
                        const std::vector<Comparison>& comparisons, const std::string& how, Trend& trend) {
        std::vector<double> along;
        double scale = 0;
        for (const Comparison& one : comparisons) {
            double gradient = 0;
            const double unit = std::abs(one.moves.front().by);
            for (const Move& move : one.moves) gradient += gradients[move.position] * (move.by / unit);
            along.push_back(gradient);
            if (std::isfinite(gradient)) scale = std::max(scale, std::abs(gradient));
            scale = std::max(scale, one.difference.first.size);
        }
        InputReport& input = report_.inputs[index];
        for (std::size_t i = 0; i < comparisons.size(); ++i) {
            const Comparison& one = comparisons[i];
            Difference difference = closest(one.difference, along[i]);
            Verdict verdict = judge(along[i], difference, precision_, scale);
            if (verdict == Verdict::wrong) {
                // Other steps confirm a wrong derivative, or show that the differences were off.
                difference = closest(measure(trial, index, one.moves, 0.75), along[i]);
                verdict = judge(along[i], difference, precision_, scale);
            }
            if (verdict == Verdict::unsure) unsure_.push_back(index);
            if (std::abs(along[i]) > difference.residue || difference.size > 0) input.exercised = true;
            if (verdict == Verdict::right) trend.add(along[i], difference, scale);
            note(input, verdict, along[i], difference, scale, {one.place, how});
        }
    }

    static Difference closest(const std::pair<Difference, std::optional<Difference>>& both, double gradient) {
        if (!both.second) return both.first;
        const bool first = std::abs(gradient - both.first.slope) <= std::abs(gradient - both.second->slope);
        return first ? both.first : *both.second;
    }

    void settle_all() {
        report_tried();
        for (const auto& [key, trend] : trends_) {
            settle(report_.inputs[key.first], trend, key.second + "in all cases");
        }
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            if (!has_gradient(call_.arguments[i])) continue;
            report_.inputs[i].status = settled_status(report_.inputs[i], i);
        }
    }

    LoopLimits* limits_;
    std::vector<Pass> passes_;
    bool races_ = false;  ///< results depend on more than the arguments
    std::map<std::pair<std::size_t, std::string>, Trend> trends_;  ///< of each leaf in each pass
    std::vector<std::size_t> unsure_;  ///< inputs of the last try that couldn't be compared everywhere
};

}  // namespace

void check_call(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                LoopLimits* limits, CallReport& report) {
    try {
        CallCheck(function, call, settings, limits, report).run();
    } catch (const Error& error) {
        report.failure = error.what();
    }
}

}  // namespace kf::check
