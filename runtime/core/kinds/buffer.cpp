// The kind of parameters that are buffers: its rules in manifests, and its resource.
#include "core/kinds/buffer.h"

#include <algorithm>

#include "core/block_records.h"
#include "core/consistency.h"
#include "core/kinds/elements.h"
#include "core/resource_list.h"

namespace kf::manifest::kinds {

using artifact::require;

namespace {

std::int64_t element_bytes(const Argument& argument) {
    std::int64_t bytes = scalar_bytes(argument.element.scalar);
    if (argument.pitch != 0) return bytes * argument.pitch;
    for (const std::int64_t extent : argument.element.extents) bytes *= extent;
    return bytes;
}

/// The name of what the host passes: of a field its struct's.
std::string name_of(const Call& call, std::int64_t index) {
    const auto parameter =
        std::find_if(call.parameters.begin(), call.parameters.end(),
                     [&](const ParameterTree& one) { return one.form == Form::tensor && one.leaf == index; });
    return parameter != call.parameters.end() ? parameter->name
                                              : call.arguments[static_cast<std::size_t>(index)].name;
}

}  // namespace

void check_consistency(const Buffer& buffer, const Call&, const Argument& argument,
                       const std::string& where) {
    require(argument.role == Role::in && argument.gradient == Gradient::never && !argument.differentiable,
            where, "a buffer with a gradient, or that isn't given");
    require(argument.rank == 1 && argument.inner_rank == 1 && argument.call_rank == 0, where,
            "a buffer of another rank");
    require(argument.accumulate == Accumulate::automatic, where, "a buffer that is accumulated");
    require(buffer.access == Access::read || buffer.access == Access::read_write, where,
            "a buffer that can't be read");
    require(!buffer.bytes || (argument.element == Element{ScalarType::uint8, {}} && argument.pitch == 0),
            where, "bytes of a type");
    check_extents(argument, where);
}

std::string spec_text(const Buffer& buffer, const Argument&, const std::string&) {
    return std::string(buffer.access == Access::read ? "" : "rw") + (buffer.bytes ? "byteaddress" : "buffer");
}

bool shares_place(const Buffer&, const Argument& argument) { return argument.pitch != 0; }

void list_resources(const Buffer& buffer, const Call& call, std::int64_t index, ResourceList& list) {
    if (leader_of(call, index, Part::data, false) != index) return;
    const Argument& argument = call.arguments[static_cast<std::size_t>(index)];
    list.push_back({index,
                    {name_of(call, index), ResourceKind::buffer, buffer.access != Access::read,
                     element_bytes(argument)}});
}

}  // namespace kf::manifest::kinds
