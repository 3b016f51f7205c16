// Resolves a spec against the module's reflection.
#include "plan/resolve.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>

#include "core/join.h"
#include "core/roles.h"
#include "diagnostic/suggest.h"
#include "plan/accumulate.h"
#include "plan/aliases.h"
#include "plan/call_rank.h"
#include "plan/candidates.h"
#include "plan/defaults.h"
#include "plan/dispatch.h"
#include "plan/flag_enums.h"
#include "plan/forward_diff.h"
#include "plan/home_module.h"
#include "plan/host_call.h"
#include "plan/host_structs.h"
#include "plan/instance.h"
#include "plan/kind_target.h"
#include "plan/kinds/generator.h"
#include "plan/kinds/questions.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/overloads.h"
#include "plan/shared_fields.h"
#include "plan/shared_members.h"
#include "plan/strict.h"
#include "plan/struct_gradients.h"
#include "plan/struct_names.h"
#include "plan/structs.h"
#include "plan/texture_gradients.h"
#include "plan/type_text.h"
#include "plan/types.h"
#include "plan/variants.h"
#include "plan/visibility.h"
#include "spec/limits.h"

namespace kf::gen {

namespace {

using manifest::Argument;
using manifest::Gradient;
using manifest::Role;

Role role_of(Direction direction) {
    if (direction == Direction::out) return Role::out;
    return direction == Direction::inout ? Role::inout : Role::in;
}

/// One kind for each parameter, in parameter order, then one for the result (nothing: "auto").
struct KindCombination {
    std::vector<const KindSpec*> parameters;
    const KindSpec* result = nullptr;
};

bool has_alternatives(const CallSpec& call) {
    return call.result.size() > 1 ||
           std::any_of(call.arguments.begin(), call.arguments.end(),
                       [](const ArgumentSpec& argument) { return argument.alternatives.size() > 1; });
}

/// Returns every combination, the last argument's alternatives varying fastest.
std::vector<KindCombination> kind_combinations(const CallSpec& call, const Function& function) {
    std::vector<KindCombination> all(1);
    for (const Parameter& parameter : function.parameters) {
        const auto listed =
            std::find_if(call.arguments.begin(), call.arguments.end(),
                         [&](const ArgumentSpec& spec) { return spec.name == parameter.name; });
        std::vector<KindCombination> longer;
        for (const KindCombination& kinds : all) {
            for (const KindSpec& kind : listed->alternatives) {
                longer.push_back(kinds);
                longer.back().parameters.push_back(&kind);
            }
        }
        all = std::move(longer);
    }
    if (call.result.empty()) return all;
    std::vector<KindCombination> longer;
    for (const KindCombination& kinds : all) {
        for (const KindSpec& kind : call.result) {
            longer.push_back(kinds);
            longer.back().result = &kind;
        }
    }
    return longer;
}

bool has_result(const Function& function) { return function.result.kind != TypeKind::void_type; }

/// Returns the kind that "auto" means for a result or an out parameter.
KindSpec automatic_kind(std::int64_t rank, const Location& location) {
    KindSpec kind;
    kind.kind = rank == 0 ? Kind::value : Kind::tensor;
    kind.rank = static_cast<int>(rank);
    kind.spelling = rank == 0 ? "value" : "tensor[" + std::to_string(rank) + "]";
    kind.location = location;
    return kind;
}

/// A lookup without a compiler, which finds no types: scalars and types made of them need none.
class NoTypes final : public TypeLookup {
public:
    Outcome<std::optional<Type>> type_named(const std::string&) override { return std::optional<Type>(); }
    Outcome<bool> conforms(const std::string&, const std::string&) override { return false; }
};

class CallPlanner {
public:
    CallPlanner(const CallSpec& call, const LinkTime& link, TypeLookup& types, const HostStructs& hosts,
                Diagnostics& errors)
        : call_(call), link_(link), types_(types), hosts_(hosts), errors_(errors) {}

    /// Returns the overload that each combination of kinds means.
    std::vector<Fit> plan(const std::vector<const Function*>& candidates) {
        std::vector<Fit> calls;
        if (candidates.size() == 1) {
            for (const KindCombination& kinds : kind_combinations(call_, *candidates.front())) {
                Outcome<Fit> fit = fit_one(*candidates.front(), kinds);
                if (fit) {
                    calls.push_back(std::move(fit.value()));
                } else {
                    errors_.insert(errors_.end(), fit.errors().begin(), fit.errors().end());
                }
            }
            return calls;
        }
        plan_overloads(candidates, calls);
        return calls;
    }

private:
    using Key = std::vector<const KindSpec*>;
    using Reason = std::pair<const Function*, Diagnostics>;

