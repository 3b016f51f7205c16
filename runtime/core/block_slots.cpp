// The one list of what stands in a kernel's parameter block.
#include "core/block_slots.h"

#include <algorithm>
#include <numeric>

#include "core/generator_rules.h"

namespace kf::manifest {
namespace {

/// What every Vulkan device takes as push constants.
constexpr std::int64_t push_constant_limit = 128;

/// Of generators, which count along each of the call's dimensions.
bool needs_indices(const Call& call) {
    return call.rank > 1 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), [](const Argument& argument) {
               return generator_of(argument) == GeneratorKind::call_id || is_spread(generator_of(argument));
           });
}

struct StrideSlots {
    SlotKind call;
    SlotKind trailing;
};

class SlotLister {
public:
    SlotLister(const Call& call, const BlockUse& use)
        : call_(call),
          use_(use),
          strided_(use.variant != Variant::contiguous),
          rows_(use.variant == Variant::rows) {}

    std::vector<Slot> list() {
        add(SlotKind::total);
        add(SlotKind::groups);
        const bool scratch = std::any_of(
            call_.arguments.begin(), call_.arguments.end(),
            [&](const Argument& argument) { return needs_scratch(argument, use_.pass, use_.exact); });
        if (scratch) add(SlotKind::counter);
        if (rows_) add_rows();
        const bool indices = rows_ ? scratch : strided_ || needs_indices(call_);
        for (std::int64_t d = 0; indices && d < call_.rank; ++d) add(SlotKind::shape, -1, d);
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            add_argument(call_.arguments[i], static_cast<std::int64_t>(i));
        }
        return std::move(slots_);
    }

