// The binder's gradients: which flow, how each is written, and what may not share memory.
#include <algorithm>

#include "core/bind_error.h"
#include "core/bind_layout.h"
#include "core/bind_parts.h"
#include "core/convert.h"
#include "core/overlap.h"
#include "core/pass_text.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::Gradient;
using manifest::GradMode;

/// The scalars of a view that differ: the call's dimensions along which it moves, then trailing.
struct Scalars {
    Dims extents;
    Dims strides;
    bool shared = false;  ///< several calls have the same element
};

Scalars scalars_of(const Binding& binding, const Argument& argument, const CallView& view) {
    Scalars result;
    for (std::size_t d = 0; d < binding.shape.size(); ++d) {
        if (binding.shape[d] == 1) {
            continue;
        }
        if (view.strides[d] == 0) {
            result.shared = true;
            continue;
        }
        result.extents.push_back(binding.shape[d]);
        result.strides.push_back(view.strides[d]);
    }
    for (std::size_t k = 0; k < view.trailing.size(); ++k) {
        const std::size_t inner = view.inner.size();
        result.extents.push_back(k < inner ? view.inner[k] : argument.trailing[k - inner]);
        result.strides.push_back(view.trailing[k]);
    }
    return result;
}

/// Returns the scalars without those of the gradient's dimensions along which all elements share one place.
Scalars without_sums(Scalars scalars) {
    for (std::size_t k = scalars.extents.size(); k-- > 0;) {
        if (scalars.strides[k] == 0 && scalars.extents[k] > 1) {
            scalars.extents.erase(k);
            scalars.strides.erase(k);
        }
    }
    return scalars;
}

void check_accumulate(const BindRequest& request, std::size_t i, const Binding& binding, bool shared) {
    const Argument& argument = request.call.arguments[i];
    const std::int64_t summed = summed_in_element(argument, binding.arguments[i].grad_out);
    if (argument.accumulate == manifest::Accumulate::none && (shared || summed >= 0)) {
        fail(request, i, ErrorCode::shape_mismatch,
             "calls share elements of its gradient (the call's shape is " + to_string(binding.shape) +
                 "), and \"none\" is chosen for how they are combined (accumulate)");
    }
    if (argument.accumulate == manifest::Accumulate::first && summed >= 0) {
        fail(
            request, i, ErrorCode::shape_mismatch,
            "its gradient has extent 1 in dimension " + std::to_string(summed) +
                ", which is inside of what one call gives, and \"first\" is chosen (accumulate): give it the "
                "argument's extent there");
    }
}

/// Sums beside the gradient are rounded into it scalar by scalar: each needs a place of its own.
void check_sums_apart(const BindRequest& request, std::size_t i, const Binding& binding, bool repeats) {
    const Argument& argument = request.call.arguments[i];
    const std::string kind = argument.element.scalar == ScalarType::float16 ? "half" : "deterministic";
    const std::string what = kind + (is_output(argument) ? " sums" : " gradient");
    const std::int64_t summed = summed_in_element(argument, binding.arguments[i].grad_out);
    if (summed >= 0) {
        fail(request, i, ErrorCode::layout_mismatch,
             "its " + what + " has extent 1 in dimension " + std::to_string(summed) +
                 ", inside of its elements (" + type_text(argument) +
                 "), where such sums are kept one by one: give it the argument's extent there, and add up "
                 "what it holds");
    }
    if (repeats) {
        fail(request, i, ErrorCode::layout_mismatch,
             "elements of its " + what +
                 " share memory in a way that can't be summed; give a tensor whose elements are apart");
    }
}

