// Integers of 8 and 16 bits in Slang's CUDA code, and faults of its prelude.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// Returns Slang's CUDA prelude with functions of numbers that give what they give elsewhere, those that it
/// lacks for 8 and 16 bits, and the types that wrap_small_integers() names.
std::string complete_numbers(std::string prelude);

/// Leaves out `precise`, which CUDA doesn't have; a line at the end then says cuda_exact.
std::string settle_precise(std::string code);

/// Names integers of 8 and 16 bits by types whose operators give the same type, as Slang's do. C++ computes
/// with int, so that `longlong(a * b)` would be what doesn't fit into a char.
std::string wrap_small_integers(std::string_view code);

}  // namespace kf::gen
