// Loops in the text of modules: their limits, and their form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slang/tokens.h"
#include "slang/workarounds/module_text.h"

namespace kf::gen {

/// Gives each loop of a nest the largest [MaxIters] among the loops around it and within it. A loop in a
/// macro's definition or arguments stays as it is, here and below.
void raise_loop_limits(ModuleText& text);

/// Makes `for (; condition;)` of `while (condition)`.
void replace_whiles(ModuleText& text);

/// Puts a static_assert into each loop whose bounds are constants, of which the text doesn't show the
/// numbers: it may not run more often than its [MaxIters] says.
void assert_loop_limits(ModuleText& text);

/// A loop that runs more often than its [MaxIters] says.
struct ExcessiveLoop {
    std::size_t offset = 0;  ///< of its keyword
    std::int64_t iterations = 0;
    std::int64_t limit = 0;
};

/// Those whose bounds and limit are numbers, or constants that the text itself gives numbers.
[[nodiscard]] std::vector<ExcessiveLoop> excessive_loops(std::string_view text, const Tokens& tokens);

/// A loop that may run very often within one call of its function.
struct LongLoop {
    std::size_t offset = 0;       ///< of its keyword
    std::int64_t iterations = 0;  ///< of it and the loops around it, multiplied; twice in a backward pass
    std::string function;         ///< the one that it is in; empty where that has no name
    bool differentiated = false;  ///< Slang makes a backward pass of it

    bool operator==(const LongLoop&) const = default;
};

/// Returns loops with more than `most` iterations in one pass over them, of a nest the outermost one. Counts
/// are as numbers in the text say, or [MaxIters] where only that is one; a loop without either counts as 1.
[[nodiscard]] std::vector<LongLoop> long_loops(std::string_view text, const Tokens& tokens,
                                               std::int64_t most);

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

/// Returns a text's loops with limits by their keywords' order, without those in macros and their arguments.
[[nodiscard]] std::vector<LimitedLoop> limited_loops(std::string_view text, const Tokens& tokens);

}  // namespace kf::gen
