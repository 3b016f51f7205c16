// One overload under comparison: what gradients and forward derivatives are both compared with.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "check/comparison.h"
#include "check/trial.h"
#include "core/module_state.h"

namespace kf::check {

/// `function`, `settings` and `report` must outlive it.
class CheckedCall {
protected:
    CheckedCall(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                CallReport& report);

    [[nodiscard]] std::vector<Case> cases() const;
    /// The call with random arguments, from a range that depends on the attempt.
    Trial make_trial(const Case& chosen, int attempt);

    const manifest::Call& call_;
    const Settings& settings_;
    CallReport& report_;
    Precision precision_;
    std::mt19937_64 random_;

private:
    const detail::FunctionRef& function_;
    const manifest::Function& manifest_function_;
    std::size_t call_index_;
};

}  // namespace kf::check
