// Says why a spec makes as many kernels as it does.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/collect.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// How many kernels to compile are worth a word before.
inline constexpr std::size_t many_kernels = 200;

/// A few lines for `missing` kernels that are to be compiled: how many they are, and what multiplies to most
/// of them. Empty where they are few.
[[nodiscard]] std::string size_note(const Spec& spec, const Plan& plan, const KernelSet& kernels,
                                    std::size_t missing);

}  // namespace kf::gen