    /// A combination of kinds must mean exactly one overload.
    void plan_overloads(const std::vector<const Function*>& candidates, std::vector<Fit>& calls) {
        const bool several_generic =
            std::count_if(candidates.begin(), candidates.end(),
                          [](const Function* function) { return function->is_generic(); }) > 1;
        std::map<Key, std::vector<Fit>> fits;
        std::map<Key, std::vector<Reason>> failures;
        for (const Function* function : candidates) {
            for (const KindCombination& kinds : kind_combinations(call_, *function)) {
                const Key key = by_name(*function, kinds);
                Outcome<Fit> fit = fit_one(*function, kinds);
                if (fit) {
                    // "f<float>" alone may be the start of another one's arguments.
                    fit.value().planned.by_adapter |= several_generic && function->is_generic();
                    fits[key].push_back(std::move(fit.value()));
                } else {
                    failures[key].emplace_back(function, fit.errors());
                }
            }
        }
        for (auto& [key, found] : fits) {
            failures.erase(key);
            if (const std::optional<std::size_t> best = best_fit(found)) {
                calls.push_back(std::move(found[*best]));
                continue;
            }
            std::vector<const Function*> functions;
            for (const Fit& fit : found) functions.push_back(fit.candidate);
            std::vector<std::string> notes = candidate_notes(functions);
            notes.emplace_back("state the element type in the kind, as in tensor<float>[1] or value<float>");
            notes.emplace_back("parameters of other names tell overloads apart, too");
            errors_.push_back({Severity::error, "function-ambiguous", call_.function_location,
                               "these kinds fit " + std::to_string(found.size()) + " overloads of '" +
                                   call_.written() + "': " + kinds_text(*found.front().candidate, key),
                               std::move(notes)});
        }
        for (const auto& [key, reasons] : failures) errors_.push_back(no_overload(reasons));
    }

    /// One error for all overloads; it keeps their id where they agree on it.
    Diagnostic no_overload(const std::vector<Reason>& reasons) const {
        const Diagnostic& first = reasons.front().second.front();
        Diagnostic error{Severity::error,
                         "function-overload",
                         call_.function_location,
                         "no overload of '" + call_.written() + "' takes these kinds",
                         {}};
        if (std::all_of(reasons.begin(), reasons.end(),
                        [&](const Reason& reason) { return reason.second.front().id == first.id; })) {
            error.id = first.id;
            error.location = first.location;
        }
        for (const auto& [function, errors] : reasons) {
            error.notes.push_back(candidate_notes({function}).front() + ": " + errors.front().message);
        }
        return error;
    }

    /// Returns the call as `function` would take it, with types for its generic parameters and interfaces.
    Outcome<Fit> fit_one(const Function& function, const KindCombination& kinds) {
        Outcome<Fit> fit = fit_with(function, kinds, 0);
        const bool counts =
            function.is_generic() &&
            std::any_of(kinds.parameters.begin(), kinds.parameters.end(),
                        [](const KindSpec* kind) { return kind->generator == GeneratorKind::call_id; });
        // The call's rank may follow from arguments whose generic parameters must be known first.
        for (std::int64_t rank = 1; counts && !fit && rank <= max_rank; ++rank) {
            Outcome<Fit> other = fit_with(function, kinds, rank);
            if (other) return other;
            // A rank that fits the kinds so far knows better what is wrong with the others.
            const std::string& id = other.errors().front().id;
            if (!id.starts_with("generic-") && id != "argument-rank") fit = std::move(other);
        }
        return fit;
    }

    /// Fits a call with generic parameters chosen for its rank; 0: not known.
    Outcome<Fit> fit_with(const Function& function, const KindCombination& kinds, std::int64_t rank) {
        Outcome<Instance> instance = instantiate(function, call_, kinds.parameters, rank, types_);
        if (!instance) return instance.errors();
        Outcome<PlannedCall> planned =
            plan_one(with_host_structs(std::move(instance.value().function), hosts_), kinds);
        if (!planned) return planned.errors();
        Fit fit{&function, std::move(planned.value()), instance.value().is_general, {}, kinds.parameters};
        fit.kinds.push_back(kinds.result);
        fit.planned.by_adapter = instance.value().by_interface || function.is_overload ||
                                 function.member == Member::method || function.member == Member::constructor;
        std::map<std::string, std::int64_t> distances;
        for (std::size_t i = 0; i < kinds.parameters.size(); ++i) {
            const manifest::ParameterTree& parameter = fit.planned.parameters[i].host;
            const bool leaf = parameter.form == manifest::Form::leaf;
            const auto first = static_cast<std::size_t>(parameter.leaf);
            const Argument& host = fit.planned.arguments[first].host;
            const auto element = static_cast<std::int64_t>(host.element.extents.size());
            const auto trailing = static_cast<std::int64_t>(host.trailing.size());
            const std::string& stated = kinds.parameters[i]->element;
            const Type& type = fit.planned.arguments[first].type;
            const std::string own = innermost_of(type).is_enum ? type.name : kind_name(type);
            const std::int64_t other = parse_type(stated) == parse_type(own) ? 0 : 1;
            distances.emplace(parameter.name,
                              leaf && !stated.empty() ? 2 * std::abs(element - trailing) + other : 0);
        }
        for (const auto& [name, distance] : distances) fit.distances.push_back(distance);
        return fit;
    }

