// Cuts parameters off.
#include "plan/defaults.h"

#include <algorithm>
#include <string>

#include "plan/candidates.h"

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

bool lists_all(const CallSpec& call, const Function& function) {
    return call.arguments.size() == function.parameters.size() &&
           std::all_of(function.parameters.begin(), function.parameters.end(),
                       [&](const Parameter& parameter) { return lists(call, parameter.name); });
}

}  // namespace

std::vector<Function> with_defaults(const CallSpec& call, const Module& module,
                                    const std::vector<Function>& shared) {
    std::vector<const Function*> named;
    for (const Function& function : module.functions) {
        if (is_named(function, call)) named.push_back(&function);
    }
    for (const Function& function : shared) named.push_back(&function);
    std::vector<Function> shortened;
    if (std::any_of(named.begin(), named.end(),
                    [&](const Function* function) { return lists_all(call, *function); }))
        return shortened;
    for (const Function* function : named) {
        const std::size_t left = left_out(call, *function);
        if (left == 0) continue;
        Function& shorter = shortened.emplace_back(*function);
        shorter.parameters.resize(shorter.parameters.size() - left);
        // Kernels call it through a function of their own, whose derivative has the arguments that there are.
        shorter.is_overload = true;
    }
    return shortened;
}

std::vector<CallSpec> shorter_calls(const CallSpec& call, const std::vector<const Function*>& candidates) {
    std::vector<CallSpec> calls;
    // The y of backward(x, y) would be k of f(x, k), or the result of f(x).
    if (call.backward.enabled || call.forward_diff) return calls;
    const std::vector<Parameter>& parameters = candidates.front()->parameters;
    for (std::size_t left = 1; left <= parameters.size(); ++left) {
        const std::string& name = parameters[parameters.size() - left].name;
        const bool all = std::all_of(candidates.begin(), candidates.end(), [&](const Function* function) {
            return default_count(*function) >= left && function->parameters.size() == parameters.size() &&
                   function->parameters[parameters.size() - left].name == name;
        });
        if (!all || !lists(call, name)) break;
        CallSpec shorter = calls.empty() ? call : calls.back();
        std::erase_if(shorter.arguments, [&](const ArgumentSpec& argument) { return argument.name == name; });
        calls.push_back(std::move(shorter));
    }
    return calls;
}

}  // namespace kf::gen
