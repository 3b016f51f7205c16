// The functions of a device header, and the Slang kernel whose CUDA code holds them.
#pragma once

#include <string>
#include <vector>

#include "emit/device_types.h"
#include "plan/plan.h"

namespace kf::gen {

/// An argument that Slang's code is given in one place of its parameter list.
struct DevicePassed {
    std::string way;         ///< "in", "out", "inout" or "buffer"
    std::string expression;  ///< in the C++ function: "ray.pos"
    std::string type;        ///< in Slang: "float3"
};

/// A function of the header itself, or which derivative of one: "raytrace_bwd", "raytrace_fwd".
enum class DevicePart { function, backward, forward };

/// A function of the header, or the derivative of one.
struct DeviceFunction {
    const PlannedFunction* function = nullptr;
    const PlannedCall* call = nullptr;  ///< any of the overloads that call it
    DevicePart part = DevicePart::function;
    std::string name;                     ///< in C++: "raytrace_bwd"
    std::string result = "void";          ///< its type in C++
    std::vector<std::string> parameters;  ///< in C++: "const Ray& ray"
    std::vector<DevicePassed> passed;
    std::string slang_name;               ///< what the kernel calls it: "kf_call_3"
    std::vector<std::string> statements;  ///< of the function there
};

/// Returns the functions of the plan in its order, each followed by its derivatives. Overloads that differ in
/// what hosts pass are one function. Errors: "device-header", for each that can't be one.
Outcome<std::vector<DeviceFunction>> device_functions(const Plan& plan);

/// A kernel that holds `functions` and does nothing: see slang/compiler.h.
Outcome<KernelSource> emit_device_kernel(const Plan& plan, const std::vector<DeviceFunction>& functions);

}  // namespace kf::gen
