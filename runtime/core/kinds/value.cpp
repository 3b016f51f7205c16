// The kind "value": its rules in manifests, and its records.
#include "core/kinds/value.h"

#include "core/consistency.h"
#include "core/kinds/elements.h"
#include "core/roles.h"

namespace kf::manifest::kinds {

using artifact::require;

void check_consistency(const Value& value, const Call& call, const Argument& argument,
                       const std::string& where) {
    require(argument.rank == 0, where, "a value with a rank");
    require(argument.inner_rank == 0, where, "a tensor parameter without a rank");
    check_extents(argument, where);
    require(!is_output(argument) || argument.accumulate != Accumulate::automatic || call.rank == 0, where,
            "a value as the output of a call with a rank");
    // Values don't say how many calls there are: only a tensor's extents are compared with the call's shape.
    require(!is_output(argument) || argument.call_rank == 0, where, "a value whose parts calls write");
    require(!is_pushed(argument) || argument.role == Role::in, where, "a pushed gradient of an output");
    require(argument.role == Role::in || !value.in_memory, where, "what is no value that is read, in memory");
    const bool fits = argument.element.extents.empty() ||
                      (argument.element.extents.size() == 1 && argument.element.extents.front() <= 4);
    require(!lies_in_block(value, argument) || (fits && argument.call_rank == 0), where,
            "a value that doesn't fit into the block");
    require(argument.pitch == 0, where, "a pitch of what is no tensor");
}

std::string spec_text(const Value&, const Argument&, const std::string& element) {
    return "value<" + element + ">";
}

bool reads_elements(const Value&, const Argument& argument) { return !is_only_written(argument.role); }

bool writes_elements(const Value&, const Argument& argument) { return is_output(argument); }

bool depends_on_elements(const Value&, const Argument& argument) { return !is_only_written(argument.role); }

std::int64_t extent_in_element(const Value&, const Argument& argument, std::size_t k) {
    return element_extent(argument, k);
}

bool lies_in_block(const Value& value, const Argument& argument) {
    return argument.role == Role::in && !value.in_memory;
}

void list_records(const Value&, const Argument& argument, std::int64_t index, RecordList& list) {
    list_element_records(argument, index, 0, list);
}

}  // namespace kf::manifest::kinds
