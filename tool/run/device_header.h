// Makes a device header, and checks that CUDA takes it.
#pragma once

#include <string>

#include "cuda/nvrtc.h"
#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

/// The text of NAME.cuh. Errors: "device-header" for functions that can't be in one, "device-header-code" for
/// those whose code CUDA refuses, and Slang's.
Outcome<std::string> make_device_header(const Plan& plan, Compiler& compiler, const CudaCompiler& cuda);

}  // namespace kf::gen
