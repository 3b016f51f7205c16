// Which of a module's functions a call of the spec can mean.
#include "plan/candidates.h"

#include <algorithm>
#include <set>

#include "diagnostic/suggest.h"
#include "plan/dispatch.h"
#include "plan/module_hints.h"
#include "plan/shared_members.h"
#include "plan/type_text.h"
#include "spec/names.h"
#include "spec/operators.h"

namespace kf::gen {

namespace {

std::vector<std::string> names_of_parameters(const Function& function) {
    std::vector<std::string> names;
    for (const Parameter& parameter : function.parameters) names.push_back(parameter.name);
    return names;
}

bool lists_exactly(const CallSpec& call, const Function& function) {
    std::multiset<std::string> listed;
    for (const ArgumentSpec& argument : call.arguments) listed.insert(argument.name);
    const std::vector<std::string> names = names_of_parameters(function);
    return listed == std::multiset<std::string>(names.begin(), names.end());
}

std::string generics_text(const Function& function) {
    std::string text;
    for (const GenericParameter& generic : function.generics) {
        text += text.empty() ? "<" : ", ";
        text += (generic.value_type.empty() ? "" : "let ") + generic.name;
        if (!generic.value_type.empty()) text += " : " + generic.value_type;
        for (std::size_t i = 0; i < generic.constraints.size(); ++i) {
            text += (i == 0 ? " : " : " & ") + generic.constraints[i];
        }
    }
    return text.empty() ? text : text + ">";
}

bool gives_this(const CallSpec& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(),
                       [](const ArgumentSpec& argument) { return argument.name == "this"; });
}

/// Returns the names that "args" lists.
std::vector<std::string> listed_names(std::vector<std::string> names) {
    std::erase(names, "this");
    return names;
}

bool has_default(const Function& function, const std::string& name) {
    return std::any_of(
        function.parameters.begin(), function.parameters.end(),
        [&](const Parameter& parameter) { return parameter.name == name && parameter.has_default; });
}

/// Returns the errors in the listed arguments, told against the only function they can mean.
Diagnostics mismatches(const CallSpec& call, const Function& function) {
    Diagnostics errors;
    const std::vector<std::string> names = names_of_parameters(function);
    for (const ArgumentSpec& argument : call.arguments) {
        if (std::find(names.begin(), names.end(), argument.name) != names.end()) continue;
        const auto given =
            std::find_if(function.system_values.begin(), function.system_values.end(),
                         [&](const SystemValue& value) { return value.name == argument.name; });
        if (given != function.system_values.end()) {
            errors.push_back({Severity::error,
                              "argument-unknown",
                              argument.location,
                              "'" + argument.name + "' is no argument of '" + call.written() +
                                  "': a GPU gives it to each thread",
                              {"leave it out of \"args\"; how many threads there are is said in each call"}});
            continue;
        }
        errors.push_back({Severity::error, "argument-unknown", argument.location,
                          "function '" + call.written() + "' has no parameter '" + argument.name + "'",
                          suggestion_notes(argument.name, "parameters", listed_names(names))});
    }
    for (const std::string& name : names) {
        const bool listed = std::any_of(call.arguments.begin(), call.arguments.end(),
                                        [&](const ArgumentSpec& argument) { return argument.name == name; });
        if (listed) continue;
        errors.push_back(
            {Severity::error,
             "argument-missing",
             call.location,
             "parameter '" + name + "' of function '" + call.written() + "' has no kind in \"args\"",
             {"declared as " + signature(function)}});
        if (has_default(function, name))
            errors.back().notes.emplace_back(
                "it has a default value, but only the last parameters may be left out");
    }
    return errors;
}

}  // namespace

bool is_specialised(const Function& function) { return has_generic_arguments(function.name); }

bool is_named(const Function& function, const CallSpec& call) {
    if (!is_specialised(function)) return function.name == plain_name(call.function);
    const std::optional<TypeText> own = parse_type(function.name);
    std::optional<TypeText> meant = parse_type(call.function);
    // The arguments of the last name are for the function's own parameters.
    if (meant && function.is_generic() && meant->name == ".") meant->arguments.back().arguments.clear();
    return own && own == meant;
}