    /// Overloads may order their parameters differently; what the user wrote is by name.
    std::vector<const KindSpec*> by_name(const Function& function, const KindCombination& kinds) const {
        std::map<std::string, const KindSpec*> sorted;
        for (std::size_t i = 0; i < function.parameters.size(); ++i) {
            sorted[function.parameters[i].name] = kinds.parameters[i];
        }
        std::vector<const KindSpec*> key;
        for (const auto& [name, kind] : sorted) key.push_back(kind);
        key.push_back(kinds.result);
        return key;
    }

    /// The kinds of one combination: "x is tensor[1], k is value".
    static std::string kinds_text(const Function& function, const Key& key) {
        std::vector<std::string> names;
        for (const Parameter& parameter : function.parameters) names.push_back(parameter.name);
        std::sort(names.begin(), names.end());
        std::string text;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string kind = key[i]->kind == Kind::fields ? "fields" : key[i]->spelling;
            text += (i == 0 ? "" : ", ") + names[i] + " is " + kind;
        }
        return text;
    }

    /// Returns the kinds with each "auto" replaced by what it means, kept in `made`.
    static KindCombination settled(const Function& function, const KindCombination& kinds,
                                   std::vector<KindSpec>& made) {
        KindCombination settled = kinds;
        if (kinds.result != nullptr && kinds.result->kind == Kind::automatic &&
            kinds.result->accumulate.empty() && !kinds.result->grad)
            settled.result = nullptr;
        const auto is_auto = [&](std::size_t i) {
            return kinds.parameters[i]->kind == Kind::automatic &&
                   function.parameters[i].direction == Direction::out;
        };
        PlannedCall others;
        std::vector<GradientWish> grads;
        for (std::size_t i = 0; i < kinds.parameters.size(); ++i) {
            // Errors of an argument are reported when it is planned.
            if (!is_auto(i)) (void)feed_one(*kinds.parameters[i], target_of(function, i), others, grads);
        }
        if (has_result(function) && settled.result != nullptr && settled.result->kind != Kind::automatic)
            (void)feed_one(*settled.result, result_of(function), others, grads);
        const std::int64_t rank = call_rank(others.arguments);
        made.reserve(kinds.parameters.size() + 1);
        const auto replace = [&](const KindSpec*& kind) {
            made.push_back(automatic_kind(rank, kind->location));
            made.back().accumulate = kind->accumulate;
            made.back().grad = kind->grad;
            kind = &made.back();
        };
        for (std::size_t i = 0; i < kinds.parameters.size(); ++i)
            if (is_auto(i)) replace(settled.parameters[i]);
        if (settled.result != nullptr && settled.result->kind == Kind::automatic) replace(settled.result);
        return settled;
    }

    Outcome<PlannedCall> plan_one(const Function& function, const KindCombination& given) const {
        std::vector<KindSpec> made;
        const KindCombination kinds = settled(function, given, made);
        PlannedCall planned;
        planned.function = function.name;
        planned.member = function.member;
        if (function.member != Member::none) planned.owner = owner_of(function.name);
        if (function.member == Member::method) planned.owner = function.parameters.front().type.name;
        Outcome<bool> classless = has_no_class(function, planned.owner);
        if (!classless) return classless.errors();
        if (classless.value()) planned.owner.clear();
        planned.location = call_.location;
        planned.strict_broadcasting = call_.strict_broadcasting;
        planned.prints = call_.debug_print;
        planned.checks = call_.checked;
        std::vector<GradientWish> grads;
        Diagnostics errors = feed_parameters(function, kinds, planned, grads);
        if (!errors.empty()) return errors;
        planned.rank = call_rank(planned.arguments);
        if (has_result(function) && kinds.result == nullptr) {
            errors =
                feed_one(automatic_kind(planned.rank, call_.location), result_of(function), planned, grads);
            if (!errors.empty()) return errors;
        }
        std::vector<const KindSpec*> all_kinds = kinds.parameters;
        all_kinds.push_back(kinds.result);
        planned.accumulate = ways_of(call_, planned, all_kinds);
        errors = check_outputs(planned, has_alternatives(call_));
        if (errors.empty()) errors = check_strict(planned, has_alternatives(call_));
        if (errors.empty()) errors = mark_aliases(call_, planned);
        if (errors.empty()) errors = check_object(function, planned);
        if (errors.empty()) errors = check_ranks(planned);
        if (!errors.empty()) return errors;
        align(planned.arguments, planned.rank);
        planned.group_size = group_size(call_.threads, planned.rank);
        planned.group_width = group_width(call_.threads);
        planned.dispatch = dispatch_of(call_, function);
        if (planned.dispatch != manifest::Dispatch::elements)
            errors = plan_dispatch(call_, function, link_, planned);
        if (!errors.empty()) return errors;
        errors = plan_backward(function, grads, planned);
        if (!errors.empty()) return errors;
        planned.has_fused = call_.backward.fused;
        if (planned.has_fused) errors = check_fused(function, planned);
        if (errors.empty()) errors = check_ways(planned);
        if (!errors.empty()) return errors;
        errors = check_shared_fields(planned);
        planned.has_jvp = call_.forward_diff.has_value();
        if (errors.empty() && planned.has_jvp)
            errors = check_forward_diff(function, planned, *call_.forward_diff);
        if (!errors.empty()) return errors;
        return planned;
    }

