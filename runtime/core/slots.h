// What the fields of a kernel's parameter block are.
#pragma once

#include <cstdint>

namespace kf::manifest {

/// What the runtime writes into one field of a kernel's parameter block.
/// Strides count scalars; addresses are device addresses, 0 when the argument or its gradient is absent.
enum class SlotKind : std::uint8_t {
    total,    ///< int64: number of calls
    groups,   ///< uint32: number of groups dispatched
    shape,    ///< int64: extent of call dimension `dimension`
    value,    ///< the argument's value, all its scalars; bool, (u)int8, (u)int16 widened to 32 bits, half to
              ///< float
    address,  ///< of the argument's data; of a value that is an output, of device memory for one element
              ///< (stored as in a tensor; of an inout one, holding the value that goes in)
    step,     ///< uint32, contiguous kernels: 1, or 0 for an argument of one element (broadcast)
    stride,   ///< int64, strided kernels: along call dimension `dimension`, 0 where broadcast
    trailing_stride,  ///< int64: along dimension `dimension` of those after the call's
    grad_in,          ///< address of the gradient that flows in (of outputs)
    grad_in_stride,
    grad_in_trailing_stride,
    grad_out,  ///< address of the gradient that flows out (of inputs)
    grad_out_stride,
    grad_out_trailing_stride,
    grad_mode,  ///< uint32: a GradMode, for the gradient that flows out
    scratch,    ///< address of sums of a gradient in modes `everywhere` and `partial`, zeros before the
                ///< launch and after it, else 0: float32 of a half gradient, exact_words() in deterministic
                ///< kernels; the last group to finish rounds them into grad_out
    scratch_count,   ///< int64: how many, else 0
    scratch_stride,  ///< int64, strided kernels: of scratch along call dimension `dimension`, 0 where calls
                     ///< share an element; dense over the argument's own other dimensions, in its order, then
                     ///< `trailing`
    offset,   ///< int64: a grid's or range's along its own dimension `dimension`; its `stride` counts steps
    seed,     ///< uint32: of random numbers, hashed already where that was asked for
    warmup,   ///< uint32: how often a random number is hashed again
    low,      ///< float32: the least random number
    span,     ///< float32: how far they may be above it
    last,     ///< float32: the greatest number below low + span
    extent,   ///< uint32: of dimension `dimension` of those after the call's
    counter,  ///< address of one uint32, 0 before the launch and after it: groups that are done; 0 without
              ///< scratch
    // Slots of kernels that walk rows.
    outer,       ///< int64: extent of call dimension `dimension`, 1 of those that make up a row
    rows,        ///< int64: how many there are
    row_length,  ///< int32: calls
    tile_runs,   ///< int32: of a tile, which a subgroup takes at a time: how often its lanes take calls along
                 ///< a row
    tile_rows,   ///< int64: and along how many rows
    tiles_down,  ///< uint32: how many tiles there are for all rows
    tiles_along,      ///< uint32: and along a row, where subgroups have manifest::usual_lanes lanes
    along_reciprocal  ///< uint32: 2^32 over that, rounded down; the largest number for 1
};

/// How a gradient that flows out is written; chosen for each launch from extents and strides.
enum class GradMode : std::uint32_t {
    none = 0,        ///< not wanted
    injective = 1,   ///< each call has its own element: load, add, store
    everywhere = 2,  ///< all calls share one element: registers, subgroup, group, one atomic a group
    partial = 3,     ///< some calls share an element: atomics, aggregated where addresses agree
};

struct Slot {
    SlotKind kind = SlotKind::total;
    std::int64_t argument = -1;  ///< index into Call::arguments, -1 for none
    std::int64_t dimension = -1;

    bool operator==(const Slot&) const = default;
};

}  // namespace kf::manifest
