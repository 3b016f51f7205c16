// The parameter block of one kernel: a field for each of its records, see core/block_records.h.
#pragma once

#include <string>
#include <vector>

#include "core/block_records.h"
#include "core/resource_list.h"
#include "core/roles.h"
#include "emit/kernel.h"

namespace kf::gen {

struct BlockField {
    std::string type;  ///< as Slang spells it
    std::string name;
    manifest::Record record;
};

/// Fields for everything that the kernel reads; see manifest::RecordKind for what each one means.
std::vector<BlockField> block_fields(const PlannedCall& call, PassKind pass, manifest::Variant variant,
                                     Sums sums = Sums::fast);

/// The resources that all of the call's kernels take beside their blocks.
manifest::ResourceList resources_of(const PlannedCall& call);

/// Whether a kernel that walks rows is of use: calls may share elements of gradients along some dimensions.
bool can_walk_rows(const PlannedCall& call, PassKind pass);

/// Returns what manifest::push_constant_bytes() does, before there is a manifest.
std::int64_t push_constant_bytes(const PlannedCall& call, const std::vector<manifest::Record>& records);

/// The field that holds a record; every record that an emitter asks for is there.
const BlockField& field_of(const std::vector<BlockField>& fields, manifest::RecordKind kind,
                           std::int64_t argument = -1);
/// The record as kernels name it: "kf_args.data_x".
std::string record_text(const std::vector<BlockField>& fields, manifest::RecordKind kind,
                        std::int64_t argument = -1);
/// The field's number along a dimension of the call, of the member `list`: "kf_args.shape.extents[1]".
std::string number_text(const BlockField& field, const std::string& list, std::int64_t dimension);

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
/// Returns what manifest::leader_of() does, before there is a manifest.
using manifest::Part;
std::int64_t leader_of(const PlannedCall& call, std::int64_t index, Part part, Sums sums = Sums::fast);

}  // namespace kf::gen
