// A way round Slang's wrong gradients of arrays that are stored to in parts, in the text of modules.
#pragma once

#include "slang/insertions.h"
#include "slang/tokens.h"
#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Slang's reverse mode mixes up a store to an array's element, `a[0] = v`, and one to a part of another,
/// `a[1].x = s`: it loses gradients, makes invalid SPIR-V or crashes.
extern const Workaround stored_parts;

/// Returns what to put into the text of these tokens, by offset, so that in differentiable functions that
/// store to an array of theirs both ways, `a[1] = a[1];` stands before each statement that stores to a part,
/// and behind it. Slang is right about the fields of structs that are arrays. An index that calls something
/// or is changed by the statement stays as it is, and so does what a macro writes.
[[nodiscard]] Insertions keep_part_gradients(const Tokens& tokens);

}  // namespace kf::gen