void choose_mode(const BindRequest& request, std::size_t i, Binding& binding) {
    const Argument& argument = request.call.arguments[i];
    BoundArgument& bound = binding.arguments[i];
    const Scalars all = scalars_of(binding, argument, bound.grad_out);
    const Scalars scalars = without_sums(all);
    const bool moves = all.extents.size() > bound.grad_out.trailing.size();
    const bool repeats = may_repeat(scalars.extents, scalars.strides);
    const bool sums = all.shared || scalars.extents.size() != all.extents.size();
    if (argument.accumulate == manifest::Accumulate::first) {
        bound.mode = GradMode::injective;  // of calls that share an element the kernel picks one
        binding.needs_indices = binding.needs_indices || all.shared;
    } else if (has_free_access(argument)) {
        bound.mode = GradMode::partial;  // any call may add to any element
    } else if (all.shared && !moves) {
        bound.mode = GradMode::everywhere;
    } else {
        bound.mode = sums || repeats ? GradMode::partial : GradMode::injective;
    }
    check_accumulate(request, i, binding, all.shared);
    const bool half = argument.element.scalar == ScalarType::float16;
    const bool exact = binding.exact && is_floating(argument.element.scalar);
    if (!(half || exact) || bound.mode == GradMode::injective) {
        return;
    }
    check_sums_apart(request, i, binding, repeats);
    bound.scratch_count = element_scalars(argument);
    for (std::size_t k = 0; k < bound.grad_out.inner.size(); ++k) {
        const std::int64_t extent = bound.grad_out.inner[k];
        bound.scratch_count *= bound.grad_out.trailing[k] == 0 ? std::min<std::int64_t>(1, extent) : extent;
    }
    for (auto d = argument.map.rbegin(); d != argument.map.rend(); ++d) {
        const auto dimension = static_cast<std::size_t>(*d);
        if (binding.shape[dimension] > 1 && bound.grad_out.strides[dimension] != 0) {
            bound.scratch_strides[dimension] = bound.scratch_count;
            bound.scratch_count *= binding.shape[dimension];
        }
    }
}

/// The bytes that a view of a given tensor touches.
Footprint footprint(const BindRequest& request, const Binding& binding, std::size_t i, const CallView& view) {
    const Argument& argument = request.call.arguments[i];
    const Scalars scalars = scalars_of(binding, argument, view);
    const auto size = manifest::scalar_bytes(argument.element.scalar);
    Footprint result{view.address, size, scalars.extents, scalars.strides};
    for (std::size_t k = 0; k < result.strides.size(); ++k) {
        result.strides[k] *= size;
    }
    return result;
}

/// Each call finds its own element at the same place in both.
bool is_same_view(const BindRequest& request, const Binding& binding, std::size_t i, const CallView& a,
                  std::size_t j, const CallView& b) {
    const Argument& x = request.call.arguments[i];
    const Argument& y = request.call.arguments[j];
    if (a.address != b.address || x.trailing != y.trailing || x.element.scalar != y.element.scalar ||
        !(a.inner == b.inner)) {
        return false;
    }
    for (std::size_t d = 0; d < binding.shape.size(); ++d) {
        if (binding.shape[d] != 1 && a.strides[d] != b.strides[d]) {
            return false;
        }
    }
    return a.trailing == b.trailing;
}

class Aliasing {
public:
    Aliasing(const BindRequest& request, Binding& binding) : request_(request), binding_(binding) {}

    void check_forward() {
        for (std::size_t i = 0; i < count(); ++i) {
            const Argument& argument = request_.call.arguments[i];
            if (writes_elements(argument) && has_one_gradient(argument) && is_given(i)) check_view(i);
            if (!is_output_alone(argument) || !is_given(i)) {
                continue;
            }
            const bool combined = is_combined(argument);
            const Scalars own = scalars_of(binding_, argument, written(i));
            // Calls may share a whole tensor: which elements each writes is up to the function.
            const bool shares = own.shared && !has_free_access(argument) && !combined;
            if (shares || may_repeat(own.extents, own.strides)) {
                fail(request_, i, ErrorCode::aliasing,
                     "elements of the output share memory (it is a broadcast view)");
            }
            check_batch(i);
            for (std::size_t j = 0; j < count(); ++j) {
                const Argument& other = request_.call.arguments[j];
                const bool output = is_output_alone(other);
                if (j == i || !is_given(j) || (output && j > i) || (argument.aliases && other.aliases) ||
                    !overlap(i, written(i), j, written(j))) {
                    continue;
                }
                const bool whole = has_free_access(argument) || has_free_access(other) || combined;
                if (output || whole || !is_same_view(request_, binding_, i, at(i).data, j, at(j).data)) {
                    fail(request_, i, ErrorCode::aliasing,
                         "the output shares memory with argument '" + name(j) + "'" +
                             (output     ? ", another output"
                              : combined ? ", and calls add to it while others read"
                              : whole    ? ", and calls may read any of its elements"
                                         : " and isn't the very same view of it"));
                }
            }
        }
    }

    /// Calls read the gradients that flow in while others store.
    void check_fused() {
        for (std::size_t i = 0; i < count(); ++i) {
            if (!writes_elements(request_.call.arguments[i]) || !is_given(i)) {
                continue;
            }
            for (std::size_t j = 0; j < count(); ++j) {
                if (is_given(j) && at(j).grad_in.present && overlap(i, written(i), j, at(j).grad_in)) {
                    fail(request_, i, ErrorCode::aliasing,
                         "the output shares memory with the gradient of '" + name(j) + "', which is read");
                }
            }
        }
    }

