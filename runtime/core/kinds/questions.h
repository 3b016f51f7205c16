// What kfgen and the runtime ask of an argument's kind. Each kind answers in its own file of this folder;
// what the binder alone asks is in kinds/binding.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "core/argument.h"

namespace kf::manifest {

// Besides these each kind has
// - `word`, its name in artifacts;
// - each_field(self, visit): calls visit(name, value), and visit(name, value, words) for enumerators, for
//   each of its fields. Artifacts hold them, and the names of entry points depend on them;
// - passed_as(): what the host passes for it.

/// Throws ArtifactError for an argument whose fields can't be together in one of its kind. What holds of all
/// kinds has been checked.
inline void check_consistency(const Call& call, const Argument& argument, const std::string& where) {
    std::visit([&](const auto& kind) { check_consistency(kind, call, argument, where); }, argument.kind);
}

/// Returns the kind as call specs have it, with what they call the element: "value<float>", "grid[2]".
inline std::string spec_text(const Argument& argument, const std::string& element) {
    return std::visit([&](const auto& kind) { return spec_text(kind, argument, element); }, argument.kind);
}

/// Returns whether calls read its elements, be they given or made: what flows into a call through it is data,
/// which a backward pass needs again.
inline bool reads_elements(const Argument& argument) {
    return std::visit([&](const auto& kind) { return reads_elements(kind, argument); }, argument.kind);
}

/// Returns whether calls write its elements: others must not lie in the same memory, and gradients flow in
/// through it.
inline bool writes_elements(const Argument& argument) {
    return std::visit([&](const auto& kind) { return writes_elements(kind, argument); }, argument.kind);
}

/// Returns whether the function may write what it leads to, as far as its type says: of a pointer.
inline bool may_write_through(const Argument& argument) {
    return std::visit([](const auto& kind) { return may_write_through(kind); }, argument.kind);
}

/// Returns whether what a call leaves behind depends on what the elements held before: they are read, or
/// added to.
inline bool depends_on_elements(const Argument& argument) {
    return std::visit([&](const auto& kind) { return depends_on_elements(kind, argument); }, argument.kind);
}

/// Returns the extent that it gives the call along its call dimension `k`, whatever it is given, since that
/// lies in its element; 0 where what is given says it.
inline std::int64_t extent_in_element(const Argument& argument, std::size_t k) {
    return std::visit([&](const auto& kind) { return extent_in_element(kind, argument, k); }, argument.kind);
}

/// Returns whether each call may touch any of its elements, so that which ones it does is the function's
/// affair: kernels find them by strides, and any call may add to any gradient.
inline bool has_free_access(const Argument& argument) {
    return std::visit([](const auto& kind) { return has_free_access(kind); }, argument.kind);
}

/// Returns whether calls only add to its elements, atomically, and so may share them.
inline bool adds_atomically(const Argument& argument) {
    return std::visit([](const auto& kind) { return adds_atomically(kind); }, argument.kind);
}

/// Returns whether it is a view, that calls may read and write as they like: what is stored takes its
/// gradient from where loads add theirs.
inline bool has_one_gradient(const Argument& argument) {
    return std::visit([](const auto& kind) { return has_one_gradient(kind); }, argument.kind);
}

/// Returns whether it has to be contiguous, as the call spec says: kernels rely on it.
inline bool requires_contiguous(const Argument& argument) {
    return std::visit([](const auto& kind) { return requires_contiguous(kind); }, argument.kind);
}

/// Returns whether it is a field whose place, extents and strides kernels take from another of the struct's
/// fields, see leader_of(): where it lies in the struct is in their code.
inline bool shares_place(const Argument& argument) {
    return std::visit([&](const auto& kind) { return shares_place(kind, argument); }, argument.kind);
}

/// Returns whether the parameter block holds the argument's value itself.
inline bool lies_in_block(const Argument& argument) {
    return std::visit([&](const auto& kind) { return lies_in_block(kind, argument); }, argument.kind);
}

/// Returns whether its values follow from the call's index along each dimension, which contiguous kernels
/// of calls with several dimensions then have to find.
inline bool counts_along_dimensions(const Argument& argument) {
    return std::visit([](const auto& kind) { return counts_along_dimensions(kind); }, argument.kind);
}

/// Adds the records that a parameter block has for the call's argument `index`, in order.
inline void list_records(const Argument& argument, std::int64_t index, RecordList& list) {
    std::visit([&](const auto& kind) { list_records(kind, argument, index, list); }, argument.kind);
}

/// Adds what kernels take beside their block for it, the call's argument `index`, in order.
inline void list_resources(const Argument& argument, const Call& call, std::int64_t index,
                           ResourceList& list) {
    std::visit([&](const auto& kind) { list_resources(kind, call, index, list); }, argument.kind);
}

}  // namespace kf::manifest
