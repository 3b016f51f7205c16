// The binder's second half: which kernel, how many groups, and the memory that lives for one launch.
#include <algorithm>
#include <limits>

#include "core/bind_error.h"
#include "core/bind_layout.h"
#include "core/bind_parts.h"
#include "core/convert.h"
#include "core/kinds/binding.h"
#include "core/launch_size.h"
#include "core/tensor_state.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::GradMode;
using manifest::RecordKind;

bool is_tensor(const BindRequest& request, std::size_t i) {
    return request.arguments[i].kind == Arg::Kind::tensor;
}

void check_contiguous_only(const BindRequest& request) {
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const ScalarView& data = request.arguments[i].data;
        if (requires_contiguous(request.call.arguments[i]) && is_tensor(request, i) &&
            !is_packed(request.call.arguments[i], data)) {
            fail(request, i, ErrorCode::layout_mismatch,
                 "expected a contiguous tensor (the call spec says \"layout\": \"contiguous\"), found " +
                     layout_text(request, i, data));
        }
    }
}

void choose_kernel(const BindRequest& request, Binding& binding) {
    check_contiguous_only(request);
    const manifest::Pass& pass = pass_of(request, binding.exact);
    std::size_t offender = request.arguments.size();
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        if (!is_flat(request, i, binding) && offender == request.arguments.size()) {
            offender = i;
        }
    }
    const bool flat = offender == request.arguments.size();
    // Contiguous kernels read all gradients before they write one.
    const bool in_order = flat && !binding.needs_indices && (!binding.adds_twice || pass.strided < 0);
    binding.kernel = in_order && pass.contiguous >= 0 ? pass.contiguous : pass.strided;
    const bool shares = std::any_of(binding.arguments.begin(), binding.arguments.end(),
                                    [](const auto& bound) { return bound.mode == GradMode::partial; });
    if (pass.rows >= 0 && shares && binding.total > 0 && plan_walk(request, binding)) {
        binding.kernel = pass.rows;
    }
    if (binding.kernel < 0) {
        const ScalarView& data = request.arguments[offender].data;
        fail(request, offender, ErrorCode::layout_mismatch,
             "only contiguous kernels were generated for this call, and its elements (or its gradient's) "
             "don't lie "
             "in the call's order without gaps: " +
                 layout_text(request, offender, data) + ", call shape " + to_string(binding.shape));
    }
}

void check_overwrite(const BindRequest& request, const Binding& binding) {
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const ScalarView& gradient = request.arguments[i].grad_out;
        if (request.call.arguments[i].overwrite && is_tensor(request, i) &&
            binding.arguments[i].mode != GradMode::none &&
            !is_packed(request.call.arguments[i], unshared(gradient))) {
            fail(request, i, ErrorCode::layout_mismatch,
                 "its gradient is overwritten (the call spec says so) and must be contiguous, found " +
                     layout_text(request, i, gradient));
        }
        const ScalarView& data = request.arguments[i].data;
        if (runs_forward(request.pass) && is_combined(request.call.arguments[i]) && is_tensor(request, i) &&
            !is_packed(request.call.arguments[i], data)) {
            fail(request, i, ErrorCode::layout_mismatch,
                 "calls are combined in it (accumulate), and it must be contiguous, found " +
                     layout_text(request, i, data));
        }
    }
}

constexpr std::int64_t part_alignment = 16;

[[noreturn]] void fail_without_memory() {
    throw ArgumentError(ErrorCode::shape_mismatch, "the call needs more temporary memory than there can be");
}

std::int64_t reserve(TemporaryPlan& plan, std::int64_t bytes) {
    const std::int64_t at = plan.size;
    if (bytes > std::numeric_limits<std::int64_t>::max() / 2 - at) {
        fail_without_memory();
    }
    plan.size = (at + bytes + part_alignment - 1) / part_alignment * part_alignment;
    return at;
}

std::int64_t element_bytes(const Argument& argument) {
    return static_cast<std::int64_t>(element_type(argument.element).size());
}

