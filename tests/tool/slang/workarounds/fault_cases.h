// A small module for each of Slang's faults, whose derivative shows it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "slang/workarounds/workaround.h"

namespace kf::gen {

struct FaultCase {
    const Workaround* workaround = nullptr;
    std::string_view name;
    /// Has `float measured(float x, int i, int j)`, which is called with 1, 1 and 1, or a `float f(float x)`,
    /// whose derivative at 1 is measured.
    std::string_view module;
    std::string_view right;          ///< what is measured, to three digits, or "refused"
    std::string_view imported = {};  ///< a module that the first one imports as `other`
};

/// Each workaround has one or more. A release has the fault if any of them isn't right without the
/// workaround.
[[nodiscard]] std::span<const FaultCase> fault_cases();

}  // namespace kf::gen