    /// Members of scalars and vectors are functions like others: the host has no class for them.
    Outcome<bool> has_no_class(const Function& function, const std::string& owner) const {
        if (function.member == Member::method)
            return function.parameters.front().type.kind != TypeKind::structure;
        if (function.member == Member::constructor)
            return function.result.kind != TypeKind::structure && function.result.kind != TypeKind::other;
        if (function.member == Member::none) return false;
        Outcome<std::optional<Type>> type = types_.type_named(owner);
        if (!type) return type.errors();
        return type.value() && type.value()->kind != TypeKind::structure;
    }

    /// Whether it is a parameter through which calls write, though it is an `in` one.
    static bool writes(const PlannedArgument& argument) {
        return argument.host.role == Role::in && writes_elements(argument.host);
    }

    /// A method that changes its object, and gives nothing else, needs some of it in a tensor.
    static Diagnostics check_object(const Function& function, const PlannedCall& planned) {
        const bool mutates =
            planned.member == Member::method && function.parameters.front().direction != Direction::in;
        const bool gives =
            std::any_of(planned.arguments.begin(), planned.arguments.end(),
                        [](const PlannedArgument& one) { return is_output(one.host) || writes(one); });
        if (!mutates || gives) return {};
        return {{Severity::error,
                 "method-effect",
                 planned.arguments.front().location,
                 "'" + function.name + "' changes its object, which is given by value and only read",
                 {"give \"this\" as a tensor, or the fields that change: {\"fields\": {\"NAME\": "
                  "\"tensor[1]\", …}}"}}};
    }

    static TreeTarget target_of(const Function& function, std::size_t i) {
        const Parameter& parameter = function.parameters[i];
        return {{parameter.name, parameter.type, role_of(parameter.direction), function.location,
                 parameter.only_read},
                parameter.no_diff,
                parameter.no_diff_written,
                false,
                function.member == Member::method && i == 0};
    }

    static TreeTarget result_of(const Function& function) {
        return {{"result", function.result, Role::result, function.location},
                function.no_diff_result,
                function.no_diff_result,
                true,
                false};
    }

    /// Feeds one parameter, or the result, and adds its leaves to the call.
    static Diagnostics feed_one(const KindSpec& kind, const TreeTarget& target, PlannedCall& planned,
                                std::vector<GradientWish>& grads) {
        Outcome<FedTree> fed = feed_tree(kind, target, static_cast<std::int64_t>(planned.arguments.size()));
        if (!fed) return fed.errors();
        FedTree& tree = fed.value();
        const bool tensor = target.parameter.type.kind == TypeKind::tensor;
        planned.parameters.push_back({tree.host, target.parameter.type, target.parameter.role,
                                      tensor ? target.no_diff_tensors : target.no_diff});
        std::move(tree.leaves.begin(), tree.leaves.end(), std::back_inserter(planned.arguments));
        grads.insert(grads.end(), tree.grads.begin(), tree.grads.end());
        return {};
    }

    static Diagnostics feed_parameters(const Function& function, const KindCombination& kinds,
                                       PlannedCall& planned, std::vector<GradientWish>& grads) {
        Diagnostics errors;
        const auto add = [&](const KindSpec& kind, const TreeTarget& target) {
            const Diagnostics found = feed_one(kind, target, planned, grads);
            errors.insert(errors.end(), found.begin(), found.end());
        };
        for (std::size_t i = 0; i < function.parameters.size(); ++i)
            add(*kinds.parameters[i], target_of(function, i));
        if (!has_result(function)) {
            if (kinds.result != nullptr) errors.push_back(no_result(function, *kinds.result));
            return errors;
        }
        if (kinds.result != nullptr) {
            add(*kinds.result, result_of(function));
        } else if (!element_of(function.result) && !holds_structs(function.result)) {
            errors.push_back({Severity::error, "type-not-supported", function.location,
                              "the result of '" + function.name + "' has type '" + function.result.name +
                                  "', which can't be passed by this version of kfgen; expected a scalar, a "
                                  "vector of 2 to 4, a matrix, a sized array or a struct of those",
                              notes_of_refused(function.result)});
        }
        return errors;
    }

