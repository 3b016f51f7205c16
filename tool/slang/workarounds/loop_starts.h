// A way round Slang's lost first values of loops that it differentiates, in the text of modules.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "slang/lexed_text.h"
#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang can't differentiate a loop whose counter starts at a value that is computed: it counts anew where it
/// goes backward, and has lost that value. SPIR-V then isn't generated ("Unhandled global inst"), CUDA code
/// names what isn't there, and some loops crash it.
extern const Workaround loop_starts;

/// Returns `text`, a Slang module, where the counters of such loops with [MaxIters] are stepped in a form
/// that Slang doesn't take for counting, and so keeps: `i = -(-(++i))`. Lines stay as they were, and columns
/// but behind the steps. Types are known by their names in this text.
[[nodiscard]] std::string keep_loop_starts(std::string_view text);

/// Whether a loop begins at the lexeme that keep_loop_starts() can't help: what its counter is, isn't known.
[[nodiscard]] bool starts_computed(const LexedText& text, std::size_t index);

/// Says that Slang can't differentiate such a loop of the function.
[[nodiscard]] inline std::string computed_start_message(const std::string& function) {
    return "Slang can't differentiate this loop of '" + function +
           "', which starts at a value that is computed";
}

inline constexpr std::string_view computed_start_cure =
    "start at 0 and add: 'for (int k = 0; k < n - first; ++k) { int i = first + k; … }'";

}  // namespace kf::gen
