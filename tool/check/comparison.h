// Steps that comparing backward passes and forward derivatives have in common.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "check/argument_data.h"
#include "check/differences.h"
#include "check/report.h"
#include "check/settings.h"
#include "core/manifest.h"

namespace kf::check {

/// How often other inputs are tried where a function isn't smooth or finite.
inline constexpr int most_tries = 5;

/// Returns the precision of the least precise of the call's floating arguments.
Precision precision_of_call(const manifest::Call& call);

/// Where floating inputs lie at a try.
std::pair<double, double> range_of(const Settings& settings, int attempt);

/// "[2, 1]".
std::string place_text(const Leaf& leaf, std::size_t scalar);

/// Returns the message for a call that touched memory beside an argument's.
std::string overrun_text(const manifest::Argument& argument);

/// Where a derivative was compared.
struct Where {
    std::string place, how;
};

/// Counts a verdict, and keeps the worst derivative: a wrong one before those that are right, however far
/// off.
void note(InputReport& input, Verdict verdict, double derivative, const Difference& difference, double scale,
          const Where& where);

/// Returns the status of an input once all of its derivatives are counted.
Status status_of(const InputReport& input);

}  // namespace kf::check
