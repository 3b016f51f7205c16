// What Python's callers name arguments by.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace kf::gen {

/// The names of the parameters, and of every item: "ray.origin" where the ray is given field by field.
struct ArgumentNames {
    std::vector<std::string> parameters;
    std::vector<std::string> items;
};

ArgumentNames argument_names(const PlannedCall& call);

}  // namespace kf::gen
