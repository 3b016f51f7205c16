// Makes the call of a forward derivative.
#include "plan/forward_diff.h"

#include <algorithm>

#include "core/roles.h"
#include "plan/kinds/questions.h"
#include "plan/kinds/whole_tensor.h"

namespace kf::gen {

namespace {

using manifest::Role;

bool has_tangent(const PlannedArgument& argument) {
    if (!can_have_gradient(argument.host) || argument.no_diff) return false;
    if (argument.type.kind == TypeKind::tensor)
        return is_differentiable(argument.type.form) && is_differentiable_leaf(argument);
    return argument.type.differentiable;
}

/// Whether a call reads tangents of the argument, or gives it tangents.
bool takes_tangent(const PlannedArgument& argument) {
    if (!has_tangent(argument)) return false;
    return reads_elements(argument.host);
}

bool gives_tangent(const PlannedArgument& argument) {
    if (!has_tangent(argument)) return false;
    return writes_elements(argument.host);
}

class Deriver {
public:
    explicit Deriver(const PlannedCall& call) : call_(call) {}

    PlannedCall derive() {
        made_ = call_;
        made_.arguments.clear();
        made_.parameters.clear();
        made_.has_backward = false;
        made_.has_fused = false;
        made_.has_jvp = false;
        made_.is_jvp = true;
        for (const PlannedParameter& parameter : call_.parameters) {
            if (parameter.role != Role::result) add_primal(parameter);
        }
        const auto inputs = made_.parameters;
        for (std::size_t i = 0; i < inputs.size(); ++i) add_tangents(inputs[i], i);
        for (const PlannedParameter& parameter : call_.parameters) {
            if (parameter.role != Role::result) continue;
            add_primal(parameter);
            add_tangents(PlannedParameter(made_.parameters.back()), made_.parameters.size() - 1);
        }
        return std::move(made_);
    }

private:
    [[nodiscard]] std::int64_t next() const { return static_cast<std::int64_t>(made_.arguments.size()); }

    static void move_leaves(manifest::ParameterTree& parameter, std::int64_t by) {
        parameter.leaf += by;
        for (manifest::ParameterTree& field : parameter.fields) move_leaves(field, by);
    }

    void add_primal(const PlannedParameter& parameter) {
        PlannedParameter& made = made_.parameters.emplace_back(parameter);
        move_leaves(made.host, next() - parameter.host.leaf);
        for (std::int64_t i = 0; i < parameter.host.leaves; ++i) {
            PlannedArgument& leaf = made_.arguments.emplace_back(
                call_.arguments[static_cast<std::size_t>(parameter.host.leaf + i)]);
            leaf.host.differentiable = false;
            leaf.host.gradient = manifest::Gradient::never;
            leaf.host.overwrite = false;
            if (leaf.host.role == Role::in) leaf.host.accumulate = manifest::Accumulate::automatic;
        }
    }

    void add_tangents(const PlannedParameter& primal, std::size_t index) {
        bool any = false;
        for (std::int64_t i = 0; i < primal.host.leaves; ++i)
            any = any || has_tangent(made_.arguments[static_cast<std::size_t>(primal.host.leaf + i)]);
        if (!any) return;
        if (primal.role == Role::in || primal.role == Role::inout)
            add_tangent(primal, index, Role::in, "tangents.");
        if (primal.role == Role::inout && gives_tangent_back(primal))
            add_tangent(primal, index, Role::out, "tangents_out.");
        if (is_only_written(primal.role)) add_tangent(primal, index, Role::out, "tangents.");
    }

    /// A method that changes its object changes nothing of one that is given by value. And where only a
    /// tensor has a tangent, no new one comes out.
    bool gives_tangent_back(const PlannedParameter& primal) const {
        const auto first = made_.arguments.begin() + primal.host.leaf;
        return std::any_of(first, first + primal.host.leaves, [](const PlannedArgument& leaf) {
            return leaf.host.role != Role::in && has_tangent(leaf);
        });
    }