/// Throws where the threads that round an argument's sums would loop over more of them than the device's
/// loops can be long.
void check_loops(const BindRequest& request, const manifest::Kernel& kernel, std::size_t i,
                 std::int64_t sums) {
    constexpr std::int64_t most_iterations = 65'000;
    const std::int64_t most = most_iterations * threads_of(kernel);
    if (request.limits.calls_per_thread == 0 || sums <= most) return;
    fail(request, ErrorCode::shape_mismatch,
         "argument '" + request.call.arguments[i].name + "': its gradient has " + std::to_string(sums) +
             " scalars, but one of half, or a deterministic one, has at most " + std::to_string(most) +
             " on a Vulkan driver for the CPU, which ends loops early");
}

void plan_temporary(const BindRequest& request, Binding& binding) {
    TemporaryPlan& plan = binding.temporary;
    const manifest::Kernel& kernel = request.manifest.kernels[static_cast<std::size_t>(binding.kernel)];
    const auto& records = kernel.records;
    const auto has = [&](RecordKind kind) {
        return std::any_of(records.begin(), records.end(),
                           [&](const auto& record) { return record.kind == kind; });
    };
    const bool scratch = std::any_of(binding.arguments.begin(), binding.arguments.end(),
                                     [](const BoundArgument& bound) { return bound.scratch_count > 0; });
    if (has(RecordKind::counter) && (scratch || !has(RecordKind::sums))) {
        plan.counter_at = reserve(plan, 4 * (1 + static_cast<std::int64_t>(request.arguments.size())));
    }
    for (std::size_t i = 0; i < binding.arguments.size(); ++i) {
        BoundArgument& bound = binding.arguments[i];
        const std::int64_t bytes = binding.exact && is_floating(request.call.arguments[i].element.scalar)
                                       ? 8 * manifest::exact_words(request.call.arguments[i].element.scalar)
                                       : 4;
        if (bound.scratch_count > std::numeric_limits<std::int64_t>::max() / bytes) {
            fail_without_memory();
        }
        if (bound.scratch_count > 0) {
            check_loops(request, kernel, i, bound.scratch_count);
            bound.scratch_at = reserve(plan, bytes * bound.scratch_count);
        }
    }
    plan.read_begin = plan.size;
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const bool made = binding.arguments[i].allocate || is_pushed(request.call.arguments[i]);
        if (!is_tensor(request, i) && !made && binding.arguments[i].mode != GradMode::none) {
            binding.arguments[i].gradient_at = reserve(plan, element_bytes(request.call.arguments[i]));
        }
    }
    plan.zeroed = plan.size;
    plan.read_end = plan.size;
    int values = 0;
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const Argument& argument = request.call.arguments[i];
        BoundArgument& bound = binding.arguments[i];
        if (!passes_value(argument) || !is_output(argument)) {
            continue;
        }
        if (touches_data(argument, request.pass)) {
            bound.value_at = reserve(plan, element_bytes(argument));
            if (runs_forward(request.pass)) {
                plan.read_end = bound.value_at + element_bytes(argument);
                ++values;
            }
        }
        if (bound.grad_in.present) {
            bound.grad_in_at = reserve(plan, element_bytes(argument));
        }
    }
    if (values > 1) {
        plan.zeroed = plan.size;  // what lies between them is read back too
    }
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        if (is_uploaded(request.call.arguments[i]) && request.arguments[i].kind != Arg::Kind::absent) {
            binding.arguments[i].value_at = reserve(plan, element_bytes(request.call.arguments[i]));
        }
    }
}

bool sums(const Binding& binding) {
    return std::any_of(binding.arguments.begin(), binding.arguments.end(), [](const BoundArgument& bound) {
        return place_of(bound.mode) == GradMode::everywhere || bound.scratch_count > 0;
    });
}

