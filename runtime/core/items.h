// What the host passes for a call, one by one: leaves, and structs whole.
#pragma once

#include <string>
#include <vector>

#include "core/manifest.h"

namespace kf::manifest {

/// The items of a call's parameters, in order.
[[nodiscard]] std::vector<Item> items_of(const std::vector<ParameterTree>& parameters);

/// How many things the host passes.
[[nodiscard]] inline std::size_t item_count(const Call& call) { return call.items.size(); }

/// How many of the items are a parameter's, or a field's.
[[nodiscard]] inline std::size_t item_count(const ParameterTree& parameter) {
    if (parameter.form != Form::fields) {
        return 1;
    }
    std::size_t count = 0;
    for (const ParameterTree& field : parameter.fields) {
        count += item_count(field);
    }
    return count;
}

/// The first leaf of item `i`.
[[nodiscard]] inline std::size_t leaf_of(const Call& call, std::size_t i) {
    return static_cast<std::size_t>(call.items[i].leaf);
}

/// Bytes of what a parameter that is passed whole holds: a struct, or an array of them.
[[nodiscard]] std::int64_t byte_size(const ParameterTree& parameter);

/// Whether a function is the forward derivative of another one: not to be found by its name.
[[nodiscard]] bool is_jvp(const Function& function);

/// Whether a function isn't to be found by its name: a forward derivative, or what `.accumulate()` gives.
[[nodiscard]] bool is_hidden(const Manifest& manifest, const Function& function);

/// The names of the functions that aren't hidden.
[[nodiscard]] std::vector<std::string> function_names(const Manifest& manifest);

/// The role of a parameter: that of its fields which are written, else `in`.
[[nodiscard]] Role role_of(const Call& call, const ParameterTree& parameter);

/// Whether calls write elements of a parameter or of one of its fields.
[[nodiscard]] bool is_written(const Call& call, const ParameterTree& parameter);

}  // namespace kf::manifest
