// Checks every gradient of an artifact on a device.
#include "check/gradients.h"

#include <kf/device.h>
#include <kf/error.h>
#include <kf/module.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "check/argument_data.h"
#include "check/call_check.h"
#include "check/kernel_code.h"
#include "check/kernel_log.h"
#include "check/kinds/questions.h"
#include "check/own_derivatives.h"
#include "check/tangent_check.h"
#include "core/bind_error.h"
#include "core/convert.h"
#include "core/describe.h"
#include "core/items.h"
#include "core/join.h"
#include "core/module_state.h"

namespace kf::check {
namespace {

using manifest::Argument;
using manifest::Role;

void check_names(const manifest::Manifest& manifest, const Settings& settings) {
    for (const std::string& name : settings.except) {
        const bool known = std::any_of(
            manifest.functions.begin(), manifest.functions.end(), [&](const manifest::Function& function) {
                return function.name == name ||
                       std::any_of(function.calls.begin(), function.calls.end(), [&](const auto& call) {
                           return std::any_of(call.arguments.begin(), call.arguments.end(),
                                              [&](const Argument& argument) {
                                                  return name == function.name + "." + argument.name;
                                              });
                       });
            });
        if (known) continue;
        throw ArgumentError(ErrorCode::unknown_name, "--except: '" + manifest.name + "' has no function '" +
                                                         name + "'; it has " +
                                                         join(manifest::function_names(manifest)));
    }
}

/// "f.x of 1, f.y of 2": each tensor that --shape may name, with its dimensions.
std::string tensor_names(const manifest::Manifest& manifest) {
    std::vector<std::string> names;
    for (const manifest::Function& function : manifest.functions) {
        if (manifest::is_hidden(manifest, function)) continue;
        for (const manifest::Call& call : function.calls) {
            for (const Argument& argument : call.arguments) {
                const GivenShape shape{function.name + "." + argument.name,
                                       std::vector<std::int64_t>(static_cast<std::size_t>(argument.rank), 1)};
                if (argument.rank == 0 || !is_meant(shape, function, argument)) continue;
                const std::string name = shape.argument + " of " + std::to_string(argument.rank);
                if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
            }
        }
    }
    return names.empty() ? "none" : join(names);
}

void check_shapes(const manifest::Manifest& manifest, const Settings& settings) {
    for (const GivenShape& shape : settings.shapes) {
        bool meant = false;
        for (const manifest::Function& function : manifest.functions) {
            for (const manifest::Call& call : function.calls) {
                for (const Argument& argument : call.arguments) {
                    meant = meant || is_meant(shape, function, argument);
                }
            }
        }
        if (meant) continue;
        throw ArgumentError(ErrorCode::unknown_name, "--shape: '" + manifest.name + "' has no tensor '" +
                                                         shape.argument + "' of " +
                                                         std::to_string(shape.extents.size()) +
                                                         " dimensions; it has " + tensor_names(manifest));
    }
}

void add_kernels(const manifest::Call& call, std::set<std::int64_t>& kernels) {
    for (const manifest::Pass& pass :
         {call.backward, call.deterministic, call.fused, call.fused_deterministic}) {
        for (const auto& [variant, index] : pass.kernels()) {
            if (index >= 0) kernels.insert(index);
        }
    }
}

/// Forward derivatives go with the function that they are of: "polynomial" stands for "polynomial.jvp" too.
bool is_left_out(const manifest::Function& function, bool is_jvp, const Settings& settings) {
    std::string name = function.name.substr(0, function.name.find(".accumulate("));
    if (is_jvp && name == function.name) name = name.substr(0, name.rfind('.'));
    return std::find(settings.except.begin(), settings.except.end(), name) != settings.except.end();
}

/// Whether gradients are sums over all calls, as derivatives are, of what the outputs hold.
bool is_derivative(const manifest::Function& function) {
    return std::all_of(function.calls.begin(), function.calls.end(), [](const manifest::Call& call) {
        return std::all_of(call.arguments.begin(), call.arguments.end(), [&](const Argument& argument) {
            const bool refuses = argument.accumulate == manifest::Accumulate::none &&
                                 argument.role != Role::in && argument.call_rank == call.rank;
            return argument.accumulate == manifest::Accumulate::automatic ||
                   manifest::is_combined(argument) || refuses;
        });
    });
}

bool has_backward(const manifest::Function& function) {
    return std::any_of(function.calls.begin(), function.calls.end(),
                       [](const manifest::Call& call) { return call.has_backward; });
}

/// Whether a way to accumulate is left out: all that can be checked are; where none can, one is listed.
bool is_passed_over(const manifest::Manifest& manifest, const manifest::Function& function) {
    if (manifest::is_jvp(function)) {
        const std::int64_t own = &function - manifest.functions.data();
        const auto base = std::find_if(manifest.functions.begin(), manifest.functions.end(),
                                       [&](const manifest::Function& one) { return one.jvp == own; });
        return !is_derivative(function) ||
               (base != manifest.functions.end() && is_passed_over(manifest, *base));
    }
    if (function.chosen.empty()) return false;
    const auto of = [&](std::int64_t index) -> const manifest::Function& {
        return manifest.functions[static_cast<std::size_t>(index)];
    };
    const bool listed = &function == &of(function.chosen.front());
    const bool any = std::any_of(function.chosen.begin(), function.chosen.end(),
                                 [&](std::int64_t index) { return is_derivative(of(index)); });
    return any && has_backward(function) ? !is_derivative(function) : !listed;
}

/// Why a launch isn't run: whole groups of an entry point may take too much memory for what they index.
std::string why_unlaunched(const manifest::Manifest& manifest, const manifest::Function& function,
                           const manifest::Call& call, const Settings& settings) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 18;
    const GroupSize group = group_size(manifest, call);
    const Case whole = cases_of(function, call, settings.shapes, group).front();
    for (const Argument& argument : call.arguments) {
        if (element_count(function, call, argument, whole, settings.shapes) <= most_elements) continue;
        std::string shape = "256";
        for (std::int64_t k = 1; k < argument.rank; ++k) shape += ",4";
        return "groups of " + std::to_string(group[0]) + " x " + std::to_string(group[1]) + " x " +
               std::to_string(group[2]) + " threads would index more than " + std::to_string(most_elements) +
               " elements of one tensor; say its extents, as by --shape " + function.name + "." +
               argument.name + "=" + shape;
    }
    return {};
}

/// Why a call isn't run; empty where it is.
std::string why_unchecked(const manifest::Manifest& manifest, const manifest::Function& function,
                          const manifest::Call& call, const Settings& settings) {
    for (const Argument& argument : call.arguments) {
        const std::string why = why_not_drawn(argument);
        if (!why.empty()) return "for '" + argument.name + "': the check " + why;
    }
    if (call.dispatch == manifest::Dispatch::elements) return {};
    return why_unlaunched(manifest, function, call, settings);
}

/// Inputs that the settings name are left out, after all: what was found of them is forgotten.
void leave_out_inputs(const Settings& settings, CallReport& report) {
    for (InputReport& input : report.inputs) {
        const std::string name = report.function + "." + input.name;
        if (std::find(settings.except.begin(), settings.except.end(), name) == settings.except.end())
            continue;
        input.status = Status::no_gradient;
        input.why_not = "left out by --except";
    }
}

/// One for each argument, with what is known before anything has run.
void list_inputs(std::size_t function, std::size_t index, const manifest::Call& call, const Explain& explain,
                 CallReport& report) {
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
        InputReport& input = report.inputs.emplace_back();
        input.name = call.arguments[a].name;
        input.why_not = why_no_gradient(call, call.arguments[a]);
        if (input.why_not.empty()) continue;
        input.status = Status::no_gradient;
        const std::string more = explain ? explain(function, index, a) : std::string();
        if (!more.empty()) input.why_not = more;
    }
}

}  // namespace