    static Diagnostic no_result(const Function& function, const KindSpec& kind) {
        std::vector<std::string> outputs;
        for (const Parameter& parameter : function.parameters) {
            if (parameter.direction != Direction::in) outputs.push_back(parameter.name);
        }
        return {Severity::error, "argument-unknown", kind.location,
                "function '" + function.name + "' returns nothing, so that \"result\" has no meaning",
                outputs.empty()
                    ? std::vector<std::string>()
                    : std::vector<std::string>{"what it writes has its kinds in \"args\": " + join(outputs)}};
    }

    Diagnostics plan_backward(const Function& function, const std::vector<GradientWish>& grads,
                              PlannedCall& planned) const {
        const BackwardSpec& backward = call_.backward;
        if (!backward.enabled) return apply_wishes(grads, planned);
        if (!function.backward_differentiable) {
            return {{Severity::error,
                     "not-differentiable",
                     backward.location,
                     "function '" + function.name + "' is not differentiable, so it has no backward pass",
                     {"mark it [Differentiable] at " + function.location.file + ":" +
                      std::to_string(function.location.line)}}};
        }
        planned.has_backward = true;
        if (backward.deterministic) {
            planned.deterministic = backward.deterministic_too ? Determinism::automatic : Determinism::always;
        }
        bool any = false;
        for (std::size_t i = 0; i < planned.arguments.size(); ++i) {
            PlannedArgument& argument = planned.arguments[i];
            const bool tensor = argument.type.kind == TypeKind::tensor;
            argument.host.differentiable =
                tensor ? is_differentiable(argument.type.form) && is_differentiable_leaf(argument)
                       : argument.type.differentiable && !argument.no_diff;
            argument.is_unasked = gradient_of(grads[i].gradient, argument.host.name) == Gradient::never;
            if (tensor && !reads(argument.type.form)) continue;
            if (is_only_written(argument.host.role)) continue;
            if (!argument.host.differentiable || !can_have_gradient(argument.host)) continue;
            argument.grad_is_false = grads[i].gradient == Gradient::never;
            argument.host.gradient = gradient_of(grads[i].gradient, argument.host.name);
            // The argument may be an output, which "inputs" can't list.
            if (has_one_gradient(argument.host) && argument.host.gradient == Gradient::never)
                argument.host.gradient = Gradient::automatic;
            any = any || argument.host.gradient != Gradient::never;
        }
        Diagnostics errors = check_texel_outputs(planned);
        const Diagnostics unknown = check_inputs(planned);
        errors.insert(errors.end(), unknown.begin(), unknown.end());
        for (const Diagnostics& more : {check_view_gradients(grads, planned.arguments), check_stored(planned),
                                        check_struct_tensors(planned), apply_wishes(grads, planned)})
            errors.insert(errors.end(), more.begin(), more.end());
        if (!any && errors.empty()) {
            errors.push_back({Severity::error, "backward-input", backward.location,
                              "no input of function '" + function.name + "' can be differentiated",
                              structs_without_derivatives(function)});
        }
        return errors;
    }

    /// A store's derivative reads a gradient, which is 1 where there is none.
    static Diagnostics check_stored(const PlannedCall& planned) {
        Diagnostics errors;
        for (const PlannedParameter& parameter : planned.parameters) {
            const std::int64_t leaves = holds_struct_tensor(parameter) ? 1 : parameter.host.leaves;
            for (std::int64_t i = 0; i < leaves; ++i) {
                const PlannedArgument& leaf =
                    planned.arguments[static_cast<std::size_t>(parameter.host.leaf + i)];
                const bool no_diff = holds_struct_tensor(parameter) ? parameter.no_diff : leaf.no_diff;
                if (leaf.type.kind != TypeKind::tensor || !is_differentiable(leaf.type.form) ||
                    !gen::writes(leaf.type.form) || !no_diff)
                    continue;
                const std::string name =
                    holds_struct_tensor(parameter) ? parameter.host.name : leaf.host.name;
                errors.push_back({Severity::error,
                                  "type-not-supported",
                                  leaf.location,
                                  "argument '" + name + "': what is stored to a '" + leaf.type.name +
                                      "' has a derivative, whether or not the source says no_diff",
                                  {"make it a WTensor or RWTensor"}});
            }
        }
        return errors;
    }

