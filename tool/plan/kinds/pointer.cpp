// Planning pointers: which parameters are some, and what they lead to.
#include "plan/kinds/pointer.h"

#include "plan/accumulate.h"
#include "plan/host_structs.h"
#include "plan/kinds/constant.h"
#include "plan/memory_layout.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen::kinds {

namespace {

using manifest::Access;
using manifest::Pointee;

/// The most bytes that an element's extents can state.
constexpr std::int64_t most_bytes = 4096;

/// Sets the element and the alignment from what the pointer leads to.
void describe_pointee(const Type& type, manifest::Argument& argument, Pointer& pointer) {
    argument.element = {ScalarType::uint8, {}};
    pointer.pointee = Pointee::anything;
    if (type.element.empty() || !is_plain(type.element.front())) return;
    const Type& pointee = type.element.front();
    if (pointee.kind == TypeKind::pointer) return;
    pointer.alignment = cuda_layout(pointee).alignment;
    const std::int64_t size = layout_of(pointee).size;
    if (const std::optional<manifest::Element> element = element_of(pointee)) {
        argument.element = *element;
        pointer.pointee = Pointee::values;
    } else if (size <= most_bytes) {
        argument.element.extents = {size};
        pointer.pointee = Pointee::structs;
    }
}

}  // namespace

Outcome<manifest::Argument> feed_pointer(const KindSpec& kind, const KindTarget& target) {
    if (target.type.kind != TypeKind::pointer) {
        const bool is_laid_out_otherwise = target.type.name.starts_with("Ptr<");
        return feed_error(
            kind, "argument-type",
            target_name(target) + ": a pointer can't feed a parameter of type '" + target.type.name + "'",
            is_laid_out_otherwise ? notes_of_refused(target.type)
                                  : std::vector<std::string>{"it feeds T* and Ptr<T, …>"});
    }
    if (target.role != manifest::Role::in) {
        return feed_error(kind, "argument-type",
                          target_name(target) +
                              ": a pointer goes into a call; none can come out of it, as a result or as an "
                              "out or inout parameter",
                          {"pass a pointer to where the function stores an address, or what it leads to"});
    }
    if (!target.type.element.empty() && holds_bool(target.type.element.front())) {
        return feed_error(kind, "type-not-supported",
                          target_name(target) + ": '" + kind_name(target.type) +
                              "' leads to bools, which are 4 bytes on Vulkan, and 1 on CUDA and the host",
                          {"store them as uint8_t or uint"});
    }
    if (!target.type.element.empty()) {
        if (const std::string other = host_layout_text(target.type.element.front()); !other.empty()) {
            return feed_error(kind, "type-not-supported",
                              target_name(target) + ": behind a '" + kind_name(target.type) + "' " + other,
                              {host_layout_cure});
        }
    }
    manifest::Argument argument;
    argument.name = target.argument;
    Pointer pointer{target.type.is_writable ? Access::read_write : Access::read, Pointee::values, 1};
    describe_pointee(target.type, argument, pointer);
    argument.trailing = argument.element.extents;
    argument.kind = pointer;
    return argument;
}

std::string gradient_refusal(const Pointer&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "what a pointer leads to has no gradient; make it a DiffTensor" : "";
}

void become_tangent(const Pointer&, PlannedArgument& argument) {
    argument.host.kind = Constant{{"0"}};
    argument.host.element = {ScalarType::uint64, {}};
    argument.host.trailing.clear();
}

}  // namespace kf::gen::kinds
