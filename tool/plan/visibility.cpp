// Finds functions and fields in calls that aren't public.
#include "plan/visibility.h"

#include <algorithm>
#include <set>
#include <string>

#include "slang/older_names.h"
#include "spec/names.h"

namespace kf::gen {

namespace {

void collect_fields(const Type& type, std::set<std::pair<std::string, std::string>>& fields) {
    for (const Type& element : type.element) collect_fields(element, fields);
    for (const Field& field : type.fields) {
        fields.emplace(plain_name(type.name), field.name);
        collect_fields(field.type, fields);
    }
}

/// A user may have a struct of that name, with other fields.
bool is_unknown_tensor(const Type& type) {
    if (type.kind != TypeKind::structure || !is_foreign_tensor(type.name)) return false;
    return type.fields.empty() || type.fields.front().name == "_view" ||
           (type.name.starts_with("DiffTensorView") &&
            (type.fields.front().name == "diff" || type.fields.front().name == "primal"));
}

}  // namespace

Diagnostics check_public(const std::vector<const Function*>& candidates) {
    // Slang leaves those out that it may not call.
    const bool closed = std::all_of(candidates.begin(), candidates.end(),
                                    [](const Function* function) { return function->is_closed; });
    if (!closed || candidates.empty()) return {};
    const Function& function = *candidates.front();
    return {{Severity::error,
             "function-not-public",
             function.location,
             "'" + function.name + "' is not public, and kernels have to call it",
             {"write 'public' before it: " + std::string(why_closed)}}};
}

Diagnostics check_tensor_types(const CallSpec& call, const std::vector<const Function*>& candidates) {
    for (const Function* function : candidates) {
        for (const gen::Parameter& parameter : function->parameters) {
            if (!is_unknown_tensor(parameter.type)) continue;
            const auto listed =
                std::find_if(call.arguments.begin(), call.arguments.end(),
                             [&](const ArgumentSpec& argument) { return argument.name == parameter.name; });
            return {{Severity::error,
                     "type-not-supported",
                     listed != call.arguments.end() ? listed->location : call.function_location,
                     "argument '" + parameter.name + "': a '" + parameter.type.name +
                         "' can't be given a tensor of the host's",
                     {tensor_cure(parameter.type.name)}}};
        }
    }
    return {};
}

Diagnostics check_fields(const PlannedCall& call, const Module& module) {
    Diagnostics errors;
    if (module.closed_fields.empty()) return errors;
    std::set<std::pair<std::string, std::string>> used;
    for (const PlannedParameter& parameter : call.parameters) collect_fields(parameter.type, used);
    for (const PlannedArgument& argument : call.arguments) collect_fields(argument.type, used);
    for (const HiddenField& field : module.closed_fields) {
        if (!used.contains({field.type, field.name})) continue;
        errors.push_back(
            {Severity::error,
             "field-not-public",
             field.location,
             "field '" + field.name + "' of '" + field.type + "' is not public, and kernels have to name it",
             {"write 'public' before it, and before its type where that is one of the module's own"}});
    }
    return errors;
}

}  // namespace kf::gen
