// The constants that a kernel writes to memory; needs no Slang.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kf::gen {

/// Returns what the SPIR-V module stores at addresses, in its order: the bits of a number or a bool, and
/// nothing for what isn't known without running it. Empty where `code` is no SPIR-V.
[[nodiscard]] std::vector<std::optional<std::uint64_t>> stored_constants(std::string_view code);

}  // namespace kf::gen
