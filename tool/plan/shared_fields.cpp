// Refuses fields that lie where others are written.
#include "plan/shared_fields.h"

#include <vector>

#include "core/field_places.h"
#include "core/items.h"

namespace kf::gen {

Diagnostics check_shared_fields(const PlannedCall& call) {
    std::vector<manifest::ParameterTree> parameters;
    for (const PlannedParameter& parameter : call.parameters) parameters.push_back(parameter.host);
    for (const manifest::Item& item : manifest::items_of(parameters)) {
        if (item.form == manifest::Form::leaf) continue;
        const auto first = call.arguments.begin() + item.leaf;
        std::vector<manifest::Argument> leaves;
        for (auto leaf = first; leaf != first + item.leaves; ++leaf) leaves.push_back(leaf->host);
        const auto shared = manifest::shared_places(leaves, item.size);
        if (!shared) continue;
        const auto one = first + static_cast<std::ptrdiff_t>(shared->first);
        const auto other = first + static_cast<std::ptrdiff_t>(shared->second);
        return {{Severity::error,
                 "host-struct",
                 one->location,
                 "arguments '" + one->host.name + "' and '" + other->host.name +
                     "' lie in the same bytes of the host's struct, and the call writes one of them or its "
                     "gradient",
                 {"members of a union can be read together, not written: leave one out of Slang's struct, or "
                  "pass the fields one by one, {\"fields\": {…}}"}}};
    }
    return {};
}

}  // namespace kf::gen
