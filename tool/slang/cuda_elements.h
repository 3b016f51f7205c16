// Assignments to elements in Slang's CUDA code, which CUDA 13's compilers get wrong.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// The function that name_stored_elements() calls, for kernels' prelude.
inline constexpr std::string_view store_function =
    "template <class T, class U>\n"
    "__device__ __forceinline__ void kf_store(T& element, const U& value) { element = value; }\n";

/// Makes `kf_store(*(&(b)[i]), v);` of `*(&(b)[i]) = v;`, where an element is assigned to as a whole. CUDA
/// 13's compilers copy a struct byte by byte to what a function has returned a reference to, as a buffer's
/// operator[] does, and ptxas gets the bytes of halves wrong that were just converted; not with a name for
/// it.
std::string name_stored_elements(std::string_view code);

}  // namespace kf::gen