/// Returns how a gradient is written whose old elements don't count: stored where each is written once, else
/// added to, once they are zeros.
GradMode mode_of_new(const BindRequest& request, const Binding& binding, std::size_t i, bool one_group) {
    const Argument& argument = request.call.arguments[i];
    const BoundArgument& bound = binding.arguments[i];
    const GradMode place = place_of(bound.mode);
    // Structs are left out: their fields without a gradient are to be zeros.
    const bool stores = summed_in_element(argument, bound.grad_out) < 0 && binding.total > 0 &&
                        !binding.exact && !binding.adds_twice && argument.pitch == 0 &&
                        bound.scratch_count == 0 && argument.accumulate != manifest::Accumulate::first;
    if (stores && place == GradMode::injective) return GradMode::set_injective;
    if (stores && place == GradMode::everywhere && one_group) return GradMode::set_everywhere;
    return place;
}

/// Needs to know how many groups there are.
void settle_new_gradients(const BindRequest& request, Binding& binding) {
    if (!runs_backward(request.pass)) return;
    bool one_group = binding.groups == 1;
    if (binding.kernel >= 0) {
        const manifest::Kernel& kernel = request.manifest.kernels[static_cast<std::size_t>(binding.kernel)];
        one_group = one_group && kernel.variant != manifest::Variant::rows;
    }
    for (std::size_t i = 0; i < binding.arguments.size(); ++i) {
        BoundArgument& bound = binding.arguments[i];
        const Argument& argument = request.call.arguments[i];
        if (runs_forward(request.pass) && is_combined(argument)) continue;
        const bool is_new = argument.overwrite || request.arguments[i].grad_is_new;
        if (!is_new || !is_tensor(request, i) || !bound.grad_out.present) continue;
        if (bound.mode != GradMode::none) bound.mode = mode_of_new(request, binding, i, one_group);
        bound.zeroes_gradient =
            bound.mode != GradMode::set_injective && bound.mode != GradMode::set_everywhere;
    }
}

/// Throws where a kernel can't count the call's tiles.
void check_tiles(const BindRequest& request, const Binding& binding) {
    const manifest::Kernel& kernel = request.manifest.kernels[static_cast<std::size_t>(binding.kernel)];
    if (request.call.dispatch != manifest::Dispatch::elements || !takes_textures(kernel)) return;
    const std::int64_t columns = binding.shape.empty() ? 1 : binding.shape[binding.shape.size() - 1];
    if (counts_tiles(binding.total, columns, threads_of(kernel))) return;
    fail(request, ErrorCode::shape_mismatch,
         "the call's shape " + to_string(binding.shape) + " is too large: a call that takes textures makes " +
             "at most 2^31 tiles of " + std::to_string(threads_of(kernel)) + "; make several calls of it");
}

}  // namespace

void size_launch(const BindRequest& request, Binding& binding, std::uint32_t resident,
                 std::uint32_t calls_per_thread) {
    if (request.call.dispatch != manifest::Dispatch::elements) {
        settle_new_gradients(request, binding);
        return;  // the host has said how many
    }
    const manifest::Kernel& kernel = request.manifest.kernels[static_cast<std::size_t>(binding.kernel)];
    const LaunchSize launch{
        threads_of(kernel), kernel.calls_per_thread,   request.limits.processors, resident,
        calls_per_thread,   request.limits.max_groups, takes_textures(kernel)};
    const bool summing = sums(binding);
    const bool walks = kernel.variant == manifest::Variant::rows;
    binding.groups =
        launch.limited(walks ? size_walk(kernel, launch.filling(binding.total, summing), binding.walk)
                             : launch.groups(binding.total, summing));
    binding.grid = {binding.groups, 1, 1};
    settle_new_gradients(request, binding);
}

void bind_launch(const BindRequest& request, Binding& binding) {
    choose_kernel(request, binding);
    check_overwrite(request, binding);
    if (binding.total == 0) {
        binding.groups = 0;
        settle_new_gradients(request, binding);
        return;
    }
    check_tiles(request, binding);
    size_launch(request, binding, 0, request.limits.calls_per_thread);
    plan_temporary(request, binding);
}

}  // namespace kf::detail