private:
    void add_rows() {
        for (const SlotKind kind :
             {SlotKind::rows, SlotKind::row_length, SlotKind::tile_runs, SlotKind::tiles_down,
              SlotKind::tiles_along, SlotKind::along_reciprocal, SlotKind::tile_rows}) {
            add(kind);
        }
        for (std::int64_t d = 0; d < call_.rank; ++d) add(SlotKind::outer, -1, d);
    }

    void add_argument(const Argument& argument, std::int64_t index) {
        if (is_generator(argument)) return add_generator(argument, index);
        if (argument.tangent_of >= 0 && !argument.differentiable && argument.role == Role::in) return;
        const bool leads = leader_of(call_, index, Part::data, false) == index;
        const bool leads_gradient = leader_of(call_, index, Part::gradient, false) == index;
        for (std::int64_t d = 0; leads && d < argument.inner_rank; ++d) add(SlotKind::extent, index, d);
        if (leads && touches_data(argument, use_.pass)) add_data(argument, index);
        const bool combined = is_combined(argument) &&
                              (reads_gradient(argument, use_.pass) || writes_gradient(argument, use_.pass));
        if (combined) add_step(argument, index);
        // They say which calls share an element; a gradient that flows in may be missing, or a broadcast
        // view.
        if (takes_first(argument, use_.pass) && !writes_gradient(argument, use_.pass)) {
            add_call_strides(argument.map, index, SlotKind::stride);
        }
        if (leads_gradient && reads_gradient(argument, use_.pass)) {
            add(SlotKind::grad_in, index);
            add_strides(argument, argument.map, index,
                        {SlotKind::grad_in_stride, SlotKind::grad_in_trailing_stride});
        }
        const bool scratch = needs_scratch(argument, use_.pass, use_.exact);
        if (!writes_gradient(argument, use_.pass) || !(leads_gradient || scratch)) return;
        add(SlotKind::grad_out, index);
        std::vector<std::int64_t> along = argument.map;
        if (is_pushed(argument)) {
            along.resize(static_cast<std::size_t>(call_.rank));
            std::iota(along.begin(), along.end(), 0);
        }
        add_strides(argument, along, index, {SlotKind::grad_out_stride, SlotKind::grad_out_trailing_stride});
        if (!is_whole(argument)) add(SlotKind::grad_mode, index);
        if (!scratch) return;
        add(SlotKind::scratch, index);
        add(SlotKind::scratch_count, index);
        for (std::size_t d = 0; strided_ && d < argument.map.size(); ++d) {
            add(SlotKind::scratch_stride, index, argument.map[d]);
        }
    }

    void add_generator(const Argument& argument, std::int64_t index) {
        for (std::int64_t i = 0; is_spread(generator_of(argument)) && i < argument.call_rank; ++i) {
            add(SlotKind::offset, index, i);
        }
        for (std::size_t i = 0; is_spread(generator_of(argument)) && i < argument.map.size(); ++i) {
            add(SlotKind::stride, index, argument.map[i]);
        }
        if (!is_random(generator_of(argument))) return;
        add(SlotKind::seed, index);
        add(SlotKind::warmup, index);
        if (generator_of(argument) != GeneratorKind::rand_float) return;
        add(SlotKind::low, index);
        add(SlotKind::span, index);
        add(SlotKind::last, index);
    }

    void add_data(const Argument& argument, std::int64_t index) {
        if (passes_value(argument) && argument.role == Role::in && !is_in_memory(argument)) {
            return add(SlotKind::value, index);
        }
        add(SlotKind::address, index);
        add_strides(argument, argument.map, index, {SlotKind::stride, SlotKind::trailing_stride});
        if (argument.role == Role::in) add_step(argument, index);
    }

    void add_step(const Argument& argument, std::int64_t index) {
        if ((rows_ || !strided_) && has_step(argument)) add(SlotKind::step, index);
    }

    void add_strides(const Argument& argument, const std::vector<std::int64_t>& along, std::int64_t index,
                     const StrideSlots& slots) {
        // What is whole has strides in contiguous kernels too, or they follow from its extents.
        for (std::int64_t d = 0;
             is_whole(argument) && !is_contiguous_only(argument) && d < argument.inner_rank; ++d) {
            add(slots.trailing, index, d);
        }
        add_call_strides(along, index, slots.call);
        for (std::size_t d = 0; d < argument.trailing.size() && strided_ && !rows_ && !is_whole(argument);
             ++d) {
            add(slots.trailing, index, static_cast<std::int64_t>(d));
        }
    }

    void add_call_strides(std::vector<std::int64_t> dimensions, std::int64_t index, SlotKind kind) {
        if (!strided_) return;
        std::sort(dimensions.begin(), dimensions.end());
        for (const std::int64_t d : dimensions) add(kind, index, d);
    }

    void add(SlotKind kind, std::int64_t argument = -1, std::int64_t dimension = -1) {
        slots_.push_back({kind, argument, dimension});
    }

    const Call& call_;
    BlockUse use_;
    bool strided_;
    bool rows_;
    std::vector<Slot> slots_;
};

std::int64_t count_of(const std::vector<std::int64_t>& extents) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    return count;
}

}  // namespace

std::vector<Slot> block_slots(const Call& call, const BlockUse& use) { return SlotLister(call, use).list(); }

Element widened_element(const Argument& argument) {
    switch (argument.element.scalar) {
        case ScalarType::boolean:
        case ScalarType::uint8:
        case ScalarType::uint16: return {ScalarType::uint32, argument.trailing};
        case ScalarType::int8:
        case ScalarType::int16: return {ScalarType::int32, argument.trailing};
        case ScalarType::float16: return {ScalarType::float32, argument.trailing};
        default: return {argument.element.scalar, argument.trailing};
    }
}

std::int64_t slot_bytes(const Call& call, const Slot& slot) {
    switch (slot.kind) {
        case SlotKind::groups:
        case SlotKind::step:
        case SlotKind::seed:
        case SlotKind::warmup:
        case SlotKind::low:
        case SlotKind::span:
        case SlotKind::last:
        case SlotKind::extent:
        case SlotKind::row_length:
        case SlotKind::tile_runs:
        case SlotKind::tiles_down:
        case SlotKind::tiles_along:
        case SlotKind::along_reciprocal:
        case SlotKind::grad_mode: return 4;
        case SlotKind::value: {
            const Element wide = widened_element(call.arguments[static_cast<std::size_t>(slot.argument)]);
            return scalar_bytes(wide.scalar) * count_of(wide.extents);
        }
        default: return 8;
    }
}

