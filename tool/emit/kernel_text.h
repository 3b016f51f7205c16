// Words that kernels are made of.
#pragma once

#include <string>
#include <vector>

#include "core/manifest.h"
#include "emit/kernel.h"
#include "plan/plan.h"

namespace kf::gen {

/// "scale_float_3_forward" of "scale<float, 3>.forward".
std::string identifier(const std::string& name);

/// The type of a type's derivatives: "Ray.Differential", "float3".
std::string differential_name(const Type& type);

/// ".backward": the part of a kernel's name that says what it does.
std::string pass_name(const PlannedCall& call, PassKind pass);

/// The operands of a kernel's calls of the function and its derivative.
struct CallOperands {
    const std::string& result;               ///< "arg_return = ", or nothing
    const std::vector<std::string>& passed;  ///< to the derivative; to the function in forward passes
    const std::vector<std::string>& primal;  ///< to the function in fused ones
};

/// The call of the function, of its derivative, or both.
std::vector<std::string> call_statements(const PlannedCall& call, PassKind pass,
                                         const CallOperands& operands);

/// The facts that decide which modules a kernel needs.
struct Needs {
    bool exact = false;     ///< its sums are
    bool gathers = false;   ///< it keeps sums of gathers
    bool quads = false;     ///< it moves small scalars in fours
    bool integers = false;  ///< it sums some
    bool textures = false;  ///< it takes some in CUDA, whose types are the library's
};

/// The modules that a kernel of the call needs beside `kf_kernel`.
std::vector<std::string> imports_of(const Plan& plan, const PlannedCall& call, const Needs& needs);

/// A value of the block, where small types are wide, as the type that it has.
std::string narrowed(const std::string& value, ScalarType scalar, const std::string& type);

}  // namespace kf::gen
