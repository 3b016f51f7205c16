// What the binder asks of pointers: whether an address fits, and its record.
#include "core/kinds/pointer_binding.h"

#include <charconv>
#include <cstring>

#include "core/bind_error.h"
#include "core/conversion_costs.h"
#include "core/convert.h"
#include "core/describe.h"
#include "core/tensor_state.h"

namespace kf::detail {

using manifest::Argument;
using manifest::Pointee;

namespace {

std::string hexadecimal(std::uint64_t address) {
    std::string digits(16, '\0');
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
    return "0x" + digits.substr(0, static_cast<std::size_t>(end - digits.data()));
}

/// Returns whether memory of such elements holds what the pointer leads to.
bool leads_to(const kinds::Pointer& pointer, const Argument& argument, const ElementType& element) {
    const ElementType wanted = element_type(argument.element);
    switch (pointer.pointee) {
        case Pointee::values: return element.struct_size == 0 && element.scalar == wanted.scalar;
        case Pointee::structs: return element.struct_size == wanted.size();
        case Pointee::anything: break;
    }
    return true;
}

void check_memory(const kinds::Pointer& pointer, const BindRequest& request, std::size_t i) {
    const AnyTensor& memory = *request.arguments[i].memory;
    const Argument& argument = request.call.arguments[i];
    if (!leads_to(pointer, argument, memory.element())) {
        const std::string found = memory.element().struct_size != 0
                                      ? "structs of " + std::to_string(memory.element().size()) + " bytes"
                                      : with_article(to_string(memory.element())) + " tensor";
        fail(request, i, ErrorCode::type_mismatch,
             "expected " + host_text(request.call, i) +
                 (pointer.pointee == Pointee::structs
                      ? ", to structs of " + std::to_string(element_type(argument.element).size()) + " bytes"
                      : "") +
                 ", found " + found);
    }
    if (!memory.is_contiguous()) {
        fail(request, i, ErrorCode::layout_mismatch,
             "a pointer's elements lie one after the other: expected a contiguous tensor, found one of "
             "shape " +
                 to_string(memory.shape()) + " and strides " + to_string(memory.strides()));
    }
}

}  // namespace

std::string describe(const kinds::Pointer&, const Argument& argument) { return argument.type; }

std::optional<int> conversion_cost(const kinds::Pointer& pointer, const Argument& argument,
                                   const ArgShape& given) {
    switch (given.kind) {
        case ArgShape::Kind::tensor:
            return pointer.pointee != Pointee::values || given.scalar == argument.element.scalar
                       ? std::optional(0)
                       : std::nullopt;
        case ArgShape::Kind::weak:
            return given.shape.empty() && given.scalar == ScalarType::int64 ? std::optional(last_resort_cost)
                                                                            : std::nullopt;
        default: return std::nullopt;
    }
}

void read_given(const kinds::Pointer&, const Argument&, const Arg& arg, ArgumentView& view) {
    if (arg.kind != Arg::Kind::pointer) return;
    std::memcpy(&view.data.address, arg.value, sizeof view.data.address);
    if (arg.tensor != nullptr && *arg.tensor) view.memory = arg.tensor;
}

void check_given(const kinds::Pointer& pointer, const BindRequest& request, std::size_t i) {
    if (request.arguments[i].memory != nullptr) check_memory(pointer, request, i);
    const std::uint64_t address = request.arguments[i].data.address;
    if (address % static_cast<std::uint64_t>(pointer.alignment) != 0) {
        fail(request, i, ErrorCode::layout_mismatch,
             "its address, " + hexadecimal(address) + ", is no multiple of " +
                 std::to_string(pointer.alignment) + " bytes, as " + describe(request.call.arguments[i]) +
                 " takes");
    }
}

void pack_record(const kinds::Pointer&, const Argument&, const manifest::Record&, const void* value,
                 std::byte* target) {
    std::memcpy(target, value, sizeof(std::uint64_t));
}

}  // namespace kf::detail
