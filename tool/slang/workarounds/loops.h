// A way round Slang's wrong gradients of nested loops and of `while`, in the text of modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slang/insertions.h"
#include "slang/tokens.h"

namespace kf::gen {

/// Slang's reverse mode (2026.5 to 2026.16, which is the newest; docs/decisions/0034)
/// - keeps what loops compute in arrays with one dimension a loop, whose extents are in the opposite order of
///   its indices (shader-slang/slang#13000): an inner loop's count must fit the outer one's [MaxIters], and
///   the other way round;
/// - loses the last iteration of a `while (condition)` that is left by break or return, and crashes where it
///   has a continue, or holds another loop.
struct LoopChanges {
    std::string text;       ///< as long as the text of the tokens: what is replaced in place
    Insertions insertions;  ///< into it
};

/// Gives each loop of a nest the largest [MaxIters] among the loops around it and within it, and makes
/// `for (; condition;)` of `while (condition)`. A loop in a macro's definition or arguments stays as it is.
[[nodiscard]] LoopChanges keep_loop_gradients(std::string_view text, const Tokens& tokens);

/// A loop that runs more often than its [MaxIters] says.
struct ExcessiveLoop {
    std::size_t offset = 0;  ///< of its keyword
    std::int64_t iterations = 0;
    std::int64_t limit = 0;
};

/// Those whose bounds and limit are numbers, or constants that the text itself gives numbers.
[[nodiscard]] std::vector<ExcessiveLoop> excessive_loops(std::string_view text, const Tokens& tokens);

/// A loop of a differentiable function whose own [MaxIters] may be less than its iterations, as far as the
/// text shows. All offsets are the text's; ends are behind the last character.
struct LimitedLoop {
    std::size_t begin = 0;  ///< its first attribute
    std::size_t keyword = 0;
    std::size_t body = 0;
    std::size_t body_end = 0;
    std::size_t end = 0;
    std::string function;    ///< the one that it is in; empty where that has no name
    std::string limit;       ///< as written
    std::string iterations;  ///< an expression: how many Slang is asked to keep, which is at least the limit

    bool operator==(const LimitedLoop&) const = default;
};

/// In the order of their keywords. A loop in a macro's definition or arguments isn't among them.
[[nodiscard]] std::vector<LimitedLoop> limited_loops(std::string_view text, const Tokens& tokens);

}  // namespace kf::gen
