// Questions that the emitters ask of every kind of argument. Each kind answers in a file of its own; one that
// leaves an answer out doesn't compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/block.h"
#include "emit/cpp_structs.h"
#include "emit/python_signature.h"
#include "plan/plan.h"

namespace kf::gen {

// ---- Kernels ----

/// How a kernel's calls come by an argument.
enum class Supply : std::uint8_t {
    block,   ///< it stands in the parameter block
    memory,  ///< each call has an element in memory, or shares one
    view,    ///< the function is handed a view of memory
    made,    ///< the kernel makes a value of its own
    bound,   ///< the function is handed a resource that is bound beside the block
    texel,   ///< each call has a texel of a resource that is bound beside the block
};
[[nodiscard]] Supply supply_of(const manifest::Argument& argument);

/// An argument that is made, in one kernel.
struct MadeUse {
    const PlannedArgument& planned;
    std::int64_t index = 0;                 ///< of the argument
    const std::vector<BlockField>& fields;  ///< the kernel's
    std::vector<std::string> indices;       ///< the call's, one a dimension
    std::string state;                      ///< the name of a variable, for what is made scalar by scalar
};

/// The value that a kernel makes for a call, as an expression.
struct MadeValue {
    std::string value;  ///< empty: it is made scalar by scalar
    std::string first;  ///< what the state, a uint, is before the first scalar
    std::string next;   ///< the next scalar, which changes the state
};
/// Returns the value that a kernel makes, or has of a resource; nothing for one that it reads from memory.
[[nodiscard]] std::optional<MadeValue> made_value(const MadeUse& use);

/// Whether what a kernel makes depends on the call's number: it isn't one value for all calls.
[[nodiscard]] bool counts_calls(const manifest::Argument& argument);

/// Whether what some argument of a call makes needs the call's index along each dimension: the flat one won't
/// do.
[[nodiscard]] bool needs_indices(const PlannedCall& call);

/// Whether its place depends on the call, so that kernels by strides have something to stride through.
[[nodiscard]] bool moves_along_calls(const manifest::Argument& argument);
/// Whether kernels need no strides of it, whatever the host passes.
[[nodiscard]] bool is_found_without_strides(const manifest::Argument& argument);

// ---- Hosts ----

/// "kf::Tensor<float, 1>": how C++ passes it; of a struct's field that the host gives nothing for, what
/// stands in its place.
[[nodiscard]] std::string cpp_passed_type(const PlannedArgument& item, const CppStructs& structs);
/// The types that Python takes for an input. `takes_gradient`: it may carry one.
[[nodiscard]] PythonTypes python_types(const PlannedArgument& item, bool takes_gradient);
/// "in, float tensor [d0, 3], contiguous": what documents say first of it.
[[nodiscard]] std::string described(const PlannedArgument& item);

}  // namespace kf::gen