    void check_backward() {
        for (std::size_t i = 0; i < count(); ++i) {
            // What the forward pass combines has been looked at there.
            if (at(i).mode == GradMode::none || !adds_to_given(i) ||
                is_combined(request_.call.arguments[i])) {
                continue;
            }
            for (std::size_t j = 0; j < count(); ++j) {
                if (is_given(j)) {
                    check_reads(i, j);
                }
                if (j < i && at(j).mode != GradMode::none && adds_to_given(j) &&
                    overlap(i, at(i).grad_out, j, at(j).grad_out)) {
                    share_gradient(i, j);
                }
            }
        }
    }

private:
    /// What is read of `j` isn't in the gradient of `i`, which is written.
    void check_reads(std::size_t i, std::size_t j) {
        const bool touched = is_input(request_.call.arguments[j]) || runs_forward(request_.pass);
        if (touched && overlap(i, at(i).grad_out, j, at(j).data)) {
            fail(request_, i, ErrorCode::aliasing,
                 "its gradient, which is written, shares memory with argument '" + name(j) + "'");
        }
        if (at(j).grad_in.present && overlap(i, at(i).grad_out, j, at(j).grad_in)) {
            fail(request_, i, ErrorCode::aliasing,
                 "its gradient, which is written, shares memory with the gradient of '" + name(j) +
                     "', which is read" + (i == j ? "; with_grads() takes two, grad_in and grad_out" : ""));
        }
    }

    /// A view may share memory with others as the function means it to, but not with itself.
    void check_view(std::size_t i) {
        const Scalars own = scalars_of(binding_, request_.call.arguments[i], at(i).data);
        if (may_repeat(own.extents, own.strides)) {
            fail(request_, i, ErrorCode::aliasing,
                 "it may be written, and elements of it share memory (it is a broadcast view)");
        }
    }

    /// Views are only read, or share memory as the function means them to.
    [[nodiscard]] static bool is_output_alone(const Argument& argument) {
        return writes_elements(argument) && !has_one_gradient(argument);
    }
    [[nodiscard]] std::size_t count() const { return binding_.arguments.size(); }
    BoundArgument& at(std::size_t i) { return binding_.arguments[i]; }
    /// What the forward pass reads or writes of it.
    [[nodiscard]] const CallView& written(std::size_t i) {
        return is_combined(request_.call.arguments[i]) ? at(i).grad_out : at(i).data;
    }
    [[nodiscard]] std::string name(std::size_t i) const { return host_name(request_.call, i); }
    [[nodiscard]] bool is_given(std::size_t i) const {
        return request_.arguments[i].kind == Arg::Kind::tensor;
    }

    /// Its gradient is in a tensor that there was before the call: of a value, one that was pushed to.
    [[nodiscard]] bool adds_to_given(std::size_t i) const {
        const bool pushed = is_pushed(request_.call.arguments[i]) && !binding_.arguments[i].makes_pushed;
        return is_given(i) || (request_.arguments[i].value_gradient && pushed);
    }

    bool overlap(std::size_t i, const CallView& a, std::size_t j, const CallView& b) const {
        return may_overlap(footprint(request_, binding_, i, a), footprint(request_, binding_, j, b));
    }

    /// Calls may share a tensor that the spec gives them together, but none because an extent is 1.
    void check_batch(std::size_t i) const {
        const Argument& argument = request_.call.arguments[i];
        if (!has_free_access(argument) || adds_atomically(argument)) {
            return;
        }
        for (const std::int64_t d : argument.map) {
            const auto dimension = static_cast<std::size_t>(d);
            if (binding_.shape[dimension] != 1 && binding_.arguments[i].data.strides[dimension] == 0) {
                fail(request_, i, ErrorCode::shape_mismatch,
                     "an output is never broadcast: several calls along dimension " + std::to_string(d) +
                         " would write to one tensor of the batch (the call's shape is " +
                         to_string(binding_.shape) + ")");
            }
        }
    }

    /// Two inputs add to one gradient. Where each call adds to its own element twice that is fine; else all
    /// additions must be atomic.
    void share_gradient(std::size_t i, std::size_t j) {
        if (at(i).mode == at(j).mode &&
            is_same_view(request_, binding_, i, at(i).grad_out, j, at(j).grad_out)) {
            binding_.adds_twice = binding_.adds_twice || at(i).mode == GradMode::injective;
            return;
        }
        const bool half = request_.call.arguments[i].element.scalar == ScalarType::float16;
        if (half || binding_.exact) {
            fail(request_, i, ErrorCode::aliasing,
                 std::string("its ") + (half ? "half" : "deterministic") +
                     " gradient shares memory with that of '" + name(j) +
                     "' and isn't the very same view of it");
        }
        for (const std::size_t k : {i, j}) {
            if (at(k).mode == GradMode::injective) {
                at(k).mode = GradMode::partial;
            }
        }
    }

