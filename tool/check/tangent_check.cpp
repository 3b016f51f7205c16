// Compares forward derivatives with differences: one input after the other gets a random tangent, the others
// none.
#include "check/tangent_check.h"

#include <kf/error.h>

#include <algorithm>
#include <cmath>

#include "check/checked_call.h"
#include "check/trend.h"
#include "core/bind_error.h"
#include "core/convert.h"

namespace kf::check {
namespace {

using manifest::Argument;

bool has_tangent_type(const Argument& argument) {
    return passes_elements(argument) && kf::is_floating(argument.element.scalar);
}

/// An input and the leaf of its tangent, or an output and its.
struct Pair {
    std::size_t primal, tangent;
};

class TangentCheck : CheckedCall {
public:
    TangentCheck(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                 CallReport& report)
        : CheckedCall(function, call, settings, report) {
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            const Argument& tangent = call_.arguments[i];
            if (tangent.tangent_of < 0 || !tangent.differentiable || !has_tangent_type(tangent)) continue;
            const Pair pair{static_cast<std::size_t>(tangent.tangent_of), i};
            const bool goes_in = tangent.role == manifest::Role::in && depends_on_elements(tangent);
            if (goes_in) inputs_.push_back(pair);
            if (writes_elements(tangent)) outputs_.push_back(pair);
        }
        for (const Pair& input : inputs_) {
            InputReport& made = report_.inputs.emplace_back();
            made.name = call_.arguments[input.primal].name;
            trends_.emplace_back(precision_);
        }
    }

    void run() {
        for (const Case& chosen : cases()) {
            const bool first = chosen.layout == Case::Layout::whole;
            const std::size_t count = first ? std::max<std::size_t>(2, settings().size()) : 2;
            for (std::size_t k = 0; k < count; ++k) {
                const Setting& setting = first ? settings()[k % settings().size()] : next_setting();
                const int tries = k + 1 < count && count == 2 ? 1 : most_tries - 1;
                for (int again = 0; again < tries; ++again) {
                    settled_ = true;
                    attempt_case(chosen, static_cast<int>(k) + again, setting);
                    if (races_ || !report_.failure.empty()) return;
                    if (settled_) break;
                }
            }
        }
        report_tried();
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            InputReport& input = report_.inputs[i];
            settle(input, trends_[i], "in all cases");
            input.status = settled_status(input, inputs_[i].primal);
        }
    }

private:
    void attempt_case(const Case& chosen, int attempt, const Setting& setting) {
        std::vector<std::size_t> watched;
        for (const Pair& output : outputs_) watched.push_back(output.primal);
        for (const Pair& output : outputs_) watched.push_back(output.tangent);
        Trial trial = make_trial(chosen, attempt, setting, watched);
        bool finite = true;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            if (!compare(trial, i, case_name(chosen.layout))) finite = false;
        }
        note_result(setting, finite, trial);
        if (const Argument* argument = trial.overrun()) report_.failure = overrun_text(*argument);
    }

    /// Every scalar's tangent is 1 or -1 times the step, which all of them share. False where results are
    /// infinite or NaN.
    bool compare(Trial& trial, std::size_t index, const std::string& how) {
        for (const Pair& other : inputs_) {
            trial.put(other.tangent, std::vector<double>(count(trial, other.tangent), 0));
        }
        std::vector<double> tangent;
        std::vector<Move> moves;
        for (std::size_t s = 0; s < count(trial, inputs_[index].tangent); ++s) {
            tangent.push_back(random_() % 2 == 0 ? 1 : -1);
            moves.push_back({s, tangent.back()});
        }
        trial.put(inputs_[index].tangent, tangent);
        if (!trial.run()) {
            settled_ = false;
            return false;
        }
        races_ = races_ || is_racing(trial);
        if (races_) return true;
        const std::vector<double> found = trial.centre();
        const std::vector<double> magnitudes = trial.magnitudes();
        std::vector<Difference> differences = measure(trial, index, moves, 1, magnitudes);
        const std::size_t outputs = found.size() / 2;
        // No thread has written there: nothing can be said of what was there before.
        std::vector<bool> untouched(outputs);
        for (std::size_t k = 0; k < outputs; ++k)
            untouched[k] = trial.is_untouched(k) && trial.is_untouched(outputs + k);
        double scale = 0;
        for (std::size_t k = 0; k < outputs; ++k) {
            scale = std::max({scale, std::abs(found[outputs + k]), differences[k].size});
        }
        InputReport& input = report_.inputs[index];
        std::vector<Difference> again;
        for (std::size_t k = 0; k < outputs; ++k) {
            if (untouched[k]) continue;
            const double derivative = found[outputs + k];
            Difference difference = differences[k];
            Verdict verdict = judge(derivative, difference, precision_, scale);
            if (verdict == Verdict::wrong) {
                if (again.empty()) again = measure(trial, index, moves, 0.75, magnitudes);
                difference = again[k];
                verdict = judge(derivative, difference, precision_, scale);
            }
            note(input, verdict, derivative, difference, scale, {place(trial, k), how});
            if (verdict == Verdict::right) trends_[index].add(derivative, difference, scale);
            settled_ = settled_ && verdict != Verdict::unsure;
            if (std::abs(derivative) > difference.residue || difference.size > 0) input.exercised = true;
        }
        // The tangents of results have not changed where the results have not.
        if (!input.exercised && !input.steps) {
            input.steps = changes_results(trial, inputs_[index].primal);
        }
        return true;
    }

    std::vector<Difference> measure(Trial& trial, std::size_t index, const std::vector<Move>& moves,
                                    double factor, const std::vector<double>& magnitudes) const {
        const std::size_t leaf = inputs_[index].primal;
        const Stencil stencil = trial.stencil(leaf, moves, precision_.step * step_factor(leaf) * factor);
        std::vector<Difference> differences;
        for (std::size_t k = 0; k < magnitudes.size() / 2; ++k) {
            std::vector<double> weights(magnitudes.size(), 0);
            weights[k] = 1;
            differences.push_back(differentiate(stencil, weights, magnitudes, precision_.epsilon));
        }
        return differences;
    }

    [[nodiscard]] static std::size_t count(const Trial& trial, std::size_t leaf) {
        return trial.arguments().leaves[leaf].positions.size();
    }

    [[nodiscard]] std::string place(const Trial& trial, std::size_t scalar) const {
        for (const Pair& output : outputs_) {
            const Leaf& leaf = trial.arguments().leaves[output.primal];
            if (scalar < leaf.positions.size()) {
                const std::string name = "'" + call_.arguments[output.primal].name + "'";
                return leaf.extents.empty() ? name : place_text(leaf, scalar) + " of " + name;
            }
            scalar -= leaf.positions.size();
        }
        return {};
    }

    std::vector<Pair> inputs_, outputs_;
    std::vector<Trend> trends_;  ///< of each of inputs_
    bool races_ = false;         ///< results depend on more than the arguments
    bool settled_ = false;       ///< the last try could be compared everywhere
};

}  // namespace

void check_tangents(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                    CallReport& report) {
    try {
        TangentCheck(function, call, settings, report).run();
    } catch (const Error& error) {
        report.failure = error.what();
    }
}

}  // namespace kf::check
