// How kernels make a generator's value: the expression, of the fields that it reads.
#pragma once

#include <string>
#include <vector>

#include "emit/block.h"

namespace kf::gen {

/// Whether some generator needs the call's index along each dimension, and the flat one won't do.
bool needs_indices(const PlannedCall& call);

/// A generator in one kernel.
struct GeneratorUse {
    const PlannedArgument& planned;
    std::int64_t index = 0;                 ///< of the argument
    const std::vector<BlockField>& fields;  ///< the kernel's
    std::vector<std::string> indices;       ///< the call's, one a dimension
};

/// Whether its value is written scalar by scalar: random matrices and arrays.
bool is_generated_by_scalars(const PlannedArgument& planned);

/// The first random number, as a hash, of the call; and the scalar that the variable `hash` holds, which is
/// the next one afterwards.
std::string first_hash(const GeneratorUse& use);
std::string next_scalar(const GeneratorUse& use, const std::string& hash);

/// The whole value, of what is not written by scalars.
std::string generated_value(const GeneratorUse& use);

}  // namespace kf::gen
