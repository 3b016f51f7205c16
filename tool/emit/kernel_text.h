// Words that kernels are made of.
#pragma once

#include <string>

#include "core/manifest.h"
#include "slang/module.h"

namespace kf::gen {

/// "scale_float_3_forward" of "scale<float, 3>.forward".
std::string identifier(const std::string& name);

/// The type of a type's derivatives: "Ray.Differential", "float3".
std::string differential_name(const Type& type);

/// A value of the block, where small types are wide, as the type that it has.
std::string narrowed(const std::string& value, manifest::Scalar scalar, const std::string& type);

}  // namespace kf::gen
