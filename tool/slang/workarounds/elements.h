// A way round Slang's lost gradients of elements that are read by run-time indices, in the text of modules.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "slang/tokens.h"
#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode sums what flows back into an element for each index by itself, and stores these sums
/// one after the other: of `p[i] + p[j]`, or `p[i] * p[0]`, one is lost where both indices are the same at
/// run time.
extern const Workaround elements;

/// Returns what to put into the text of these tokens, by offset, so that in differentiable functions that
/// read a vector, matrix or array of floats by several indices each run-time one reads a value of its own,
/// which came from a call: `own(p, 1)[i] + own(p, 2)[j]`. A name that the function, or of a field the struct
/// that its variable is declared as, also gives to something else stays as it is. Where that struct isn't
/// known, those of the text count.
[[nodiscard]] std::map<std::size_t, std::string> keep_element_gradients(std::string_view text,
                                                                        const Tokens& tokens);

}  // namespace kf::gen
