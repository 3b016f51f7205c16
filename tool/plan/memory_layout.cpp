// How values lie in memory that functions reach themselves.
#include "plan/memory_layout.h"

#include <algorithm>

#include "core/manifest.h"
#include "plan/structs.h"

namespace kf::gen {

namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

MemoryLayout cuda_vector(ScalarType type, std::int64_t length) {
    constexpr std::int64_t largest = 16;
    const std::int64_t scalar = manifest::scalar_bytes(type);
    if (type == ScalarType::float16 && length > 1) return {length == 2 ? 4 : 8, 4};
    const bool is_aligned = length == 2 || length == 4;
    return {scalar * length, is_aligned ? std::min(scalar * length, largest) : scalar};
}

/// Calls visit(field, offset) for each field of a struct as CUDA lays it out.
template <class Visit>
MemoryLayout each_cuda_field(const Type& type, Visit visit) {
    MemoryLayout layout;
    for (const Field& field : type.fields) {
        const MemoryLayout one = cuda_layout(field.type);
        layout.size = rounded_up(layout.size, one.alignment);
        visit(field, layout.size);
        layout.size += one.size;
        layout.alignment = std::max(layout.alignment, one.alignment);
    }
    layout.size = rounded_up(layout.size, layout.alignment);
    return layout;
}

std::string bytes(std::int64_t count) { return std::to_string(count) + " bytes"; }

}  // namespace

bool holds_pointer(const Type& type) {
    return type.kind == TypeKind::pointer || std::ranges::any_of(type.element, holds_pointer) ||
           std::ranges::any_of(type.fields, [](const Field& field) { return holds_pointer(field.type); });
}

MemoryLayout cuda_layout(const Type& type) {
    switch (type.kind) {
        case TypeKind::scalar: return cuda_vector(type.scalar, 1);
        case TypeKind::vector: return cuda_vector(type.scalar, type.columns);
        case TypeKind::matrix: {
            const MemoryLayout row = cuda_vector(type.scalar, type.columns);
            return {row.size * type.rows, row.alignment};
        }
        case TypeKind::array: {
            const MemoryLayout element = cuda_layout(type.element.front());
            return {element.size * type.extent, element.alignment};
        }
        case TypeKind::pointer: return {sizeof(std::uint64_t), sizeof(std::uint64_t)};
        default: return each_cuda_field(type, [](const Field&, std::int64_t) {});
    }
}

std::string cuda_difference(const Type& type) {
    const StructLayout host = layout_of(type);
    std::string difference;
    if (type.kind == TypeKind::structure) {
        std::size_t i = 0;
        each_cuda_field(type, [&](const Field& field, std::int64_t offset) {
            const std::int64_t expected = host.offsets.at(i++);
            if (!difference.empty()) return;
            if (offset != expected) {
                difference = "field '" + field.name + "' of '" + type.name + "' is at byte " +
                             std::to_string(offset) + " in CUDA, and at byte " + std::to_string(expected) +
                             " on Vulkan and the host";
            } else {
                difference = cuda_difference(field.type);
            }
        });
    } else if (type.kind == TypeKind::array) {
        difference = cuda_difference(type.element.front());
    }
    const std::int64_t size = cuda_layout(type).size;
    if (difference.empty() && size != host.size) {
        difference = "a '" + type.name + "' has " + bytes(size) + " in CUDA, and " + bytes(host.size) +
                     " on Vulkan and the host";
    }
    return difference;
}

bool holds_bool(const Type& type) {
    switch (type.kind) {
        case TypeKind::scalar:
        case TypeKind::vector:
        case TypeKind::matrix: return type.scalar == ScalarType::boolean;
        case TypeKind::array: return holds_bool(type.element.front());
        default:
            return std::any_of(type.fields.begin(), type.fields.end(),
                               [](const Field& field) { return holds_bool(field.type); });
    }
}

bool leads_elsewhere(const PlannedCall& call) {
    return std::ranges::any_of(
        call.parameters, [](const PlannedParameter& parameter) { return holds_pointer(parameter.type); });
}

bool is_plain(const Type& type) {
    switch (type.kind) {
        case TypeKind::scalar:
        case TypeKind::vector:
        case TypeKind::matrix:
        case TypeKind::pointer: return true;
        case TypeKind::array: return type.extent > 0 && is_plain(type.element.front());
        case TypeKind::structure:
            return !type.inherits && !type.no_diff_array && !type.fields.empty() &&
                   std::all_of(type.fields.begin(), type.fields.end(),
                               [](const Field& field) { return is_plain(field.type); });
        default: return false;
    }
}

}  // namespace kf::gen
