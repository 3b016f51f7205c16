// What CUDA can't do with textures, in Slang's errors.
#pragma once

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// The errors of a kernel for CUDA, with those of kf_textures.slang as "cuda-texture". Their places are those
/// of the calls in users' modules.
[[nodiscard]] Diagnostics with_texture_errors(Diagnostics errors);

}  // namespace kf::gen
