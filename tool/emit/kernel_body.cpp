// Reads every parameter, calls the function, its derivative or both, and stores what comes out.
#include "emit/kernel_body.h"

#include <string>
#include <utility>

#include "emit/backward_operand.h"
#include "emit/element_statements.h"
#include "emit/global_functions.h"
#include "emit/gradient_statements.h"
#include "emit/kernel_text.h"
#include "emit/kinds/buffer.h"
#include "emit/kinds/questions.h"
#include "emit/kinds/texture.h"
#include "emit/kinds/whole_tensor.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Role;

bool is_view(const ArgumentText& x) { return supply_of(x.host) == Supply::view; }

/// Adds parameters, one by one.
class BodyWriter {
public:
    BodyWriter(const KernelContext& kernel, std::int64_t run) : kernel_(kernel), body_(run) {}

    Body write() {
        const std::vector<PlannedParameter>& parameters = kernel_.call.parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            pass_launch_values(i);
            if (parameters[i].tangent_of < 0) add_parameter(parameters[i]);
        }
        pass_launch_values(parameters.size());
        return std::move(body_);
    }

private:
    /// Passes what the GPU gives each thread for what stands before that parameter.
    void pass_launch_values(std::size_t parameter) {
        for (const LaunchValue& value : kernel_.call.launch_values) {
            if (value.before != parameter) continue;
            if (!value.is_struct) {
                pass_same(value.expression);
                continue;
            }
            const std::string name = "kf_launch_" + std::to_string(structs_++);
            body_.add_local("const " + value.type, name, value.expression);
            pass_same(name);
        }
    }

    void add_parameter(const PlannedParameter& parameter) {
        if (!parameter.global_function.empty()) return add_global(parameter);
        if (kernel_.call.is_jvp && has_derivative(parameter)) {
            add_pair(parameter);
        } else if (is_bound(parameter) || is_bound_array(parameter)) {
            pass_same(bound_name(parameter.host.name));
        } else if (holds_struct_tensor(parameter)) {
            pass_same(add_struct_tensor(body_, kernel_, parameter));
        } else if (parameter.host.form == manifest::Form::leaf && is_view(leaf_of(parameter))) {
            pass_same(add_tensor(body_, leaf_of(parameter)));
        } else if (kernel_.pass == PassKind::forward) {
            add_forward(parameter);
        } else {
            add_backward(parameter);
            if (kernel_.pass == PassKind::fused) add_primal(parameter);
        }
    }

    /// Sets the variables that a global parameter is in kernels.
    void add_global(const PlannedParameter& parameter) {
        if (parameter.is_property) return add_property(parameter);
        std::string value;
        if (holds_struct_tensor(parameter)) {
            value = add_struct_tensor(body_, kernel_, parameter);
        } else if (is_leaf(parameter) && is_view(leaf_of(parameter))) {
            value = add_tensor(body_, leaf_of(parameter));
        } else {
            value = add_read(parameter, "kf_arg_" + id_of(parameter), Source::data);
        }
        body_.sets.emplace_back(parameter.global_function + "(" + value + ")");
    }

    /// Sets the variables that a property is read from.
    void add_property(const PlannedParameter& parameter) {
        for (const PropertyLeaf& leaf : property_leaves(kernel_.call, parameter, kernel_.target)) {
            if (!leaf.resource.empty()) {
                if (kernel_.target == CodeTarget::cuda_source)
                    body_.sets.emplace_back(leaf.name + " = kf_bits(" + leaf.resource + ")");
                continue;
            }
            const ArgumentText x(kernel_, leaf.argument);
            const std::string value = is_view(x) ? add_tensor(body_, x)
                                      : is_looped(x.planned)
                                          ? add_loaded(body_, x, "const ", "kf_arg_" + x.id, Source::data)
                                          : load(body_, x, Source::data);
            body_.sets.emplace_back(leaf.name + " = " + value);
        }
    }

    [[nodiscard]] bool is_bound(const PlannedParameter& parameter) const {
        return parameter.host.form != manifest::Form::fields &&
               supply_of(leaf_of(parameter).host) == Supply::bound;
    }

    /// Whether all of it is one array of textures or samplers, which kernels for SPIR-V declare as such.
    [[nodiscard]] bool is_bound_array(const PlannedParameter& parameter) const {
        const PlannedArgument& first = leaf_of(parameter).planned;
        return parameter.type.kind == TypeKind::array && is_array_element(first, kernel_.target) &&
               array_name(first.path).empty();
    }

    [[nodiscard]] ArgumentText leaf_of(const PlannedParameter& parameter) const {
        return {kernel_, parameter.host.leaf};
    }

    /// The parameter's part of names.
    [[nodiscard]] std::string id_of(const PlannedParameter& parameter) const {
        return is_leaf(parameter) ? leaf_of(parameter).id : struct_id(parameter);
    }

    static bool is_leaf(const PlannedParameter& parameter) {
        return parameter.host.form == manifest::Form::leaf;
    }

    /// Passes what the function and its derivative take alike.
    void pass_same(const std::string& name) {
        body_.passed.push_back(name);
        body_.primal.push_back(name);
    }

    /// The function's result, or an operand of it or of its derivative.
    void pass(const PlannedParameter& parameter, const std::string& name) {
        if (parameter.role == Role::result) {
            body_.result = name + " = ";
        } else {
            body_.passed.push_back(name);
        }
    }

    void add_forward(const PlannedParameter& parameter) {
        const std::string name = "kf_arg_" + id_of(parameter);
        if (is_leaf(parameter) && is_read(parameter.role)) {
            add_loaded(body_, leaf_of(parameter), parameter.role == Role::in ? "const " : "", name,
                       Source::data);
        } else {
            add_declared(parameter, name);
        }
        pass(parameter, name);
        add_outputs(parameter, name);
    }

    /// Adds the arguments that a fused kernel hands to the function itself, beside those of its derivative.
    void add_primal(const PlannedParameter& parameter) {
        const std::string id = id_of(parameter);
        const std::string name = "kf_arg_" + id;
        if (parameter.role == Role::in) {
            const bool paired = is_leaf(parameter) && leaf_of(parameter).host.differentiable;
            body_.primal.push_back(paired ? "kf_pair_" + id + ".p" : name);
            return;
        }
        add_declared(parameter, name);
        if (parameter.role == Role::result) {
            body_.result = name + " = ";
        } else {
            body_.primal.push_back(name);
        }
        add_outputs(parameter, name);
    }

    /// Declares a local for what the function writes.
    void add_declared(const PlannedParameter& parameter, const std::string& name) {
        if (!is_leaf(parameter)) return add_struct_local(parameter, name, Source::data);
        body_.add_local(leaf_of(parameter).type(), name, "");
    }

    void add_outputs(const PlannedParameter& parameter, const std::string& name) {
        for (const ArgumentText& x : leaves_of(kernel_, parameter)) {
            if (x.host.role != Role::in) add_output(x, name + x.planned.path);
        }
    }

    /// Where calls are combined, what one gives is added as its gradient would be.
    void add_output(const ArgumentText& x, const std::string& name) {
        if (x.writes_gradient() && is_combined(x.host)) return add_gradient(body_, x, name);
        add_store(body_, x, name);
    }

    void add_backward(const PlannedParameter& parameter) {
        const std::string id = id_of(parameter);
        const auto part = [&](Source source, bool is_paired) {
            const std::string name = (source == Source::data ? "kf_arg_" : "kf_grad_") + id;
            return is_paired ? pair_part(parameter, name, source) : add_read(parameter, name, source);
        };
        const auto pair = [&](const std::string& parts) {
            std::string name = "kf_pair_" + id;
            body_.add_local("var", name, "kf.paired(" + parts + ")");
            for (const ArgumentText& x : leaves_of(kernel_, parameter)) {
                if (x.writes_gradient() && !is_view(x)) add_gradient(body_, x, name + ".d" + x.planned.path);
            }
            return name;
        };
        const bool differentiable =
            is_leaf(parameter) ? leaf_of(parameter).host.differentiable : has_derivative(parameter);
        if (auto operand = backward_operand(parameter.role, differentiable, part, pair))
            body_.passed.push_back(std::move(*operand));
    }

    /// An expression for a part of a pair: a local of that name, where it takes one.
    std::string pair_part(const PlannedParameter& parameter, const std::string& name, Source source) {
        if (!is_leaf(parameter)) {
            add_struct_local(parameter, name, source);
            return name;
        }
        const ArgumentText x = leaf_of(parameter);
        return is_looped(x.planned) ? add_loaded(body_, x, "", name, source) : load(body_, x, source);
    }

    /// Declares a local of that name that holds the parameter, and returns its name.
    std::string add_read(const PlannedParameter& parameter, const std::string& name, Source source) {
        if (is_leaf(parameter)) return add_loaded(body_, leaf_of(parameter), "const ", name, source);
        add_struct_local(parameter, name, source);
        return name;
    }

    /// Declares a local of the struct's type and fills its fields: with the data, or with the gradients that
    /// flow in.
    void add_struct_local(const PlannedParameter& parameter, const std::string& name, Source source) {
        const bool tangent = parameter.tangent_of >= 0;
        const bool gradient = source == Source::gradient;
        View::List fills;
        for (const ArgumentText& x : leaves_of(kernel_, parameter)) {
            const bool is_there = gradient ? x.host.differentiable && !is_view(x) : is_read(x.host.role);
            if (!is_there || (tangent && (!x.host.differentiable || is_view(x)))) continue;
            // The fields of a buffer's structs are one buffer.
            if (supply_of(x.host) == Supply::bound &&
                leader_of(kernel_.call, x.index, manifest::Part::data) != x.index)
                continue;
            if (is_array_element(x.planned, kernel_.target)) {
                if (!array_extents(kernel_.call, x.planned).empty())
                    fills.emplace_back(name + array_name(x.planned.path) + " = " +
                                       bound_name(array_name(x.host.name)));
                continue;
            }
            const std::string field = name + x.planned.path;
            fills.emplace_back(is_view(x) ? field + " = " + add_tensor(body_, x)
                                          : fill_field(body_, x, field, source));
        }
        body_.add_local(
            gradient || tangent ? differential_name(parameter.type) : declared_name(parameter.type), name,
            fills);
    }

    // ---- Forward derivatives ----

    /// `fwd_diff` takes a pair of what is differentiable and its tangent, and gives such pairs.
    void add_pair(const PlannedParameter& parameter) {
        const std::string id = id_of(parameter);
        const std::string pair = "kf_pair_" + id;
        if (is_read(parameter.role)) {
            std::string values = add_read(parameter, "kf_arg_" + id, Source::data);
            if (const PlannedParameter* tangent = tangent_of(parameter, Role::in))
                values += ", " + add_read(*tangent, "kf_d_" + id, Source::data);
            body_.add_local("var", pair, "kf.paired(" + values + ")");
        } else {
            body_.add_local("DifferentialPair<" + declared_name(parameter.type) + ">", pair, "");
        }
        pass(parameter, pair);
        if (parameter.role == Role::in) return;
        add_outputs(parameter, pair + ".p");
        if (const PlannedParameter* tangent = tangent_of(parameter, Role::out))
            add_tangent_outputs(*tangent, pair + ".d");
    }

    const PlannedParameter* tangent_of(const PlannedParameter& parameter, Role role) const {
        const std::int64_t index = &parameter - kernel_.call.parameters.data();
        for (const PlannedParameter& other : kernel_.call.parameters) {
            if (other.tangent_of == index && other.role == role) return &other;
        }
        return nullptr;
    }

    void add_tangent_outputs(const PlannedParameter& tangent, const std::string& value) {
        for (const ArgumentText& x : leaves_of(kernel_, tangent)) {
            if (x.host.role == Role::in) continue;
            if (x.host.differentiable) {
                add_output(x, value + x.planned.path);
                continue;
            }
            // A field without a tangent.
            const std::string zero = "kf_zero_" + x.id;
            body_.add_local(x.type(), zero, "{}");
            add_output(x, zero);
        }
    }

    const KernelContext& kernel_;
    Body body_;
    int structs_ = 0;  ///< of system values, that have been passed
};

}  // namespace

Body make_body(const KernelContext& kernel, std::int64_t run) { return BodyWriter(kernel, run).write(); }

}  // namespace kf::gen
