// The list of all ways round Slang's faults.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Returns them in the order in which they change a text; docs/slang_faults.md describes each.
[[nodiscard]] std::span<const Workaround* const> workarounds();

/// Some of them, in the same order.
using Workarounds = std::vector<const Workaround*>;

/// Returns those for the faults that a release has.
[[nodiscard]] Workarounds needed_workarounds(const std::optional<SlangVersion>& version);

[[nodiscard]] bool contains(const Workarounds& some, const Workaround& workaround);

}  // namespace kf::gen
