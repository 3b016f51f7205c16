// Host element types: how each language spells them, and how they lie in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/manifest.h"

namespace kf::gen {

/// Whether generated code has a type for it: a scalar, or a vector of 2 to 4.
bool has_host_type(const manifest::Element& element);

/// "kf::float3", "std::int32_t".
std::string cpp_type(const manifest::Element& element);
/// "float32": NumPy's name of the scalar.
std::string numpy_name(manifest::Scalar scalar);

/// Bytes of one element on the host.
std::int64_t element_size(const manifest::Element& element);

/// Lines that say of every argument of a call what it is: "- x: in, float tensor [d0, 3], differentiable".
/// `names` are the arguments' names in the language at hand. Dimensions of the call are d0, d1 …
std::vector<std::string> describe_arguments(const std::vector<manifest::Argument>& arguments,
                                            const std::vector<std::string>& names);
/// "One call." or "Call shape [d0, d1]."
std::string describe_shape(std::int64_t rank);

}  // namespace kf::gen