std::string signature(const Function& function) {
    std::string text = function.result.name.empty() ? "void" : function.result.name;
    text += " " + function.name + generics_text(function) + "(";
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const Parameter& parameter = function.parameters[i];
        if (i > 0) text += ", ";
        if (parameter.direction == Direction::out) text += "out ";
        if (parameter.direction == Direction::inout) text += "inout ";
        text += parameter.type.name + " " + parameter.name;
    }
    return text + ")";
}

std::vector<std::string> candidate_notes(const std::vector<const Function*>& functions) {
    std::vector<std::string> notes;
    for (const Function* function : functions) {
        notes.push_back("candidate: " + signature(*function) + " at " + function->location.file + ":" +
                        std::to_string(function->location.line));
    }
    return notes;
}

Outcome<std::vector<const Function*>> find_candidates(const CallSpec& call, const Module& module,
                                                      const std::vector<Function>& more, TypeLookup& types) {
    std::vector<const Function*> named;
    std::set<std::string> known;
    const std::string name = plain_name(call.function);
    for (const Function& function : module.functions) {
        known.insert(function.name);
        if (is_named(function, call)) named.push_back(&function);
    }
    for (const Function& function : more) named.push_back(&function);
    if (named.empty()) {
        const Outcome<KnownMembers> members = known_members(call, module, types);
        if (!members) return members.errors();
        const std::vector<std::string>& shared = members.value().names;
        known.insert(shared.begin(), shared.end());
        // The names of shared members have the type's generic arguments.
        const std::optional<TypeText> meant = parse_type(call.function);
        const bool near = meant && closest(spelled(*meant), shared);
        Diagnostic error{
            Severity::error, "function-unknown", call.function_location,
            call.module.empty() ? "no function '" + call.function + "' in the spec's modules"
                                : "no function '" + call.function + "' in the module '" + call.module + "'",
            suggestion_notes(near ? spelled(*meant) : name, "functions", {known.begin(), known.end()})};
        const std::string first = name_parts(name).front() + ".";
        const bool begins_known = near || members.value().has_type ||
                                  std::any_of(known.begin(), known.end(),
                                              [&](const std::string& one) { return one.starts_with(first); });
        const std::vector<std::string> hints = module_notes(call, module, begins_known);
        error.notes.insert(error.notes.begin(), hints.begin(), hints.end());
        if (const std::string& open = members.value().open; !open.empty()) {
            error.notes.insert(error.notes.begin(),
                               "'" + open + "' is generic: its members are called with its arguments");
        }
        return error;
    }
    const Diagnostics entry = check_entry(call, named);
    if (!entry.empty()) return entry;
    std::vector<const Function*> callable;
    const bool on_object = gives_this(call);
    std::copy_if(named.begin(), named.end(), std::back_inserter(callable),
                 [&](const Function* function) { return (function->member == Member::method) == on_object; });
    if (callable.empty()) {
        return Diagnostic{Severity::error, "function-method", call.function_location,
                          on_object ? "'" + call.written() + "' is no method: it takes no \"this\""
                                    : "'" + call.written() + "' is a method: it needs a kind for \"this\"",
                          candidate_notes(named)};
    }
    if (has_generic_arguments(call.function)) {
        std::erase_if(callable, [&](const Function* function) {
            const bool chosen =
                std::any_of(more.begin(), more.end(), [&](const Function& one) { return &one == function; });
            return !function->is_generic() && !is_specialised(*function) && !chosen;
        });
        if (callable.empty()) {
            return Diagnostic{
                Severity::error, "generic-argument", call.function_location,
                "'" + call.written() + "' states generic arguments, but '" + name + "' is not generic",
                candidate_notes(named)};
        }
    }
    std::vector<const Function*> fitting;
    std::copy_if(callable.begin(), callable.end(), std::back_inserter(fitting),
                 [&](const Function* function) { return lists_exactly(call, *function); });
    if (!fitting.empty()) return fitting;
    if (callable.size() == 1) return mismatches(call, *callable.front());
    return Diagnostic{Severity::error, "argument-unknown", call.function_location,
                      "no overload of '" + call.written() + "' has the parameters that \"args\" lists",
                      candidate_notes(callable)};
}

}  // namespace kf::gen
