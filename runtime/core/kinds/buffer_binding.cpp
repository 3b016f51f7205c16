// What the binder asks of parameters that are buffers: whether memory can be bound as one.
#include "core/kinds/buffer_binding.h"

#include "core/bind_error.h"
#include "core/convert.h"
#include "core/describe.h"
#include "core/kinds/element_binding.h"
#include "core/tensor_state.h"
#include "core/views.h"

namespace kf::detail {

using manifest::Argument;

namespace {

constexpr std::int64_t word = 4;  // bytes that byte addresses count in

std::int64_t bytes_of(const AnyTensor& memory) {
    return memory.size() * static_cast<std::int64_t>(memory.element().size());
}

/// The last extents are the element's.
bool ends_in_element(const Argument& argument, const Dims& extents) {
    const std::size_t own = argument.element.extents.size();
    if (extents.size() < own) return false;
    for (std::size_t k = 0; k < own; ++k) {
        if (extents[extents.size() - own + k] != argument.element.extents[k]) return false;
    }
    return true;
}

void check_buffer_elements(const kinds::Buffer& buffer, const BindRequest& request, std::size_t i) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    const ElementType& element = view.memory->element();
    if (buffer.bytes) {
        if (bytes_of(*view.memory) % word != 0) {
            fail(request, i, ErrorCode::shape_mismatch,
                 "it has " + std::to_string(bytes_of(*view.memory)) +
                     " bytes, and byte addresses take whole words of " + std::to_string(word));
        }
        return;
    }
    if (argument.pitch != 0) {
        const std::int64_t size = argument.pitch * manifest::scalar_bytes(argument.element.scalar);
        if (static_cast<std::int64_t>(element.size()) != size) {
            fail(request, i, ErrorCode::type_mismatch,
                 "expected " + host_text(request.call, i) + ", of " + std::to_string(size) +
                     " bytes each, found elements of " + std::to_string(element.size()) + " bytes");
        }
        return;
    }
    if (element.struct_size != 0 || view.scalar != argument.element.scalar ||
        !ends_in_element(argument, view.data.extents)) {
        fail(request, i, ErrorCode::type_mismatch,
             "expected " + host_text(request.call, i) + ", found " +
                 (element.struct_size != 0 ? "structs of " + std::to_string(element.size()) + " bytes"
                                           : describe_tensor(view.scalar, view.data.extents)));
    }
}

void check_place(const BindRequest& request, std::size_t i) {
    const AnyTensor& memory = *request.arguments[i].memory;
    if (!memory.is_contiguous()) {
        fail(
            request, i, ErrorCode::layout_mismatch,
            "a buffer's elements lie one after the other: expected a contiguous tensor, found one of shape " +
                to_string(memory.shape()) + " and strides " + to_string(memory.strides()));
    }
    if (memory.address() % request.limits.buffer_alignment != 0) {
        fail(request, i, ErrorCode::layout_mismatch,
             "a buffer begins at a multiple of " + std::to_string(request.limits.buffer_alignment) +
                 " bytes on this device, and it begins " +
                 std::to_string(memory.address() % request.limits.buffer_alignment) +
                 " bytes behind one: copy it");
    }
    if (static_cast<std::uint64_t>(bytes_of(memory)) > request.limits.max_buffer) {
        fail(request, i, ErrorCode::value_range,
             "it has " + std::to_string(bytes_of(memory)) + " bytes; a buffer has at most " +
                 std::to_string(request.limits.max_buffer) +
                 " on this device: make the parameter a Tensor, which has no such limit");
    }
}

}  // namespace

std::string describe(const kinds::Buffer& buffer, const Argument& argument) {
    const std::string name = buffer.access == manifest::Access::read ? "buffer" : "writable buffer";
    return buffer.bytes ? "byte " + name : type_text(argument) + " " + name;
}

std::optional<int> conversion_cost(const kinds::Buffer& buffer, const Argument& argument,
                                   const ArgShape& given) {
    if (given.kind == ArgShape::Kind::generator || given.kind == ArgShape::Kind::absent) return std::nullopt;
    if (given.kind == ArgShape::Kind::weak && (given.shape.empty() || buffer.bytes)) return std::nullopt;
    if (buffer.bytes) return 0;
    if (!ends_in_element(argument, given.shape)) return std::nullopt;
    if (given.kind == ArgShape::Kind::weak) return weak_cost(given, argument.element.scalar);
    return given.scalar == argument.element.scalar ? std::optional(0) : std::nullopt;
}

void read_given(const kinds::Buffer&, const Argument&, const Arg& arg, ArgumentView& view) {
    if (arg.kind == Arg::Kind::tensor) view.memory = arg.tensor;
}

void check_given(const kinds::Buffer& buffer, const BindRequest& request, std::size_t i) {
    check_buffer_elements(buffer, request, i);
    check_place(request, i);
}

void bind_view(const kinds::Buffer& buffer, const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    if (view.kind != Arg::Kind::tensor) return;
    ScalarView data = view.data;
    if (argument.pitch == 0) {
        // However many dimensions the tensor has, it is one row of elements.
        const auto size = static_cast<std::int64_t>(element_type(argument.element).size());
        Dims extents{buffer.bytes ? bytes_of(*view.memory) : bytes_of(*view.memory) / size};
        for (const std::int64_t extent : argument.element.extents) extents.push_back(extent);
        data = row_major_view(extents);
        data.address = view.data.address;
    }
    binding.arguments[i].data = along_call(argument, data, binding.shape.size());
}

}  // namespace kf::detail
