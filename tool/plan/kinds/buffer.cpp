// Planning buffers: which kinds feed which of them, and what they hold.
#include "plan/kinds/buffer.h"

#include "plan/accumulate.h"
#include "plan/kinds/constant.h"
#include "plan/memory_layout.h"
#include "plan/types.h"

namespace kf::gen {

std::optional<KindSpec> kind_of_elements(const KindSpec& kind, const Type& parameter) {
    const bool buffer = kind.kind == Kind::buffer || kind.kind == Kind::rwbuffer;
    if (!buffer || parameter.kind == TypeKind::buffer) return std::nullopt;
    KindSpec elements = kind;
    elements.kind = Kind::tensor;
    elements.rank = 1;
    return elements;
}

}  // namespace kf::gen

namespace kf::gen::kinds {

namespace {

using manifest::Access;

/// The kind that takes the parameter as it is.
std::string fitting_kind(const Type& type) {
    return std::string(type.is_writable ? "rw" : "") + (type.element.empty() ? "byteaddress" : "buffer");
}

}  // namespace

Outcome<manifest::Argument> feed_buffer(const KindSpec& kind, const KindTarget& target) {
    if (target.type.kind != TypeKind::buffer) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": '" + kind.spelling + "' can't feed a parameter of type '" +
                              target.type.name + "'",
                          {"byteaddress feeds a ByteAddressBuffer, rwbyteaddress a RWByteAddressBuffer"});
    }
    const std::string fitting = fitting_kind(target.type);
    if (kind.spelling != fitting && kind.kind != Kind::tensor) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": '" + kind.spelling + "' can't feed a parameter of type '" +
                              target.type.name + "'",
                          {"give it " + fitting});
    }
    if (target.role != manifest::Role::in) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": a '" + target.type.name +
                              "' says itself what is written: it is no result, out or inout parameter",
                          {"leave out or inout away"});
    }
    const Buffer buffer{target.type.is_writable ? Access::read_write : Access::read,
                        target.type.element.empty()};
    if (buffer.bytes) {
        manifest::Argument argument;
        argument.name = target.argument;
        argument.element = {ScalarType::uint8, {}};
        argument.rank = argument.inner_rank = 1;
        argument.kind = buffer;
        return argument;
    }
    if (holds_bool(target.type.element.front())) {
        return feed_error(kind, "type-not-supported",
                          target_name(target) + ": '" + target.type.name +
                              "' holds bools, which are 4 bytes on Vulkan, and 1 on CUDA and the host",
                          {"store them as uint8_t or uint"});
    }
    Outcome<manifest::Argument> fed = feed_element(kind, target, {1, 1});
    if (!fed) return fed;
    if (fed.value().element.extents != fed.value().trailing) {
        return feed_error(kind, "argument-type",
                          target_name(target) + ": elements of '" + kind.spelling + "' are no '" +
                              kind_name(target.type) + "'");
    }
    fed.value().kind = buffer;
    return fed;
}

std::string gradient_refusal(const Buffer&, const AccumulateWay& way) {
    return is_for_gradients(way) ? "a buffer has no gradient; make it a DiffTensor" : "";
}

void become_tangent(const Buffer&, PlannedArgument& argument) {
    argument.host.kind = Constant{{"0"}};
    argument.host.element = {ScalarType::uint64, {}};
    argument.host.trailing.clear();
    argument.host.rank = argument.host.inner_rank = 0;
}

}  // namespace kf::gen::kinds
