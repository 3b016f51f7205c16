// Checks what a launch without elements can have, and names what the GPU gives each thread.
#include "plan/dispatch.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/choose_constants.h"
#include "core/join.h"
#include "plan/candidates.h"
#include "plan/group_extents.h"
#include "plan/kinds/questions.h"

namespace kf::gen {

namespace {

/// A system value, and the kernel's own parameter that has it.
struct KnownValue {
    std::string_view semantic;
    std::string_view name;
    bool is_scalar = false;
};

constexpr std::array<KnownValue, 4> known_values{{{"SV_DISPATCHTHREADID", "kf_id"},
                                                  {"SV_GROUPID", "kf_group"},
                                                  {"SV_GROUPTHREADID", "kf_local"},
                                                  {"SV_GROUPINDEX", "kf_number", true}}};

/// Threads of a group of the first, second and third vector length, where nobody says how many.
constexpr std::array<std::array<std::uint32_t, 3>, 3> usual_groups{{{256, 1, 1}, {16, 16, 1}, {8, 8, 4}}};

bool is_index(const Type& type) {
    const bool shape = type.kind == TypeKind::scalar || (type.kind == TypeKind::vector && type.columns <= 3);
    return shape && !type.is_enum && (type.scalar == ScalarType::uint32 || type.scalar == ScalarType::int32);
}

std::int64_t length_of(const Type& type) { return type.kind == TypeKind::vector ? type.columns : 1; }

/// "int2(kf_id.xy)"
std::string expression_of(const KnownValue& value, const Type& type) {
    std::string text(value.name);
    if (!value.is_scalar) {
        constexpr std::array<std::string_view, 3> parts{".x", ".xy", ""};
        text += parts.at(static_cast<std::size_t>(length_of(type) - 1));
    }
    return type.scalar == ScalarType::uint32 ? text : type.name + "(" + text + ")";
}

Diagnostic dispatch_error(const Location& place, std::string message, std::vector<std::string> notes = {}) {
    return {Severity::error, "dispatch-argument", place, std::move(message), std::move(notes)};
}

std::string how(const CallSpec& call, const PlannedCall& planned) {
    std::string name = "'" + planned.function + "'";
    switch (call.dispatch) {
        case Dispatch::arguments: return name + " is an entry point";
        case Dispatch::threads: return name + R"( is launched by threads ("dispatch": "threads"))";
        case Dispatch::groups: return name + R"( is launched in groups ("dispatch": "groups"))";
    }
    return name;
}

Diagnostics check_arguments(const CallSpec& call, const PlannedCall& planned) {
    Diagnostics errors;
    const std::string launched = how(call, planned);
    for (const PlannedArgument& argument : planned.arguments) {
        if (argument.is_result || argument.host.role != manifest::Role::in) {
            errors.push_back(
                dispatch_error(argument.location,
                               launched + ", whose threads have no element of " +
                                   (argument.is_result ? std::string("a result")
                                                       : "the output '" + argument.host.name + "'") +
                                   " each",
                               {"write to a tensor parameter, such as RWTensor<float, 1>"}));
        } else if (!is_same_for_all_calls(argument.host)) {
            errors.push_back(dispatch_error(argument.location,
                                            launched + ", whose threads share each argument: '" +
                                                argument.host.name + "' has an element for each call",
                                            {"give it as a value, or make it a parameter that is a tensor"}));
        } else if (argument.host.accumulate != manifest::Accumulate::automatic &&
                   argument.host.accumulate != manifest::Accumulate::sum) {
            errors.push_back(dispatch_error(argument.location, launched + ": gradients of '" +
                                                                   argument.host.name +
                                                                   "' can only be summed over its threads"));
        }
    }
    return errors;
}

Diagnostics check_passes(const CallSpec& call, const PlannedCall& planned) {
    Diagnostics errors;
    const auto refuse = [&](bool asked, const Location& place, const std::string& what) {
        if (asked)
            errors.push_back(dispatch_error(
                place, how(call, planned) + ", which this version of kfgen can't give " + what));
    };
    refuse(call.backward.fused, call.backward.location, "a fused pass");
    refuse(!call.accumulate.empty(), call.accumulate.empty() ? Location() : call.accumulate.front().location,
           "other ways to accumulate");
    return errors;
}

std::string size_text(const std::array<std::int64_t, 3>& size) {
    return "[" + std::to_string(size[0]) + ", " + std::to_string(size[1]) + ", " + std::to_string(size[2]) +
           "]";
}

/// "group-size" where constants that run time chooses may say how large groups are, in another way than
/// products.
std::optional<Diagnostic> check_computed(const Function& function, const LinkTime& link) {
    const std::vector<const LinkConstant*> kept = link.kept();
    if (kept.empty() || function.group_text.empty() || function.group_size[0] > 0) return std::nullopt;
    return Diagnostic{Severity::error,
                      "group-size",
                      function.location,
                      "[numthreads(" + join(function.group_text) + ")] of '" + function.name +
                          "' is no product of numbers and constants that are known here, and run time "
                          "chooses '" +
                          kept.front()->name + "'",
                      {"write a product, as in [numthreads(" + kept.front()->name + " * 2, 1, 1)]",
                       "listed at " + format_place(kept.front()->given)}};
}

/// "group-size" for a value that run time is to choose from and that no group can have; others keep their
/// defaults.
std::optional<Diagnostic> check_listed_sizes(const Function& function, const manifest::GroupExtents& extents,
                                             const LinkTime& link) {
    if (extents.empty()) return std::nullopt;
    const std::vector<const LinkConstant*> kept = link.kept();
    for (std::size_t i = 0; i < kept.size(); ++i) {
        std::vector<std::string> values = link.default_values();
        for (const std::string& value : kept[i]->values) {
            values[i] = value;
            const auto size = detail::group_size_with(extents, values);
            if (manifest::is_possible_group(size)) continue;
            return Diagnostic{Severity::error,
                              "group-size",
                              kept[i]->given,
                              "with '" + kept[i]->name + "' = " + value + " '" + function.name +
                                  "' has groups of " + size_text(size) + "; expected " +
                                  manifest::possible_groups,
                              {"declared at " + format_place(function.location)}};
        }
    }
    return std::nullopt;
}

/// Returns the function with the group size that it has when linked so.
Function with_group_size(Function function, const LinkTime& link, PlannedCall& planned) {
    // A size that Slang has found is right, whatever else has a constant's name.
    if (function.group_size[0] > 0) return function;
    planned.group_text = function.group_text;
    if (auto group = linked_group(function.group_text, function.name, link)) {
        function.group_size = group->size;
        planned.group_extents = std::move(group->extents);
    }
    return function;
}

/// Returns the size that the spec and the source state, or the usual one for the length of the thread's id.
Outcome<std::array<std::uint32_t, 3>> stated_size(const CallSpec& call, const Function& function) {
    std::optional<std::array<std::int64_t, 3>> said;
    if (call.threads) said = {call.threads->size[0], call.threads->size[1], call.threads->size[2]};
    const Location place = call.threads ? call.threads->location : call.location;
    const bool declares = function.group_size[0] > 0;
    if (said && declares && *said != function.group_size) {
        return Diagnostic{Severity::error,
                          "group-size",
                          place,
                          "\"threads\" says groups of " + size_text(*said) + ", and '" + function.name +
                              "' has [numthreads] of " + size_text(function.group_size),
                          {"declared at " + format_place(function.location)}};
    }
    if (!said && declares) said = function.group_size;
    if (!said && call.dispatch == Dispatch::threads && function.entry == EntryPoint::none &&
        !function.system_values.empty()) {
        const Type& id = function.system_values.front().type;
        return usual_groups.at(static_cast<std::size_t>(length_of(id) - 1));
    }
    if (!said) {
        return Diagnostic{
            Severity::error,
            "group-size",
            place,
            "nothing says how many threads a group of '" + function.name + "' has" +
                (function.entry == EntryPoint::none
                     ? ""
                     : ": its [numthreads] states no number that is known when generating"),
            {"say it in the call: \"threads\": [16, 16]", "declared at " + format_place(function.location)}};
    }
    const auto& [x, y, z] = *said;
    if (!manifest::is_possible_group(*said)) {
        return Diagnostic{
            Severity::error,
            "group-size",
            place,
            "groups of " + size_text(*said) + " are too large; expected " + manifest::possible_groups,
            {"declared at " + format_place(function.location)}};
    }
    return std::array{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                      static_cast<std::uint32_t>(z)};
}

/// Returns the expression that a kernel gives for a system value, or for a struct of some. `name`: as it is
/// written in the source, "input.id".
std::string launch_expression(const Function& function, const SystemValue& value, const std::string& name,
                              Diagnostics& errors) {
    if (!value.fields.empty()) {
        std::string list;
        for (const SystemValue& field : value.fields) {
            list += (list.empty() ? "{ " : ", ") +
                    launch_expression(function, field, name + "." + field.name, errors);
        }
        return list + " }";
    }
    const bool is_field = name != value.name;
    const std::string_view semantic =
        value.semantic.empty() && !is_field ? std::string_view("SV_DISPATCHTHREADID") : value.semantic;
    const auto known = std::find_if(known_values.begin(), known_values.end(),
                                    [&](const KnownValue& one) { return one.semantic == semantic; });
    const bool fits = known != known_values.end() && is_index(value.type) &&
                      (!known->is_scalar || value.type.kind == TypeKind::scalar);
    if (fits) return expression_of(*known, value.type);
    const std::string subject = is_field ? "'" + name + "', of a parameter" : "parameter '" + name + "'";
    errors.push_back(
        {Severity::error,
         "system-value",
         value.location,
         subject + " of '" + function.name + "' is a " + value.type.name +
             (semantic.empty() ? std::string(" without a semantic, beside fields that have one")
                               : " declared as " + std::string(semantic) + ", which kernels can't be given"),
         {"there are SV_DispatchThreadID, SV_GroupID and SV_GroupThreadID, as uint, uint2 "
          "or uint3, and SV_GroupIndex, as uint"}});
    return {};
}

}  // namespace

Diagnostics check_entry(const CallSpec& call, const std::vector<const Function*>& named) {
    const auto refused = std::find_if(named.begin(), named.end(), [](const Function* function) {
        return function->entry == EntryPoint::other || function->entry == EntryPoint::by_macros;
    });
    if (refused != named.end()) {
        const bool macros = (*refused)->entry == EntryPoint::by_macros;
        return {Diagnostic{
            Severity::error,
            "function-entry-point",
            call.function_location,
            "'" + call.written() + "' is an entry point " +
                (macros ? "whose attributes a macro writes, which kfgen can't read"
                        : "of another pipeline than compute, or a function of the host"),
            {"declared at " + format_place((*refused)->location),
             macros ? "write [shader(\"compute\")] and [numthreads(…)] out, at the function"
                    : "kfgen launches [shader(\"compute\")] and [CUDAKernel]; what the host does around a "
                      "launch is up to the program: list the kernel that it launches"}}};
    }
    Diagnostics errors;
    if (call.dispatch != Dispatch::arguments) return errors;
    for (const Function* function : named) {
        if (function->entry == EntryPoint::compute) continue;
        for (const SystemValue& value : function->system_values) {
            errors.push_back(
                {Severity::error,
                 "system-value",
                 value.location,
                 "parameter '" + value.name + "' of '" + function->name + "' is declared as " +
                     value.semantic + ", which only entry points are given",
                 {"leave the semantic out; a call learns its own index from an argument of the kind call_id "
                  "or thread_id",
                  R"(or give the call "dispatch": "threads", or the function [shader("compute")])"}});
        }
    }
    return errors;
}

Outcome<std::vector<Function>> with_thread_ids(const CallSpec& call, const std::vector<Function>& functions) {
    std::vector<Function> changed = functions;
    std::optional<Diagnostic> error;
    bool any = false;
    for (Function& function : changed) {
        if (!is_named(function, call) || function.entry != EntryPoint::none) continue;
        const bool has_value = !function.system_values.empty() && function.system_values.front().before == 0;
        if (has_value) {
            any = true;
            continue;
        }
        const std::size_t first = function.member == Member::method ? 1 : 0;
        if (function.parameters.size() <= first || !is_index(function.parameters[first].type) ||
            function.parameters[first].direction != Direction::in) {
            error = Diagnostic{
                Severity::error,
                "dispatch-thread-id",
                call.function_location,
                (call.dispatch == Dispatch::groups ? R"("dispatch": "groups")" : R"("dispatch": "threads")") +
                    std::string(" gives the first parameter of '") + function.name +
                    "' the thread's id, and it is no uint, uint2 or uint3",
                {"declared as " + signature(function) + " at " + format_place(function.location)}};
            continue;
        }
        any = true;
        const Parameter& id = function.parameters[first];
        function.system_values.insert(function.system_values.begin(),
                                      {id.name, {}, id.type, first, function.location});
        for (SystemValue& value : function.system_values) {
            if (value.before > first) --value.before;
        }
        function.parameters.erase(function.parameters.begin() + static_cast<std::ptrdiff_t>(first));
    }
    if (error && !any) return *error;
    return changed;
}

manifest::Dispatch dispatch_of(const CallSpec& call, const Function& function) {
    if (function.entry == EntryPoint::compute) return manifest::Dispatch::groups;
    switch (call.dispatch) {
        case Dispatch::arguments: break;
        case Dispatch::threads: return manifest::Dispatch::threads;
        case Dispatch::groups: return manifest::Dispatch::groups;
    }
    return manifest::Dispatch::elements;
}

Diagnostics plan_dispatch(const CallSpec& call, const Function& declared, const LinkTime& link,
                          PlannedCall& planned) {
    planned.rank = 3;
    const Function function = with_group_size(declared, link, planned);
    Diagnostics errors = check_arguments(call, planned);
    const Diagnostics passes = check_passes(call, planned);
    errors.insert(errors.end(), passes.begin(), passes.end());
    if (auto computed = check_computed(function, link)) {
        errors.push_back(std::move(*computed));
        return errors;
    }
    if (!planned.group_extents.empty() && call.backward.enabled) {
        errors.push_back(dispatch_error(call.backward.location,
                                        "run time chooses the group size of '" + function.name +
                                            "', for which this version of kfgen makes no derivatives"));
    }
    if (auto too_large = check_listed_sizes(function, planned.group_extents, link)) {
        errors.push_back(std::move(*too_large));
        return errors;
    }
    const Outcome<std::array<std::uint32_t, 3>> size = stated_size(call, function);
    if (!size) {
        errors.insert(errors.end(), size.errors().begin(), size.errors().end());
    } else {
        planned.group_size = size.value();
        planned.declares_group_size = function.group_size[0] > 0;
    }
    for (const SystemValue& value : function.system_values) {
        const std::string expression = launch_expression(function, value, value.name, errors);
        planned.launch_values.push_back({value.before, value.type.name, expression, !value.fields.empty()});
    }
    return errors;
}

}  // namespace kf::gen
