// Extrapolates from three steps, and judges as for differences of a whole function.
#include "check/own_derivatives.h"

#include <kf/error.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "check/checked_call.h"
#include "core/bind_error.h"
#include "core/convert.h"
#include "core/module_state.h"

namespace kf::check {
namespace {

class OwnDerivatives : CheckedCall {
public:
    OwnDerivatives(const detail::FunctionRef& function, const DifferenceModules& differences,
                   std::size_t call, const Settings& settings, LoopLimits* limits, CallReport& report)
        : CheckedCall(function, call, settings, report),
          limits_(limits),
          differences_(differences),
          function_index_(function.function),
          call_number_(call),
          first_(report.inputs.size()) {
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            const manifest::Argument& argument = call_.arguments[i];
            const bool floating = passes_elements(argument) && is_floating(argument.element.scalar);
            if (!floating || !writes_elements(argument)) continue;
            outputs_.push_back(i);
            report.inputs.emplace_back().name = argument.name + ", by its own bwd_diff";
        }
    }

    void run() {
        const Case whole = cases().front();
        for (std::size_t k = 0; k < std::max<std::size_t>(2, settings().size()); ++k) {
            const Setting& setting = settings()[k % settings().size()];
            for (int again = 0; again < most_tries - 1; ++again) {
                if (compare(whole, static_cast<int>(k) + again, setting)) break;
            }
        }
        report_tried();
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            report_.inputs[first_ + i].status = status_of(report_.inputs[first_ + i]);
        }
    }

private:
    /// Whether all outputs could be compared.
    bool compare(const Case& whole, int attempt, const Setting& setting) {
        Trial trial = make_trial(whole, attempt, setting, outputs_);
        bool finite = is_finite();
        if (finite && limits_ != nullptr) limits_->compare(trial, precision_, report_);
        std::array<std::vector<double>, 3> found;
        for (std::size_t s = 0; s < found.size() && finite; ++s) {
            Trial other({differences_[s].state(), function_index_}, call_number_, trial.arguments(),
                        Dims(whole.shape), random_);
            other.watch(outputs_);
            finite = other.run();
            found[s] = other.centre();
        }
        note_result(setting, finite, trial);
        if (!finite) return false;
        double scale = 0;
        for (const double value : found[2]) scale = std::max(scale, std::abs(value));
        bool settled = true;
        for (std::size_t k = 0; k < trial.centre().size(); ++k) {
            const auto [leaf, scalar] = trial.output(k);
            const std::size_t index = static_cast<std::size_t>(
                std::find(outputs_.begin(), outputs_.end(), leaf) - outputs_.begin());
            InputReport& output = report_.inputs[first_ + index];
            const Difference difference = extrapolated({found[0][k], found[1][k], found[2][k]}, scale);
            const double value = trial.centre()[k];
            const Verdict verdict = judge(value, difference, precision_, scale);
            settled = settled && verdict != Verdict::unsure;
            if (value != 0 || difference.slope != 0) output.exercised = true;
            note(output, verdict, value, difference, scale,
                 {place_text(trial.arguments().leaves[leaf], scalar), "whole"});
        }
        return settled;
    }

    /// Returns the difference without its terms of order h².
    [[nodiscard]] Difference extrapolated(const std::array<double, 3>& by_step, double scale) const {
        const double first = (4 * by_step[1] - by_step[0]) / 3;
        const double second = (4 * by_step[2] - by_step[1]) / 3;
        Difference made;
        made.slope = second;
        // The rounding error of values as large as their results.
        made.rounding = 16 * precision_.epsilon / precision_.step * std::max(std::abs(second), scale);
        made.uncertainty = std::abs(first - second) + made.rounding;
        made.size = std::abs(second);
        return made;
    }

    LoopLimits* limits_;
    const DifferenceModules& differences_;
    std::size_t function_index_;
    std::size_t call_number_;
    std::size_t first_;  ///< of the outputs among the report's inputs
    std::vector<std::size_t> outputs_;
};

}  // namespace

void check_own_derivatives(const Module& module, const DifferenceModules& differences, std::size_t function,
                           std::size_t call, const Settings& settings, LoopLimits* limits,
                           CallReport& report) {
    try {
        const detail::FunctionRef ref{module.state(), function};
        OwnDerivatives(ref, differences, call, settings, limits, report).run();
    } catch (const Error& error) {
        report.failure = error.what();
    }
}

}  // namespace kf::check
