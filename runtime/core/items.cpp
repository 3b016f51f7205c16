// What the host passes for a call, one by one.
#include "core/items.h"

#include <algorithm>
#include <span>

#include "core/kinds/questions.h"

namespace kf::manifest {
namespace {

void add_items(const ParameterTree& parameter, std::vector<Item>& items) {
    if (parameter.form == Form::fields) {
        for (const ParameterTree& field : parameter.fields) {
            add_items(field, items);
        }
        return;
    }
    items.push_back({parameter.leaf, parameter.leaves, parameter.form,
                     parameter.form == Form::leaf ? 0 : byte_size(parameter)});
}

}  // namespace

std::vector<Item> items_of(const std::vector<ParameterTree>& parameters) {
    std::vector<Item> items;
    for (const ParameterTree& parameter : parameters) {
        add_items(parameter, items);
    }
    return items;
}

std::int64_t byte_size(const ParameterTree& parameter) {
    std::int64_t size = parameter.size;
    for (const std::int64_t extent : parameter.extents) {
        size *= extent;
    }
    return size;
}

bool is_jvp(const Function& function) {
    return std::any_of(function.calls.begin(), function.calls.end(), [](const Call& call) {
        return std::any_of(call.arguments.begin(), call.arguments.end(),
                           [](const Argument& argument) { return argument.tangent_of >= 0; });
    });
}

bool is_hidden(const Manifest& manifest, const Function& function) {
    const std::int64_t own = &function - manifest.functions.data();
    return is_jvp(function) || (!function.chosen.empty() && function.chosen.front() != own) ||
           std::any_of(function.option_sets.begin(), function.option_sets.end(),
                       [&](const OptionSet& set) { return set.function == own; });
}

std::vector<std::string> function_names(const Manifest& manifest) {
    std::vector<std::string> names;
    for (const Function& function : manifest.functions) {
        if (!is_hidden(manifest, function)) names.push_back(function.name);
    }
    return names;
}

Role role_of(const Call& call, const ParameterTree& parameter) {
    for (std::int64_t i = parameter.leaf; i < parameter.leaf + parameter.leaves; ++i) {
        const Role role = call.arguments[static_cast<std::size_t>(i)].role;
        if (role != Role::in) {
            return role;
        }
    }
    return Role::in;
}

bool is_written(const Call& call, const ParameterTree& parameter) {
    const std::span leaves(call.arguments);
    return std::ranges::any_of(
        leaves.subspan(static_cast<std::size_t>(parameter.leaf), static_cast<std::size_t>(parameter.leaves)),
        [](const Argument& leaf) { return writes_elements(leaf); });
}

}  // namespace kf::manifest
