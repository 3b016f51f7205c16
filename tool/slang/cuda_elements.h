// Assignments to elements in Slang's CUDA code, which CUDA 13's compilers get wrong.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// Makes `kf_store(*(&(b)[i]), v);` of `*(&(b)[i]) = v;`, where an element is assigned to as a whole. CUDA
/// 13's compilers copy a struct byte by byte to what a function has returned a reference to, as a buffer's
/// operator[] does, and ptxas gets the bytes of halves wrong that were just converted; not with a name for
/// it.
std::string name_stored_elements(std::string_view code);

}  // namespace kf::gen
