// NAME.cuh: functions of Slang modules for hand-written CUDA kernels.
#pragma once

#include <string>
#include <vector>

#include "emit/device_functions.h"

namespace kf::gen {

/// `code`: of emit_device_kernel() in CUDA, behind Slang's prelude. Error: "internal-cuda-source" where it
/// doesn't have the form that Slang gives it.
Outcome<std::string> emit_device_header(const Plan& plan, const std::vector<DeviceFunction>& functions,
                                        const std::string& code);

/// "float3 raytrace(const Ray& ray)"
std::string device_declaration(const DeviceFunction& function);

}  // namespace kf::gen
