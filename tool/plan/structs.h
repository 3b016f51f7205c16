// Structs as trees of leaves: how their fields lie on the host, and how a kind feeds each of them.
#pragma once

#include <vector>

#include "plan/kind_target.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// A struct in natural C layout, or in that of the user's own one.
struct StructLayout {
    std::int64_t size = 0;  ///< bytes, a multiple of `alignment`
    std::int64_t alignment = 1;
    std::vector<std::int64_t> offsets;  ///< of the fields
};

/// Bytes and alignment of one value of a type whose leaves are all element types.
StructLayout layout_of(const Type& type);

/// Whether the type is a struct, or an array of structs.
bool holds_structs(const Type& type);

/// Whether the host can have the struct, or an array of it, as it lies in memory: all its fields are known,
/// and have names and types there.
bool is_host_struct_in_memory(const Type& type);

/// The fields of a struct, x, y, z, w of a vector, or the elements of an array, [0], [1] and so on.
std::vector<Field> fields_of(const Type& type);

/// The wish of a leaf's kind for its gradient.
struct GradientWish {
    std::optional<manifest::Gradient> gradient;
    bool overwrites = false;  ///< "accumulate": "overwrite"
};

/// One parameter's leaves, or the result's.
struct FedTree {
    manifest::ParameterTree host;
    std::vector<PlannedArgument> leaves;
    std::vector<GradientWish> grads;  ///< of each leaf
};

struct TreeTarget {
    KindTarget parameter;
    bool no_diff = false;
    bool no_diff_tensors = false;  ///< the source says no_diff: no tensor in it gets a gradient either
    bool is_result = false;
    bool values_are_read = false;  ///< `this` of a mutating method: fields that are values are not written
};

/// Feeds a parameter of any type: of a struct every field, by path. `first` is the index of its first leaf.
/// Errors: those of feed(), and "field-unknown", "field-missing", "struct-layout".
Outcome<FedTree> feed_tree(const KindSpec& kind, const TreeTarget& target, std::int64_t first);

/// The call with every combination of its fields' alternatives as alternatives of the argument itself.
CallSpec with_fields_expanded(CallSpec call);

}  // namespace kf::gen
