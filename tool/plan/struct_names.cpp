// Compares structs of one name by their fields.
#include "plan/struct_names.h"

#include <algorithm>
#include <map>
#include <string>

namespace kf::gen {

namespace {

bool has_same_fields(const Type& one, const Type& other) {
    return std::equal(one.fields.begin(), one.fields.end(), other.fields.begin(), other.fields.end(),
                      [](const Field& a, const Field& b) {
                          return a.name == b.name && a.type.kind == b.type.kind && a.type.name == b.type.name;
                      });
}

class Comparison {
public:
    void add(const PlannedCall& call) {
        for (const PlannedParameter& parameter : call.parameters) add(parameter.type, call);
        for (const PlannedArgument& argument : call.arguments) add(argument.type, call);
    }

    [[nodiscard]] Diagnostics take() { return std::move(errors_); }

private:
    void add(const Type& type, const PlannedCall& call) {
        for (const Type& element : type.element) add(element, call);
        for (const Field& field : type.fields) add(field.type, call);
        if (type.kind != TypeKind::structure) return;
        const auto [known, is_new] = known_.try_emplace(type.name, &type, &call);
        if (is_new || has_same_fields(*known->second.first, type)) return;
        const PlannedCall& before = *known->second.second;
        const Diagnostic error{Severity::error,
                               "struct-name",
                               call.location,
                               "'" + type.name + "' of the function '" + call.function +
                                   "' is another struct than that of '" + before.function +
                                   "': the host would have one class for both",
                               {"the other call is at " + format_place(before.location),
                                "rename one of the structs, or put the calls into two specs"}};
        const bool said = std::any_of(errors_.begin(), errors_.end(), [&](const Diagnostic& other) {
            return other.location == error.location && other.message == error.message;
        });
        if (!said) errors_.push_back(error);
    }

    std::map<std::string, std::pair<const Type*, const PlannedCall*>> known_;
    Diagnostics errors_;
};

}  // namespace

Diagnostics check_struct_names(const Plan& plan) {
    Comparison comparison;
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) comparison.add(call);
    }
    return comparison.take();
}

}  // namespace kf::gen
