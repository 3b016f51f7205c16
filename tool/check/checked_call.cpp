// Arguments for an overload.
#include "check/checked_call.h"

#include <utility>

namespace kf::check {

CheckedCall::CheckedCall(const detail::FunctionRef& function, std::size_t call, const Settings& settings,
                         CallReport& report)
    : call_(function.module->manifest().functions[function.function].calls[call]),
      settings_(settings),
      report_(report),
      precision_(precision_of_call(call_)),
      random_(settings.seed * 1'000'003 + function.function * 1009 + call),
      function_(function),
      manifest_function_(function.module->manifest().functions[function.function]),
      call_index_(call) {}

std::vector<Case> CheckedCall::cases() const { return cases_of(manifest_function_, call_, settings_.shapes); }

Trial CheckedCall::make_trial(const Case& chosen, int attempt) {
    const auto [low, high] = range_of(settings_, attempt);
    Arguments arguments = lay_out(manifest_function_, call_, chosen, settings_.shapes);
    fill(arguments, call_, chosen, low, high, random_);
    return {function_, call_index_, std::move(arguments), Dims(chosen.shape), random_};
}

}  // namespace kf::check