std::int64_t slot_alignment(const Call& call, const Slot& slot) {
    if (slot.kind != SlotKind::value) return slot_bytes(call, slot);
    const Element wide = widened_element(call.arguments[static_cast<std::size_t>(slot.argument)]);
    const std::int64_t count = count_of(wide.extents);
    return scalar_bytes(wide.scalar) * (count == 1 ? 1 : count == 2 ? 2 : 4);
}

std::int64_t push_constant_bytes(const Call& call, const std::vector<Slot>& slots) {
    std::int64_t size = 0;
    std::int64_t largest = 1;
    const auto up = [](std::int64_t value, std::int64_t alignment) {
        return (value + alignment - 1) / alignment * alignment;
    };
    for (const Slot& slot : slots) {
        const std::int64_t alignment = slot_alignment(call, slot);
        size = up(size, alignment) + slot_bytes(call, slot);
        largest = std::max(largest, alignment);
    }
    return up(size, largest);
}

Passing vulkan_passing(std::int64_t push_constant_bytes) {
    if (push_constant_bytes <= push_constant_limit) return Passing::value;
    return push_constant_bytes <= max_uniform_block ? Passing::uniform : Passing::address;
}

bool has_step(const Argument& argument) {
    return (argument.role == Role::in || is_combined(argument)) && argument.call_rank > 0 &&
           !is_whole(argument);
}

bool is_summed(const Argument& argument) {
    return argument.accumulate != Accumulate::first && !is_pushed(argument);
}

bool reads_gradient(const Argument& argument, PassKind pass) {
    const bool written = is_whole(argument) ? access_of(argument) != Access::read : argument.role != Role::in;
    return pass != PassKind::forward && argument.differentiable && written;
}

bool writes_gradient(const Argument& argument, PassKind pass) {
    if (pass != PassKind::backward && is_combined(argument)) return true;
    return pass != PassKind::forward && argument.gradient != Gradient::never &&
           (argument.role == Role::in || argument.role == Role::inout);
}

bool takes_first(const Argument& argument, PassKind pass) {
    return is_combined(argument) && !is_summed(argument) && reads_gradient(argument, pass);
}

bool needs_scratch(const Argument& argument, PassKind pass, bool exact) {
    const bool half = argument.element.scalar == ScalarType::float16;
    const bool exactly = exact && is_summed(argument) && is_floating(argument.element.scalar);
    return writes_gradient(argument, pass) && (half || exactly);
}

bool touches_data(const Argument& argument, PassKind pass) {
    if (pass != PassKind::backward && is_combined(argument)) return false;
    if (pass != PassKind::backward) return true;
    if (access_of(argument) == Access::write || access_of(argument) == Access::add) return false;
    return argument.role == Role::in || argument.role == Role::inout;
}

std::int64_t leader_of(const Call& call, std::int64_t index, Part part, bool exact) {
    const Argument& argument = call.arguments[static_cast<std::size_t>(index)];
    if (!is_whole(argument) || argument.pitch == 0) return index;
    const auto parameter = std::find_if(
        call.parameters.begin(), call.parameters.end(),
        [&](const Parameter& one) { return index >= one.leaf && index < one.leaf + one.leaves; });
    if (parameter == call.parameters.end()) return -1;
    for (std::int64_t i = parameter->leaf; i < parameter->leaf + parameter->leaves; ++i) {
        const Argument& leaf = call.arguments[static_cast<std::size_t>(i)];
        const bool whole = part == Part::data && leaf.tangent_of < 0;
        const bool sum = part != Part::sums || needs_scratch(leaf, PassKind::backward, exact);
        if (whole || (leaf.differentiable && sum)) return i;
    }
    return -1;
}

}  // namespace kf::manifest