    const BindRequest& request_;
    Binding& binding_;
};

[[noreturn]] void fail_without_gradients(const BindRequest& request) {
    std::string names;
    std::string last;
    for (std::size_t i = 0; i < request.call.arguments.size(); ++i) {
        const Argument& argument = request.call.arguments[i];
        const std::string name = host_name(request.call, i);
        if (is_input(argument) && argument.gradient != Gradient::never && name != last) {
            names += (names.empty() ? "'" : ", '") + name + "'";
            last = name;
        }
    }
    fail(request, ErrorCode::missing_gradient,
         std::string(to_string(request.pass)) + ": no input carries a gradient to add to: give one of " +
             names + " one (with_grads() of a tensor, Diff of a value)");
}

/// Outputs that calls combine in.
void bind_sums(const BindRequest& request, Binding& binding) {
    for (std::size_t i = 0; i < binding.arguments.size(); ++i) {
        if (is_combined(request.call.arguments[i])) {
            choose_mode(request, i, binding);
        }
    }
}

/// The gradients that a backward pass reads, and those that it adds to.
void bind_backward(const BindRequest& request, Binding& binding) {
    bool any = false;
    for (std::size_t i = 0; i < binding.arguments.size(); ++i) {
        const Argument& argument = request.call.arguments[i];
        BoundArgument& bound = binding.arguments[i];
        if (!has_flowing_gradient(argument)) {
            bound.grad_in.present = false;
            bound.grad_in.address = 0;
        }
        if (runs_forward(request.pass) && is_combined(argument)) {
            continue;
        }
        if (is_output(argument) && argument.accumulate == manifest::Accumulate::first) {
            // What flows in is the first call's alone, which the kernel finds.
            binding.needs_indices = binding.needs_indices || scalars_of(binding, argument, bound.data).shared;
        }
        const bool wanted = is_input(argument) && argument.gradient != Gradient::never;
        if (wanted && argument.gradient == Gradient::required && !bound.grad_out.present) {
            fail(request, i, ErrorCode::missing_gradient,
                 std::string(to_string(request.pass)) +
                     ": the call spec asks for its gradient (\"grad\": true), and it carries none: give it "
                     "one "
                     "(with_grads() of a tensor, Diff of a value)");
        }
        if (!wanted || !bound.grad_out.present) {
            bound.grad_out.present = false;
            bound.grad_out.address = 0;
            continue;
        }
        any = true;
        choose_mode(request, i, binding);
    }
    if (!any) {
        fail_without_gradients(request);
    }
}

}  // namespace

void bind_gradients(const BindRequest& request, Binding& binding) {
    binding.exact = pass_of(request, true).is_built() &&
                    (request.options.deterministic.value_or(false) || !pass_of(request, false).is_built());
    if (runs_forward(request.pass)) {
        bind_sums(request, binding);
    }
    if (runs_backward(request.pass)) {
        bind_backward(request, binding);
    }
}

void check_aliasing(const BindRequest& request, Binding& binding) {
    if (binding.total == 0) {
        return;
    }
    Aliasing aliasing(request, binding);
    if (runs_forward(request.pass)) {
        aliasing.check_forward();
    }
    if (request.pass == PassKind::fused) {
        aliasing.check_fused();
    }
    if (runs_backward(request.pass)) {
        aliasing.check_backward();
    }
}

void check_deterministic(const BindRequest& request, const Binding& binding) {
    // The kernels that aren't deterministic are all the same where no calls share a gradient's element.
    if (binding.exact || !request.options.deterministic.value_or(false)) {
        return;
    }
    for (std::size_t i = 0; i < binding.arguments.size(); ++i) {
        const GradMode mode = binding.arguments[i].mode;
        const bool floating = is_floating(request.call.arguments[i].element.scalar);
        if (floating && (mode == GradMode::everywhere || mode == GradMode::partial)) {
            fail(request, i, ErrorCode::no_deterministic_kernel,
                 std::string("deterministic sums are asked for (by options), calls add to ") +
                     (is_output(request.call.arguments[i]) ? "its elements" : "elements of its gradient") +
                     " together, and no kernel was generated that does so in the same way each time; say "
                     "\"backward\": {\"deterministic\": \"auto\"} in the call spec");
        }
    }
}

}  // namespace kf::detail
