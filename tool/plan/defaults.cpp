// Cuts parameters off.
#include "plan/defaults.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "plan/candidates.h"
#include "plan/host_call.h"
#include "spec/operators.h"

namespace kf::gen {

namespace {

bool lists(const CallSpec& call, const std::string& parameter) {
    return std::any_of(call.arguments.begin(), call.arguments.end(),
                       [&](const ArgumentSpec& argument) { return argument.name == parameter; });
}

/// How many of the last parameters have default values.
std::size_t default_count(const Function& function) {
    const auto first = std::find_if(function.parameters.rbegin(), function.parameters.rend(),
                                    [](const Parameter& parameter) { return !parameter.has_default; });
    return static_cast<std::size_t>(first - function.parameters.rbegin());
}

/// How many of the last parameters the call leaves out; 0 where it lists others than the rest of them.
std::size_t left_out(const CallSpec& call, const Function& function) {
    const std::size_t all = function.parameters.size();
    if (call.arguments.size() >= all || all - call.arguments.size() > default_count(function)) return 0;
    const std::size_t left = all - call.arguments.size();
    const auto end = function.parameters.end() - static_cast<std::ptrdiff_t>(left);
    const bool rest = std::all_of(function.parameters.begin(), end,
                                  [&](const Parameter& parameter) { return lists(call, parameter.name); });
    return rest ? left : 0;
}

/// The function without so many of its last parameters. Kernels call it through one of their own, which
/// leaves out what the call does, and whose derivative has the arguments that there are.
Function without_last(Function function, std::size_t count) {
    function.parameters.resize(function.parameters.size() - count);
    function.left_out += static_cast<std::int64_t>(count);
    function.is_overload = true;
    return function;
}

/// Whether hosts can make one call that means both: by what they give, or with what the result is written to.
bool are_called_alike(const PlannedCall& one, const PlannedCall& other) {
    for (const bool of_one : {false, true}) {
        for (const bool of_other : {false, true}) {
            if (given_types(one, of_one) == given_types(other, of_other)) return true;
        }
    }
    return false;
}

/// `rival`: what such a call could mean as well.
Diagnostic ambiguous(const ShorterOverload& other, const std::string& rival) {
    std::string types;
    for (const std::string& type : given_types(other.planned, false))
        types += (types.empty() ? "" : ", ") + type;
    return {Severity::warning,
            "default-ambiguous",
            other.planned.location,
            "'" + other.name + "' has no call with (" + types + ") alone: it could mean several functions",
            {other.function, rival, "give one of the calls a \"name\" of its own"}};
}

}  // namespace

std::vector<Function> with_defaults(const CallSpec& call, const Module& module,
                                    const std::vector<Function>& shared) {
    std::vector<const Function*> named;
    const bool states_generics = has_generic_arguments(call.function);
    for (const Function& function : module.functions) {
        const bool takes_generics = function.is_generic() || is_specialised(function);
        if (is_named(function, call) && (takes_generics || !states_generics)) named.push_back(&function);
    }
    for (const Function& function : shared) named.push_back(&function);
    std::vector<Function> shortened;
    for (const Function* function : named) {
        const std::size_t left = left_out(call, *function);
        if (left > 0) shortened.push_back(without_last(*function, left));
    }
    return shortened;
}

std::vector<ShorterCall> shorter_calls(const CallSpec& call, const Fit& fit) {
    std::vector<ShorterCall> calls;
    // The y of backward(x, y) would be k of f(x, k), or the result of f(x).
    if (call.backward.enabled || call.forward_diff) return calls;
    ShorterCall shorter{call, *fit.candidate};
    const std::vector<Parameter>& parameters = fit.candidate->parameters;
    for (ArgumentSpec& argument : shorter.call.arguments) {
        const auto parameter = std::ranges::find(parameters, argument.name, &Parameter::name);
        argument.alternatives = {*fit.kinds[static_cast<std::size_t>(parameter - parameters.begin())]};
    }
    if (const KindSpec* result = fit.kinds.back()) shorter.call.result = {*result};
    for (std::size_t left = default_count(*fit.candidate); left > 0; --left) {
        std::erase_if(shorter.call.arguments, [&](const ArgumentSpec& argument) {
            return argument.name == shorter.function.parameters.back().name;
        });
        shorter.function = without_last(std::move(shorter.function), 1);
        calls.push_back(shorter);
    }
    return calls;
}

const Function* find_rival(const Function& shorter, const Module& module) {
    const std::size_t count = shorter.parameters.size();
    const auto rival = std::ranges::find_if(module.functions, [&](const Function& function) {
        const std::size_t all = function.parameters.size();
        const auto has_type = [](const Parameter& one, const Parameter& other) {
            return one.type.name == other.type.name;
        };
        return function.name == shorter.name && function.location != shorter.location && all >= count &&
               all - count <= default_count(function) &&
               std::equal(shorter.parameters.begin(), shorter.parameters.end(), function.parameters.begin(),
                          function.parameters.begin() + static_cast<std::ptrdiff_t>(count), has_type);
    });
    return rival == module.functions.end() ? nullptr : &*rival;
}

Diagnostics add_shorter(Plan& plan, std::vector<ShorterOverload> overloads) {
    const auto is_known = [&](const ShorterOverload& one) {
        return std::ranges::any_of(plan.functions, [&](const PlannedFunction& function) {
            return function.name == host_name(one.planned, one.name) &&
                   std::ranges::any_of(function.calls, [&](const PlannedCall& call) {
                       return are_called_alike(call, one.planned);
                   });
        });
    };
    std::erase_if(overloads, is_known);
    Diagnostics warnings;
    for (const ShorterOverload& one : overloads)
        if (!one.rival.empty()) add_distinct(warnings, {ambiguous(one, one.rival)});
    std::erase_if(overloads, [](const ShorterOverload& one) { return !one.rival.empty(); });
    std::vector<bool> added(overloads.size(), true);
    for (std::size_t i = 0; i < overloads.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            const bool alike = host_name(overloads[i].planned, overloads[i].name) ==
                                   host_name(overloads[k].planned, overloads[k].name) &&
                               are_called_alike(overloads[i].planned, overloads[k].planned);
            if (!alike) continue;
            added[i] = false;
            if (overloads[i].function == overloads[k].function) continue;
            added[k] = false;
            add_distinct(warnings, {ambiguous(overloads[i], overloads[k].function)});
        }
    }
    for (std::size_t i = 0; i < overloads.size(); ++i) {
        if (added[i]) add_call(plan, overloads[i].name, "", std::move(overloads[i].planned));
    }
    return warnings;
}

}  // namespace kf::gen