    /// Returns notes on how to give inputs derivatives that have none.
    static std::vector<std::string> structs_without_derivatives(const Function& function) {
        std::vector<std::string> notes;
        for (const Parameter& parameter : function.parameters) {
            const Type& type = innermost_of(parameter.type);
            if (parameter.direction == Direction::out || parameter.no_diff || type.differentiable ||
                type.kind != TypeKind::structure)
                continue;
            notes.push_back("'" + parameter.name +
                            "' is a struct without derivatives: " + cure_of_plain_struct(type.name));
        }
        return notes;
    }

    /// A tensor of structs that is a parameter has a gradient as a whole.
    Diagnostics check_struct_tensors(const PlannedCall& planned) const {
        Diagnostics errors;
        for (const PlannedParameter& parameter : planned.parameters) {
            if (!holds_struct_tensor(parameter) || !reads(parameter.type.form)) continue;
            bool some = false;
            bool all = true;
            for (std::int64_t i = 0; i < parameter.host.leaves; ++i) {
                const Argument& leaf =
                    planned.arguments[static_cast<std::size_t>(parameter.host.leaf + i)].host;
                if (!leaf.differentiable) continue;
                some = some || leaf.gradient != Gradient::never;
                all = all && leaf.gradient != Gradient::never;
            }
            if (!some || all) continue;
            errors.push_back({Severity::error,
                              "backward-input",
                              call_.backward.location,
                              "\"backward\" lists some fields of '" + parameter.host.name +
                                  "', which is a '" + parameter.type.name +
                                  "': its gradient is one of all of them",
                              {"list \"" + parameter.host.name + "\""}});
        }
        return errors;
    }

    /// One kernel runs the function and its derivative: what it writes must be the same for both.
    Diagnostics check_fused(const Function& function, const PlannedCall& planned) const {
        std::string reason;
        std::string cure = "a loss returns one floating scalar";
        if (function.result.kind != TypeKind::scalar || function.no_diff_result ||
            !is_floating(function.result.scalar)) {
            reason = "it returns '" + function.result.name + "'" +
                     (function.no_diff_result ? " without a derivative" : "");
        }
        for (const PlannedArgument& argument : planned.arguments) {
            const std::string subject = "argument '" + argument.host.name + "' ";
            if (argument.host.role == Role::inout || writes(argument)) {
                reason = subject + "is written in place";
                cure = "use a no_diff out parameter, or leave \"fused\" out: .backward may write in place";
            } else if (argument.host.role == Role::out && argument.host.differentiable) {
                reason = subject + "is another output with a gradient";
                cure = "mark it no_diff and assign detach(…) to it";
            }
        }
        if (reason.empty()) return {};
        return {
            {Severity::error,
             "fused-loss",
             call_.backward.location,
             "function '" + function.name + "' is no loss that can be fused with its gradients: " + reason,
             {cure}}};
    }

    /// Applies the kinds' wishes for gradients. A wish for a gradient that doesn't exist is an error.
    static Diagnostics apply_wishes(const std::vector<GradientWish>& grads, PlannedCall& planned) {
        Diagnostics errors;
        for (std::size_t i = 0; i < planned.arguments.size(); ++i) {
            Argument& host = planned.arguments[i].host;
            host.overwrite = grads[i].overwrites && host.gradient != Gradient::never;
        }
        for (std::size_t i = 0; i < planned.arguments.size(); ++i) {
            const PlannedArgument& argument = planned.arguments[i];
            const bool wishes = grads[i].overwrites || grads[i].gradient == Gradient::required;
            // One field with a gradient is enough for a struct.
            const bool met = std::any_of(
                planned.arguments.begin(), planned.arguments.end(), [&](const PlannedArgument& other) {
                    return other.host.gradient != Gradient::never && other.location == argument.location;
                });
            const bool said = std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& error) {
                return error.location == argument.location;
            });
            if (!wishes || met || said) continue;
            errors.push_back({Severity::error,
                              "backward-input",
                              argument.location,
                              (argument.is_result ? std::string("the result")
                                                  : "argument '" + wishing(argument, planned) + "'") +
                                  ": there is no gradient that " +
                                  (grads[i].overwrites ? R"("accumulate": "overwrite" would replace)"
                                                       : R"("grad": true would ask for)"),
                              {"only inputs that \"backward\" differentiates have one"}});
        }
        return errors;
    }

    /// Returns the name that the spec uses there: of a struct's fields, the struct.
    static std::string wishing(const PlannedArgument& argument, const PlannedCall& planned) {
        std::string name = argument.host.name;
        for (const PlannedArgument& other : planned.arguments) {
            while (other.location == argument.location && !names(name, other.host.name) &&
                   name.find_first_of(".[") != std::string::npos) {
                name.erase(name.find_last_of(".["));
            }
        }
        return name;
    }

    /// "ray" stands for "ray.origin" too.
    static bool names(const std::string& listed, const std::string& argument) {
        return manifest::is_or_lies_in(argument, listed);
    }

    Gradient gradient_of(const std::optional<Gradient>& said, const std::string& name) const {
        if (said) return *said;
        if (!call_.backward.inputs) return Gradient::automatic;
        const auto& inputs = *call_.backward.inputs;
        const bool listed = std::any_of(inputs.begin(), inputs.end(),
                                        [&](const std::string& input) { return names(input, name); });
        return listed ? Gradient::automatic : Gradient::never;
    }

    /// Names under "backward": {"inputs": …} must be differentiable inputs.
    Diagnostics check_inputs(const PlannedCall& planned) const {
        Diagnostics errors;
        if (!call_.backward.inputs) return errors;
        std::vector<std::string> possible;
        for (const PlannedArgument& argument : planned.arguments) {
            const bool tensor = argument.type.kind == TypeKind::tensor;
            const bool input = tensor ? reads(argument.type.form)
                                      : reads_elements(argument.host) && can_have_gradient(argument.host);
            if (input && argument.host.differentiable) possible.push_back(argument.host.name);
        }
        for (const std::string& name : *call_.backward.inputs) {
            if (std::any_of(possible.begin(), possible.end(),
                            [&](const std::string& argument) { return names(name, argument); }))
                continue;
            errors.push_back({Severity::error, "backward-input", call_.backward.location,
                              "\"backward\" lists '" + name + "', which is not a differentiable input of '" +
                                  planned.function + "'",
                              suggestion_notes(name, "differentiable inputs", possible)});
        }
        return errors;
    }

    const CallSpec& call_;
    const LinkTime& link_;
    TypeLookup& types_;
    const HostStructs& hosts_;
    Diagnostics& errors_;
};