    void add_tangent(const PlannedParameter& primal, std::size_t index, Role role,
                     const std::string& prefix) {
        PlannedParameter made = primal;
        const auto tangent_name = [&](const std::string& name) {
            // "return" is a name that no parameter can have.
            const std::string own = primal.host.name;
            return prefix + (primal.role == Role::result ? "return" + name.substr(own.size()) : name);
        };
        made.host.name = tangent_name(primal.host.name);
        made.role = role;
        made.tangent_of = static_cast<std::int64_t>(index);
        move_leaves(made.host, next() - primal.host.leaf);
        for (std::int64_t i = primal.host.leaf; i < primal.host.leaf + primal.host.leaves; ++i) {
            PlannedArgument leaf = made_.arguments[static_cast<std::size_t>(i)];
            // Fields that are only read stand in their places, and no tangent of them comes back.
            const bool stays = primal.role == Role::inout && leaf.host.role == Role::in && role == Role::out;
            leaf.host.name = tangent_name(leaf.host.name);
            leaf.host.tangent_of = i;
            leaf.host.differentiable = has_tangent(leaf) && !stays;
            leaf.is_result = false;
            become_tangent(leaf, stays ? Role::in : role);
            made_.arguments.push_back(std::move(leaf));
        }
        made_.parameters.push_back(std::move(made));
    }

    const PlannedCall& call_;
    PlannedCall made_;
};

}  // namespace

Diagnostics check_forward_diff(const Function& function, const PlannedCall& call, const Location& location) {
    const std::string subject = "function '" + function.name + "'";
    if (!function.forward_differentiable) {
        return {{Severity::error,
                 "not-differentiable",
                 location,
                 subject + " has no forward derivative",
                 {"mark it [Differentiable], or give it a [ForwardDerivative], at " + function.location.file +
                  ":" + std::to_string(function.location.line)}}};
    }
    if (const LostTangent& lost = function.lost_tangent; !lost.called.empty()) {
        const std::string called = "'" + lost.called + "'";
        const std::string why = lost.called == function.name ? "it " : "it calls " + called + ", which ";
        return {{Severity::error,
                 "not-differentiable",
                 location,
                 subject + " has no forward derivative: " + why +
                     (lost.treated_as_one ? "is marked [TreatAsDifferentiable]"
                                          : "has a backward derivative of its own and no forward one") +
                     ", so that Slang would take its tangent for 0",
                 {lost.treated_as_one
                      ? "give " + called +
                            " a [ForwardDerivative], or take the attribute away and write no_diff "
                            "before its calls"
                      : "give " + called + " a [ForwardDerivative], or mark it [Differentiable], too"}}};
    }
    const auto& arguments = call.arguments;
    const bool takes = std::any_of(arguments.begin(), arguments.end(), takes_tangent);
    const bool gives = std::any_of(arguments.begin(), arguments.end(), gives_tangent);
    if (takes && gives) return {};
    return {{Severity::error,
             "not-differentiable",
             location,
             subject + " has no " + (takes ? "output" : "input") +
                 " that can be differentiated, so it has no forward derivative",
             {}}};
}

PlannedCall forward_derivative(const PlannedCall& call) { return Deriver(call).derive(); }

void add_forward_derivatives(Plan& plan) {
    const std::size_t count = plan.functions.size();
    for (std::size_t i = 0; i < count; ++i) {
        PlannedFunction derived;
        for (const PlannedCall& call : plan.functions[i].calls) {
            if (call.has_jvp) derived.calls.push_back(forward_derivative(call));
        }
        if (derived.calls.empty()) continue;
        derived.name = plan.functions[i].name + ".jvp";
        derived.is_jvp = true;
        plan.functions[i].jvp = static_cast<std::int64_t>(plan.functions.size());
        plan.functions.push_back(std::move(derived));
    }
}

}  // namespace kf::gen
