// Plans globals as parameters of kernels.
#include "plan/globals.h"

#include <algorithm>
#include <optional>

#include "plan/structs.h"

namespace kf::gen {

namespace {

/// What the host sets for it: a whole tensor for a tensor, else a value.
KindSpec kind_of(const GlobalParameter& global) {
    KindSpec kind;
    const bool tensor = global.type.kind == TypeKind::tensor;
    kind.kind = tensor ? Kind::tensor : Kind::value;
    kind.rank = tensor ? static_cast<int>(global.type.extent) : 0;
    kind.spelling = tensor ? "tensor[" + std::to_string(kind.rank) + "]" : "value";
    kind.location = global.location;
    return kind;
}

Outcome<PlannedGlobal> plan_global(const GlobalParameter& global) {
    const TreeTarget target{
        {manifest::global_name(global.name), global.type, manifest::Role::in, global.location},
        true,
        true,
        false,
        false};
    Outcome<FedTree> fed = feed_tree(kind_of(global), target, 0);
    if (!fed) {
        Diagnostics errors;
        for (const Diagnostic& error : fed.errors()) {
            errors.push_back({Severity::error, "global-parameter", global.location,
                              "'" + global.name + "' is a global of type '" + global.type.name +
                                  "', which this version of kfgen can't set: " + error.message,
                              error.notes});
        }
        return errors;
    }
    PlannedGlobal planned;
    planned.name = global.name;
    planned.doc = global.doc;
    planned.parameter = {fed.value().host, global.type, manifest::Role::in, true};
    planned.arguments = std::move(fed.value().leaves);
    return planned;
}

void move_leaves(manifest::ParameterTree& tree, std::int64_t by) {
    tree.leaf += by;
    for (manifest::ParameterTree& field : tree.fields) move_leaves(field, by);
}

}  // namespace

Diagnostics add_globals(Plan& plan, const ReachedGlobals& reached,
                        const std::vector<GlobalParameter>& globals) {
    Diagnostics errors;
    std::map<std::string, std::optional<PlannedGlobal>> planned;
    for (PlannedFunction& function : plan.functions) {
        for (PlannedCall& call : function.calls) {
            const auto places = reached.find(&call);
            if (places == reached.end()) continue;
            for (const GlobalParameter& global : globals) {
                const auto& listed = places->second;
                if (std::find(listed.begin(), listed.end(), global.location) == listed.end()) continue;
                auto known = planned.find(global.name);
                if (known == planned.end()) {
                    Outcome<PlannedGlobal> made = plan_global(global);
                    if (!made) errors.insert(errors.end(), made.errors().begin(), made.errors().end());
                    known = planned
                                .emplace(global.name,
                                         made ? std::optional(std::move(made.value())) : std::nullopt)
                                .first;
                }
                if (known->second) call.globals.push_back(*known->second);
            }
        }
    }
    return errors;
}

PlannedCall with_globals(const PlannedCall& call) {
    PlannedCall merged = call;
    merged.globals.clear();
    for (const PlannedGlobal& global : call.globals) {
        merged.parameters.push_back(global.parameter);
        merged.parameters.back().global = global.name;
        move_leaves(merged.parameters.back().host, static_cast<std::int64_t>(merged.arguments.size()));
        merged.arguments.insert(merged.arguments.end(), global.arguments.begin(), global.arguments.end());
    }
    return merged;
}

Plan with_globals(const Plan& plan) {
    Plan merged = plan;
    for (PlannedFunction& function : merged.functions) {
        for (PlannedCall& call : function.calls) call = with_globals(call);
    }
    return merged;
}

}  // namespace kf::gen