/// One error each, though several combinations of kinds ran into it; the first one's notes do.
Diagnostics without_repeats(const Diagnostics& errors) {
    Diagnostics distinct;
    for (const Diagnostic& error : errors) {
        const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const Diagnostic& other) {
            return other.id == error.id && other.location == error.location && other.message == error.message;
        });
        if (!known) distinct.push_back(error);
    }
    return distinct;
}

/// "this" has a place of its own in the spec.
std::optional<Diagnostic> check_this(const CallSpec& call) {
    for (const ArgumentSpec& argument : call.arguments) {
        if (argument.name != "this") continue;
        return Diagnostic{Severity::error,
                          "argument-unknown",
                          argument.location,
                          "\"this\" is not one of \"args\": it stands beside them",
                          {R"("this": "value", "args": {…})"}};
    }
    return std::nullopt;
}

/// "this" is an argument like the others from here on.
CallSpec with_this(CallSpec call) {
    if (call.self.empty()) return call;
    const Location location = call.self.front().location;
    call.arguments.insert(call.arguments.begin(), {"this", std::move(call.self), location});
    call.self.clear();
    return call;
}

/// All overloads that one call of the spec makes.
struct CallPlan {
    std::vector<PlannedCall> calls;
    std::string doc;
    std::vector<ShorterOverload> shorter;
};

