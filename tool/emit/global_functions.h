// How kernels set the global parameters of modules, or return those that are properties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emit/render.h"
#include "plan/plan.h"
#include "slang/compiler.h"

namespace kf::gen {

/// One leaf of a global that is a property.
struct PropertyLeaf {
    std::int64_t argument = 0;  ///< its number among the call's
    std::string path;           ///< in the global: ".bark"; empty: it is all of it
    std::string type;
    std::string resource;  ///< of a buffer
    std::string name;      ///< the variable that kernels keep it in; of a buffer in CUDA its bits
};
[[nodiscard]] std::vector<PropertyLeaf> property_leaves(const PlannedCall& call,
                                                        const PlannedParameter& parameter, CodeTarget target);

/// The functions that set the call's globals, and those that return its properties, for the template.
[[nodiscard]] View::List globals_view(const PlannedCall& call, CodeTarget target);

}  // namespace kf::gen
