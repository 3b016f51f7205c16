// A way round Slang's wrong gradients of what calls write, in the text of modules.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "slang/tokens.h"

namespace kf::gen {

/// Slang's reverse mode (2026.12, and its head in August 2026; docs/decisions/0032)
/// - stores, instead of adding up, what flows back into a variable that a call has written, from the last of
///   the blocks that read it: where that block is in a loop, all iterations' gradients but one are lost, and
///   where a condition skips it, the gradient of an earlier iteration stays;
/// - lets the gradient of an `inout` parameter that ends as a constant flow on into its first value.
///
/// Gives what to put into the text of these tokens, by offset, so that in differentiable functions
/// `p = own(p, 1);` follows a statement that writes p, a part of it, or its object by a call, and precedes
/// the end of functions that assign to their inout parameters. A call's result is a value as any other.
[[nodiscard]] std::map<std::size_t, std::string> keep_written_gradients(std::string_view text,
                                                                        const Tokens& tokens);

/// Whether a function of this name is one that keep_written_gradients() adds: it gives its argument back.
[[nodiscard]] bool is_copy_of_written_value(std::string_view function);

}  // namespace kf::gen
