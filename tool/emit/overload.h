// How commands print one overload of a function.
#pragma once

#include <string>

#include "core/manifest.h"
#include "plan/plan.h"

namespace kf::gen {

/// "(a: value<float>, out x: tensor<float>[2]) -> tensor<Ray>[1], rank 2": kinds as a spec spells them.
std::string overload_text(const manifest::Call& call);
std::string overload_text(const PlannedCall& call);

/// "tensor<float>[2]": one parameter's kind.
std::string kind_text(const manifest::Call& call, const manifest::ParameterTree& parameter);

}  // namespace kf::gen
