// Host element types: how each language spells them, and how they lie in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "plan/plan.h"

namespace kf::gen {

/// Takes a kind's spelling: "float3" is "kf::float3", "int" "std::int32_t", "float2[3]"
/// "std::array<kf::float2, 3>".
/// `scalar`: what its scalars are instead, where the element has no vectors; empty: nothing else.
std::string cpp_type(const std::string& element_name, const std::string& scalar = {});
/// "in", "out", "inout" or "returned".
std::string role_text(manifest::Role role);
/// "float32": NumPy's name of the scalar.
std::string numpy_name(ScalarType scalar);

/// Bytes of one element on the host.
std::int64_t element_size(const manifest::Element& element);

/// The text about an argument in one call: "x", "in", ", float tensor [d0, 3]" and ", differentiable".
struct ArgumentDoc {
    std::string name;
    std::string role;
    std::string kind;
    std::string notes;

    bool operator==(const ArgumentDoc&) const = default;
};
using ArgumentDocs = std::vector<ArgumentDoc>;

/// Says of every argument of a call what it is; tangents are like what they belong to. `names` are the
/// arguments' names in the language at hand. Dimensions of the call are d0, d1 …
ArgumentDocs describe_arguments(const std::vector<PlannedArgument>& arguments,
                                const std::vector<std::string>& names);
/// One line for each argument of a function with these calls: "- x: in, float or float tensor [d0]".
std::vector<std::string> describe_function(const std::vector<ArgumentDocs>& calls);
/// "One call." or "Call shape [d0, d1]."
std::string describe_shape(const PlannedCall& call);

}  // namespace kf::gen
