// The kind of parameters that are pointers: its rules in manifests, and its record.
#include "core/kinds/pointer.h"

#include "core/consistency.h"
#include "core/manifest.h"
#include "core/record_list.h"

namespace kf::manifest::kinds {

using artifact::require;

void check_consistency(const Pointer& pointer, const Call&, const Argument& argument,
                       const std::string& where) {
    constexpr std::int64_t largest_alignment = 16;
    require(argument.role == Role::in && argument.gradient == Gradient::never && !argument.differentiable,
            where, "a pointer that isn't only read");
    require(argument.rank == 0 && argument.call_rank == 0 && argument.inner_rank == 0 && argument.pitch == 0,
            where, "a pointer with dimensions");
    require(argument.trailing == argument.element.extents, where, "a pointer to other elements");
    require(argument.accumulate == Accumulate::automatic, where, "a pointer that is accumulated");
    require(pointer.alignment >= 1 && pointer.alignment <= largest_alignment &&
                (pointer.alignment & (pointer.alignment - 1)) == 0,
            where, "an impossible alignment");
}

void list_records(const Pointer&, const Argument&, std::int64_t index, RecordList& list) {
    list.add({RecordKind::pointer, index});
}

}  // namespace kf::manifest::kinds
