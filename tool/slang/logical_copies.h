// Copies between structs that differ only in how they lie in memory, in SPIR-V.
#pragma once

#include <string>

namespace kf::gen {

/// Writes every OpCopyLogical member by member: Mesa's drivers before 23.1 reject those of structs that hold
/// arrays, which Slang's optimiser leaves where kernels keep pointers to buffers in variables. False when
/// `code` is no well-formed SPIR-V (it is then left as it was).
[[nodiscard]] bool expand_logical_copies(std::string& code);

}  // namespace kf::gen