Outcome<CallPlan> plan_call(const CallSpec& given, const LinkTime& link, const Module& modules,
                            TypeLookup& all_types, const HostStructs& hosts) {
    const Outcome<Home> home = find_home(given, modules, all_types);
    if (!home) return home.errors();
    const CallSpec& call = home.value().call;
    const Module& declared = home.value().own ? *home.value().own : modules;
    Module launched;
    if (call.dispatch != Dispatch::arguments) {
        Outcome<std::vector<Function>> functions = with_thread_ids(call, declared.functions);
        if (!functions) return functions.errors();
        launched = declared;
        launched.functions = std::move(functions.value());
    }
    const Module& module = call.dispatch != Dispatch::arguments ? launched : declared;
    TypeLookup& lookup = home.value().types ? *home.value().types : all_types;
    Outcome<std::vector<Function>> shared = shared_members(call, module, lookup);
    if (!shared) return shared.errors();
    std::vector<Function>& more = shared.value();
    std::vector<Function> shortened = with_defaults(call, module, more);
    std::move(shortened.begin(), shortened.end(), std::back_inserter(more));
    const Outcome<std::vector<const Function*>> candidates = find_candidates(call, module, more, lookup);
    if (!candidates) return candidates.errors();
    Diagnostics errors = check_public(candidates.value());
    if (errors.empty()) errors = check_tensor_types(call, candidates.value());
    if (errors.empty()) errors = check_link_sizes(call, candidates.value());
    if (errors.empty()) errors = check_kept_sizes(call, link, candidates.value());
    if (!errors.empty()) return errors;
    const auto variants = plan_variants(call, link, modules, all_types);
    if (!variants) return variants.errors();
    const auto plan_fits = [&](const CallSpec& spec, const std::vector<const Function*>& functions) {
        std::vector<Fit> fits = CallPlanner(spec, link, lookup, hosts, errors).plan(functions);
        for (Fit& fit : fits) {
            fit.planned.module = home.value().import_name;
            fit.planned.link = link;
            fit.planned.variants = variants.value();
            for (const Diagnostics& found :
                 {check_fields(fit.planned, module), check_variant_sizes(fit.planned)})
                errors.insert(errors.end(), found.begin(), found.end());
        }
        return fits;
    };
    const auto plan_all = [&](const CallSpec& spec, const std::vector<const Function*>& functions) {
        std::vector<Fit> fits = plan_fits(spec, functions);
        for (std::size_t v = 0; errors.empty() && v < spec.variants.size(); ++v) {
            if (spec.variants[v].maps.empty()) continue;
            const Outcome<CallSpec> mapped = with_maps(spec, spec.variants[v]);
            if (!mapped) {
                errors = mapped.errors();
                break;
            }
            std::vector<Fit> others = plan_fits(mapped.value(), functions);
            if (errors.empty()) errors = set_mapped(fits, v, std::move(others));
        }
        return fits;
    };
    CallPlan plan;
    std::vector<Fit> fits = plan_all(call, candidates.value());
    if (!errors.empty()) return errors;
    for (const Fit& fit : fits) {
        for (const ShorterCall& shorter : shorter_calls(call, fit)) {
            errors.clear();
            std::vector<Fit> made = plan_all(shorter.call, {&shorter.function});
            // A shorter call that isn't one by itself isn't offered.
            if (!errors.empty() || made.empty()) continue;
            const Function* const rival = find_rival(shorter.function, module);
            plan.shorter.push_back({std::move(made.front().planned), call.name,
                                    candidate_notes({fit.candidate}).front(),
                                    rival != nullptr ? candidate_notes({rival}).front() : std::string()});
        }
    }
    for (Fit& fit : fits) plan.calls.push_back(std::move(fit.planned));
    plan.doc = candidates.value().front()->doc;
    return plan;
}

}  // namespace

Outcome<Plan> resolve(const Spec& spec, const Module& module, TypeLookup* types, const HostStructs& hosts) {
    NoTypes no_types;
    Plan plan;
    plan.name = spec.name;
    plan.cpp_namespace = spec.namespace_name.empty() ? spec.name : spec.namespace_name;
    plan.imports = module.module_names;
    plan.structs = module.structs;
    plan.flag_enums = module.flag_enums;
    plan.formats = spec.globals;
    TypeLookup& lookup = types != nullptr ? *types : no_types;
    const Outcome<LinkTime> link = link_time(spec.values, {}, module, lookup);
    if (!link) return link.errors();
    plan.link = link.value();
    Diagnostics errors = check_kept(spec, link.value());
    if (!errors.empty()) return errors;
    std::vector<ShorterOverload> shorter;
    for (const CallSpec& given : spec.calls) {
        if (auto failure = check_this(given)) {
            errors.push_back(*failure);
            continue;
        }
        const CallSpec call = with_this(with_fields_expanded(given));
        if (auto failure = check_kernel_limit(given, kernel_product(given))) {
            errors.push_back(*failure);
            continue;
        }
        Outcome<CallPlan> planned = plan_call(call, link.value(), module, lookup, hosts);
        if (!planned) {
            errors.insert(errors.end(), planned.errors().begin(), planned.errors().end());
            continue;
        }
        for (PlannedCall& one : planned.value().calls)
            add_call(plan, call.name, planned.value().doc, std::move(one));
        std::move(planned.value().shorter.begin(), planned.value().shorter.end(),
                  std::back_inserter(shorter));
    }
    Diagnostics warnings;
    if (errors.empty()) warnings = add_shorter(plan, std::move(shorter));
    for (PlannedFunction& function : plan.functions) {
        for (PlannedCall& call : function.calls) note_flag_enums(call.arguments, plan.flag_enums);
        if (auto failure = check_host_arguments(function)) errors.push_back(std::move(*failure));
    }
    add_distinct(warnings, texture_warnings(plan));
    add_distinct(warnings, struct_warnings(plan));
    if (errors.empty()) errors = check_struct_names(plan);
    if (!errors.empty()) return without_repeats(errors);
    errors = add_variants(plan);
    if (errors.empty()) errors = add_choices(plan);
    if (!errors.empty()) return without_repeats(errors);
    add_forward_derivatives(plan);
    return Outcome<Plan>(std::move(plan)).with_warnings(std::move(warnings));
}

}  // namespace kf::gen
