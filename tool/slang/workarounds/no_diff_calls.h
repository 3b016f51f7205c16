// A way round Slang's no_diff, which keeps no gradient from a call that is differentiable.
#pragma once

#include <string_view>

#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Detaches what a call that is marked no_diff gives: `own(no_diff(f(x)))`. Left as they are: a call that is
/// a statement, what is assigned to, and no_diff without parentheses within a macro or its arguments.
extern const Workaround no_diff_calls;

/// Tells whether a statement of the text may begin with no_diff, of which Slang's code keeps nothing where
/// the call gives no value.
[[nodiscard]] bool has_no_diff_statements(std::string_view text);

/// Tells whether a function of this name is one that the workaround adds: it detaches its argument.
[[nodiscard]] bool is_detached_value(std::string_view function);

}  // namespace kf::gen