std::string why_no_gradient(const manifest::Call& call, const Argument& argument) {
    if (depends_on_elements(argument) && argument.gradient != manifest::Gradient::never) return {};
    if (argument.role != Role::result && !depends_on_elements(argument)) {
        return argument.differentiable ? "output: its gradient flows in" : "output without a derivative";
    }
    if (std::string made = how_it_is_made(argument); !made.empty()) return made;
    const ScalarType scalar = argument.element.scalar;
    if (!is_floating(scalar)) return scalar == ScalarType::boolean ? "bool" : "integer type";
    if (!call.has_backward) return "the call has no backward pass";
    if (argument.differentiable) return "not among the inputs that the spec differentiates";
    return why_undifferentiated(argument);
}

Report check_gradients(std::span<const std::byte> artifact, const Settings& settings, const Explain& explain,
                       const OwnDifferences& differences, const LimitedLoops& loops,
                       const Progress& progress) {
    if (progress) progress("opening the device");
    const Device device = Device::open(settings.device);
    const auto log = std::make_shared<KernelLog>(device);
    if (progress) progress("loading the artifact");
    const Module module = Module::load(detail::make_device(log), artifact);
    const manifest::Manifest& manifest = module.state()->manifest();
    std::optional<DifferenceModules> own;
    const auto load = [&](const std::vector<std::byte>& bytes) {
        return Module::load(detail::make_device(log), bytes);
    };
    if (differences.size() == 3) own = {load(differences[0]), load(differences[1]), load(differences[2])};
    std::optional<LoopLimits> limits;
    if (!loops.loops.empty()) limits.emplace(loops, load);
    LoopLimits* const limited = limits ? &*limits : nullptr;
    check_names(manifest, settings);
    check_shapes(manifest, settings);

    Report report;
    report.module = manifest.name;
    report.device = device.info().id + ", " + device.info().name;
    report.seed = settings.seed;
    std::set<std::int64_t> kernels;
    for (std::size_t f = 0; f < manifest.functions.size(); ++f) {
        const manifest::Function& function = manifest.functions[f];
        const bool is_jvp = manifest::is_jvp(function);
        if (is_left_out(function, is_jvp, settings) || is_passed_over(manifest, function)) continue;
        const bool comparable = is_derivative(function);
        for (std::size_t c = 0; c < function.calls.size(); ++c) {
            const manifest::Call& call = function.calls[c];
            const detail::FunctionRef ref{module.state(), f};
            CallReport made{function.name, detail::describe(function, call), call.has_backward, "", {}};
            if (progress) progress("checking " + made.overload);
            const std::string unchecked = why_unchecked(manifest, function, call, settings);
            if (is_jvp && !unchecked.empty()) {
                report.not_compared.push_back(made.overload + ": " + unchecked);
                continue;
            }
            if (is_jvp) {
                check_tangents(ref, c, settings, made);
            } else {
                list_inputs(f, c, call, explain, made);
                for (InputReport& input : made.inputs) {
                    if ((comparable && unchecked.empty()) || !input.why_not.empty()) continue;
                    input.why_not = !unchecked.empty()
                                        ? unchecked
                                        : "calls are combined in other ways than by sums of gradients";
                    input.status = Status::not_checked;
                }
                const bool checked = comparable && unchecked.empty();
                if (call.has_backward && checked) check_call(ref, c, settings, limited, made);
                if (unchecked.empty()) add_kernels(call, kernels);
                const auto results = static_cast<std::ptrdiff_t>(made.inputs.size());
                if (own && unchecked.empty() &&
                    has_other_code(manifest, own->front().state()->manifest(), f, c)) {
                    check_own_derivatives(module, *own, f, c, settings, limited, made);
                }
                std::vector<InputReport> found(std::make_move_iterator(made.inputs.begin() + results),
                                               std::make_move_iterator(made.inputs.end()));
                made.inputs.resize(static_cast<std::size_t>(results));
                std::size_t at = 0;
                std::erase_if(made.inputs,
                              [&](const InputReport&) { return call.arguments[at++].role == Role::result; });
                std::move(found.begin(), found.end(), std::back_inserter(made.inputs));
            }
            leave_out_inputs(settings, made);
            report.calls.push_back(std::move(made));
        }
    }
    const std::set<const manifest::Kernel*> run = log->kernels_run();
    report.kernels = static_cast<std::int64_t>(kernels.size());
    for (const std::int64_t index : kernels) {
        const manifest::Kernel& kernel = manifest.kernels[static_cast<std::size_t>(index)];
        if (!run.contains(&kernel)) {
            report.kernels_not_run.push_back(std::to_string(index) + ", " + kernel.name);
        }
    }
    return report;
}

}  // namespace kf::check
