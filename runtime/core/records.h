// The records that a kernel's parameter block is made of, each a struct of runtime/slang/kf_records.slang.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kf::manifest {

/// What a record of the block tells the kernel. Strides count scalars; addresses are device addresses, 0
/// where the argument or its gradient is absent.
enum class RecordKind : std::uint8_t {
    launch,    ///< kf.Launch
    walk,      ///< kf.Walk
    shape,     ///< kf.Shape
    counter,   ///< uint*: groups that are done, 0 before the launch and after it; null without sums
    value,     ///< the argument's value, all its scalars; bool, (u)int8, (u)int16 widened to 32 bits, half to
               ///< float
    data,      ///< the argument's elements; of a value that is an output, device memory for one element
    step,      ///< uint: as kf.DenseOrShared has it, of an output in which calls are combined
    strides,   ///< kf.Strides: of the data, which the pass doesn't touch
    grad_in,   ///< the gradient that flows in, of outputs
    grad_out,  ///< the gradient that flows out, of inputs
    sums,      ///< of grad_out in modes `everywhere` and `partial`, else null: float32 of a half gradient,
           ///< exact_words() in deterministic kernels. The last group to finish rounds them into grad_out.
    extents,  ///< kf.Extents
    grid,     ///< kf.Grid, a range's too
    hash,     ///< kf.Hash
    random,   ///< kf.Random
    pointer,  ///< uint64_t: an address that the host gives
    reports,  ///< kf.Reports, of kernels that report: see core/reports.h
};

/// The names of records, by RecordKind: in manifests, and at the start of the names of blocks' fields.
inline constexpr std::array record_names{"launch", "walk",    "shape",   "counter",  "value",  "data",
                                         "step",   "strides", "grad_in", "grad_out", "sums",   "extents",
                                         "grid",   "hash",    "random",  "pointer",  "reports"};
static_assert(record_names.size() == static_cast<std::size_t>(RecordKind::reports) + 1);

/// How a gradient that flows out is written; chosen for each launch from extents and strides.
enum class GradMode : std::uint32_t {
    none = 0,        ///< not wanted
    injective = 1,   ///< each call has its own element: load, add, store
    everywhere = 2,  ///< all calls share one element: registers, subgroup, group, one atomic a group
    partial = 3,     ///< some calls share an element: atomics, aggregated where addresses agree
    // What the gradient held before doesn't count, so that nobody has to make zeros of it:
    set_injective = 5,   ///< each call has its own element: store
    set_everywhere = 6,  ///< all calls share one element, and one group makes them all: it stores the sum
};

/// The mode as the elements' places alone decide it, without whether what they held counts.
constexpr GradMode place_of(GradMode mode) {
    return static_cast<GradMode>(static_cast<std::uint32_t>(mode) & 3U);
}

/// One record of a block.
struct Record {
    RecordKind kind = RecordKind::launch;
    std::int64_t argument = -1;  ///< index into Call::arguments, -1 for the call's own
    /// The call's dimensions that it has a number for, in its order.
    std::vector<std::int64_t> dimensions = {};
    std::int64_t trailing = 0;  ///< dimensions of the argument's own that it has a number for, after those
    bool flagged = false;       ///< data with a step, a gradient with a mode

    [[nodiscard]] std::int64_t numbers() const {
        return static_cast<std::int64_t>(dimensions.size()) + trailing;
    }

    bool operator==(const Record&) const = default;
};

// The structs of the library whose size is fixed, as the host writes them.

struct HashRecord {
    std::uint32_t seed;
    std::uint32_t warmup;
};

struct RandomRecord {
    HashRecord hash;
    float low;
    float span;
    float last;
};

struct ReportsRecord {
    std::uint64_t words = 0;  ///< the buffer's address
    std::uint32_t launch = 0;
};

/// A member of a record, and where it lies in it.
struct RecordMember {
    std::string name;
    std::int64_t offset = 0;  ///< bytes
};

/// How a record that isn't a single number is laid out, on all targets.
struct RecordLayout {
    std::vector<RecordMember> members;
    std::int64_t end = 0;  ///< of the last member, bytes
    std::int64_t alignment = 0;

    /// With the padding at the end.
    [[nodiscard]] std::int64_t size() const { return (end + alignment - 1) / alignment * alignment; }
};

/// The layout of a record of any kind but `value`, whose type is the argument's. Those that are one number
/// have one member without a name.
[[nodiscard]] RecordLayout record_layout(const Record& record);

}  // namespace kf::manifest
