// The parameter block of one kernel: the fields that its slots are, see core/block_slots.h.
#pragma once

#include <string>
#include <vector>

#include "core/block_slots.h"
#include "core/roles.h"
#include "emit/kernel.h"

namespace kf::gen {

struct BlockField {
    std::string type;  ///< as Slang spells it
    std::string name;
    manifest::Slot slot;
};

/// Fields for everything that the kernel reads; see manifest::SlotKind for what each one means.
std::vector<BlockField> block_fields(const PlannedCall& call, PassKind pass, manifest::Variant variant,
                                     Sums sums = Sums::fast);

/// Whether a kernel that walks rows is of use: calls may share elements of gradients along some dimensions.
bool can_walk_rows(const PlannedCall& call, PassKind pass);

/// As manifest::push_constant_bytes().
std::int64_t push_constant_bytes(const PlannedCall& call, const std::vector<manifest::Slot>& slots);

/// The field that holds a slot; every slot that an emitter asks for is there.
const std::string& field_of(const std::vector<BlockField>& fields, manifest::SlotKind kind,
                            std::int64_t argument = -1, std::int64_t dimension = -1);

/// The argument's part of names in the kernel: its own name, or "return", which no parameter can have, with
/// __ before each field's: "ray__origin". Tangents are "kf_d_ray__origin", and "kf_d_out_return".
std::string argument_id(const manifest::Argument& argument);

/// Whether the element is a matrix or an array, read and written in loops over its scalars.
bool is_looped(const PlannedArgument& argument);
/// Whether contiguous kernels read the element scalar by scalar: what is looped, fields of tensors of
/// structs, and half3, which Slang pads to 8 bytes in CUDA source.
bool is_read_by_scalars(const PlannedArgument& argument);

/// Whether sums in memory are apart from what they are sums of: exact ones, of what isn't exact anyway.
bool is_summed_exactly(const manifest::Argument& argument, Sums sums);

/// Half gradients are summed in float, in memory of their own, and exact sums are many words.
bool needs_scratch(const manifest::Argument& argument, PassKind pass, Sums sums);
/// As manifest::leader_of().
using manifest::Part;
std::int64_t leader_of(const PlannedCall& call, std::int64_t index, Part part, Sums sums = Sums::fast);

}  // namespace kf::gen
