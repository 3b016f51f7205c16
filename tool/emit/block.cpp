// The parameter block of one kernel.
#include "emit/block.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/rows.h"
#include "emit/generator.h"
#include "plan/tensor_parameter.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Access;
using manifest::Argument;
using manifest::ArgumentKind;
using manifest::Role;
using manifest::Scalar;
using manifest::Slot;
using manifest::SlotKind;
using manifest::Variant;

/// Values narrower than 32 bits travel widened, so that no device needs narrow push constants.
Scalar widened(Scalar scalar) {
    switch (scalar) {
        case Scalar::boolean:
        case Scalar::uint8:
        case Scalar::uint16: return Scalar::uint32;
        case Scalar::int8:
        case Scalar::int16: return Scalar::int32;
        case Scalar::float16: return Scalar::float32;
        default: return scalar;
    }
}

std::string storage_name(const manifest::Element& element) {
    if (element.scalar != Scalar::boolean) return slang_name(element);
    return slang_name(manifest::Element{Scalar::uint8, element.extents});
}

class BlockWriter {
public:
    BlockWriter(const PlannedCall& call, PassKind pass, Variant variant, Sums sums)
        : call_(call),
          pass_(pass),
          strided_(variant != Variant::contiguous),
          rows_(variant == Variant::rows),
          sums_(sums) {}

    std::vector<BlockField> write() {
        add("int64_t", "total", {SlotKind::total, -1, -1}, 8);
        add("uint", "groups", {SlotKind::groups, -1, -1}, 4);
        const bool scratch =
            std::any_of(call_.arguments.begin(), call_.arguments.end(),
                        [&](const auto& argument) { return needs_scratch(argument.host, pass_, sums_); });
        if (scratch) add("uint*", "counter", {SlotKind::counter, -1, -1}, 8);
        if (rows_) add_rows();
        const bool indices = rows_ ? scratch : strided_ || needs_indices(call_);
        for (std::int64_t d = 0; indices && d < call_.rank; ++d) {
            add("int64_t", "shape" + std::to_string(d), {SlotKind::shape, -1, d}, 8);
        }
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            write_argument(call_.arguments[i], static_cast<std::int64_t>(i));
        }
        return std::move(fields_);
    }

private:
    void add_rows() {
        add("int64_t", "rows", {SlotKind::rows, -1, -1}, 8);
        add("int", "row_length", {SlotKind::row_length, -1, -1}, 4);
        add("int", "tile_runs", {SlotKind::tile_runs, -1, -1}, 4);
        add("uint", "tiles_down", {SlotKind::tiles_down, -1, -1}, 4);
        add("uint", "tiles_along", {SlotKind::tiles_along, -1, -1}, 4);
        add("uint", "along_reciprocal", {SlotKind::along_reciprocal, -1, -1}, 4);
        add("int64_t", "tile_rows", {SlotKind::tile_rows, -1, -1}, 8);
        for (std::int64_t d = 0; d < call_.rank; ++d) {
            add("int64_t", "outer" + std::to_string(d), {SlotKind::outer, -1, d}, 8);
        }
    }

    void write_argument(const PlannedArgument& planned, std::int64_t index) {
        const Argument& argument = planned.host;
        const std::string name = argument_id(argument);
        if (is_generated(argument)) return add_generator_fields(argument, name, index, fields_);
        if (argument.tangent_of >= 0 && !argument.differentiable && argument.role == Role::in) return;
        const manifest::Element parameter{argument.element.scalar, argument.trailing};
        const bool leads = leader_of(call_, index, Part::data) == index;
        const bool leads_gradient = leader_of(call_, index, Part::gradient) == index;
        for (std::int64_t d = 0; leads && d < argument.inner_rank; ++d) {
            add("uint", "extent" + std::to_string(d) + "_" + name, {SlotKind::extent, index, d}, 4);
        }
        if (leads && touches_data(argument, pass_)) {
            if (is_in_block(argument)) {
                add_value(parameter, name, index);
            } else {
                add(pointed_to(planned) + "*", "address_" + name, {SlotKind::address, index, -1}, 8);
                add_strides(argument, name, index,
                            {SlotKind::stride, SlotKind::trailing_stride, "stride", "trailing_stride"});
                if (argument.role == Role::in) add_step(argument, name, index);
            }
        }
        const bool combined =
            is_combined(argument) && (reads_gradient(argument, pass_) || writes_gradient(argument, pass_));
        if (combined) add_step(argument, name, index);
        // They say which calls share an element; a gradient that flows in may be missing, or a broadcast
        // view.
        if (takes_first(argument, pass_) && !writes_gradient(argument, pass_)) {
            add_call_strides(argument, name, index, SlotKind::stride, "stride");
        }
        if (leads_gradient && reads_gradient(argument, pass_)) {
            add(pointed_to(planned) + "*", "grad_in_" + name, {SlotKind::grad_in, index, -1}, 8);
            add_strides(argument, name, index,
                        {SlotKind::grad_in_stride, SlotKind::grad_in_trailing_stride, "grad_in_stride",
                         "grad_in_trailing_stride"});
        }
        const bool scratch = needs_scratch(argument, pass_, sums_);
        if (!writes_gradient(argument, pass_) || !(leads_gradient || scratch)) return;
        add(slang_name(parameter.scalar) + "*", "grad_out_" + name, {SlotKind::grad_out, index, -1}, 8);
        Argument along = argument;
        if (is_pushed(argument)) {
            along.map.resize(static_cast<std::size_t>(call_.rank));
            std::iota(along.map.begin(), along.map.end(), 0);
        }
        add_strides(along, name, index,
                    {SlotKind::grad_out_stride, SlotKind::grad_out_trailing_stride, "grad_out_stride",
                     "grad_out_trailing_stride"});
        if (!is_whole(argument)) add("uint", "grad_mode_" + name, {SlotKind::grad_mode, index, -1}, 4);
        if (!scratch) return;
        add(is_summed_exactly(argument, sums_) ? "uint64_t*" : "float*", "scratch_" + name,
            {SlotKind::scratch, index, -1}, 8);
        add("int64_t", "scratch_count_" + name, {SlotKind::scratch_count, index, -1}, 8);
        for (std::size_t d = 0; strided_ && d < argument.map.size(); ++d) {
            const std::int64_t dimension = argument.map[d];
            add("int64_t", "scratch_stride" + std::to_string(dimension) + "_" + name,
                {SlotKind::scratch_stride, index, dimension}, 8);
        }
    }

    void add_step(const Argument& argument, const std::string& name, std::int64_t index) {
        if ((rows_ || !strided_) && has_step(argument))
            add("uint", "step_" + name, {SlotKind::step, index, -1}, 4);
    }

    [[nodiscard]] std::string pointed_to(const PlannedArgument& argument) const {
        const Scalar scalar = argument.host.element.scalar;
        if (strided_ || is_read_by_scalars(argument) || is_whole(argument.host))
            return storage_name({scalar, {}});
        return storage_name({scalar, argument.host.trailing});
    }

    struct StrideSlots {
        SlotKind call;
        SlotKind trailing;
        const char* call_name;
        const char* trailing_name;
    };

    void add_strides(const Argument& argument, const std::string& name, std::int64_t index,
                     const StrideSlots& slots) {
        if (is_whole(argument)) {
            // Its elements are dense, and it has strides in contiguous kernels too.
            add_inner_strides(argument, name, index, slots);
        }
        if (!strided_) return;
        add_call_strides(argument, name, index, slots.call, slots.call_name);
        for (std::size_t d = 0; d < argument.trailing.size() && !rows_ && !is_whole(argument); ++d) {
            add("int64_t", slots.trailing_name + std::to_string(d) + "_" + name,
                {slots.trailing, index, static_cast<std::int64_t>(d)}, 8);
        }
    }

    void add_call_strides(const Argument& argument, const std::string& name, std::int64_t index,
                          SlotKind slot, const std::string& word) {
        if (!strided_) return;
        std::vector<std::int64_t> dimensions = argument.map;
        std::sort(dimensions.begin(), dimensions.end());
        for (const std::int64_t d : dimensions) {
            add("int64_t", word + std::to_string(d) + "_" + name, {slot, index, d}, 8);
        }
    }

    void add_inner_strides(const Argument& argument, const std::string& name, std::int64_t index,
                           const StrideSlots& slots) {
        if (argument.contiguous_only) return;  // they follow from its extents
        for (std::int64_t d = 0; d < argument.inner_rank; ++d) {
            add("int64_t", slots.trailing_name + std::to_string(d) + "_" + name, {slots.trailing, index, d},
                8);
        }
    }

    void add_value(const manifest::Element& parameter, const std::string& name, std::int64_t index) {
        const manifest::Element wide{widened(parameter.scalar), parameter.extents};
        const std::int64_t scalar = storage_size(wide.scalar);
        const std::int64_t count = scalar_count(wide.extents);
        const std::int64_t alignment = count == 1 ? scalar : scalar * (count == 2 ? 2 : 4);
        add(slang_name(wide), "value_" + name, {SlotKind::value, index, -1}, scalar * count, alignment);
    }

    void add(std::string type, std::string name, Slot slot, std::int64_t size, std::int64_t alignment = 0) {
        fields_.push_back({std::move(type), std::move(name), slot, size, alignment == 0 ? size : alignment});
    }

    const PlannedCall& call_;
    PassKind pass_;
    bool strided_;
    bool rows_;
    Sums sums_;
    std::vector<BlockField> fields_;
};

/// The extent that an argument gives a dimension of every call, since it lies in its element; 0: any.
std::int64_t fixed_extent(const Argument& argument, std::size_t k) {
    const std::size_t rank =
        argument.kind == ArgumentKind::tensor ? static_cast<std::size_t>(argument.rank) : 0;
    return k < rank || k - rank >= argument.element.extents.size() ? 0 : argument.element.extents[k - rank];
}

/// Whether calls that share elements of gradients along one dimension can lie in long rows along others.
bool may_have_rows(const PlannedCall& call) {
    std::vector<std::int64_t> extents(static_cast<std::size_t>(call.rank), 0);
    for (const PlannedArgument& argument : call.arguments) {
        for (std::size_t k = 0; k < argument.host.map.size(); ++k) {
            std::int64_t& extent = extents[static_cast<std::size_t>(argument.host.map[k])];
            extent = std::max(extent, fixed_extent(argument.host, k));
        }
    }
    // The first dimension isn't in a row of its own calls: it tells rows apart.
    std::int64_t longest = 1;
    for (std::size_t d = 1; d < extents.size(); ++d) {
        if (extents[d] == 0) return true;
        longest *= extents[d];
    }
    return longest >= shortest_row;
}

}  // namespace

std::string argument_id(const Argument& argument) {
    std::string id = argument.name;
    if (argument.role == Role::result) id.replace(0, std::string("result").size(), "return");
    if (argument.tangent_of >= 0)
        id = (argument.role == Role::in ? "kf_d_" : "kf_d_out_") + id.substr(id.find('.') + 1);
    for (std::size_t dot = id.find('.'); dot != std::string::npos; dot = id.find('.', dot))
        id.replace(dot, 1, "__");
    return id;
}

bool is_looped(const PlannedArgument& argument) {
    // A vector of one has no scalar's form, and no name of its own on the host.
    const bool single = argument.type.kind == TypeKind::vector && argument.type.columns == 1;
    return single || argument.type.kind == TypeKind::matrix || argument.type.kind == TypeKind::array;
}

bool is_read_by_scalars(const PlannedArgument& argument) {
    const bool half3 = argument.host.element.scalar == Scalar::float16 &&
                       argument.host.trailing == std::vector<std::int64_t>{3};
    return half3 || is_looped(argument) || argument.host.pitch != 0;
}

bool is_in_block(const Argument& argument) {
    return argument.kind == ArgumentKind::value && argument.role == Role::in && !argument.in_memory;
}

bool is_whole(const Argument& argument) { return argument.access != Access::none; }

bool has_step(const Argument& argument) {
    return (argument.role == Role::in || is_combined(argument)) && argument.call_rank > 0 &&
           !is_whole(argument);
}

bool is_summed(const Argument& argument) {
    return argument.accumulate != manifest::Accumulate::first && !is_pushed(argument);
}

bool is_summed_exactly(const Argument& argument, Sums sums) {
    return sums == Sums::exact && is_summed(argument) && is_floating_point(argument.element.scalar);
}

bool reads_gradient(const Argument& argument, PassKind pass) {
    const bool written = is_whole(argument) ? argument.access != Access::read : argument.role != Role::in;
    return pass != PassKind::forward && argument.differentiable && written;
}

bool writes_gradient(const Argument& argument, PassKind pass) {
    if (pass != PassKind::backward && is_combined(argument)) return true;
    return pass != PassKind::forward && argument.gradient != manifest::Gradient::never &&
           (argument.role == Role::in || argument.role == Role::inout);
}

bool takes_first(const Argument& argument, PassKind pass) {
    return is_combined(argument) && !is_summed(argument) && reads_gradient(argument, pass);
}

bool needs_scratch(const Argument& argument, PassKind pass, Sums sums) {
    const bool half = argument.element.scalar == Scalar::float16;
    return writes_gradient(argument, pass) && (half || is_summed_exactly(argument, sums));
}

std::int64_t leader_of(const PlannedCall& call, std::int64_t index, Part part, Sums sums) {
    const Argument& argument = call.arguments[static_cast<std::size_t>(index)].host;
    if (!is_whole(argument) || argument.pitch == 0) return index;
    const auto parameter =
        std::find_if(call.parameters.begin(), call.parameters.end(), [&](const PlannedParameter& one) {
            return index >= one.host.leaf && index < one.host.leaf + one.host.leaves;
        });
    for (std::int64_t i = parameter->host.leaf; i < parameter->host.leaf + parameter->host.leaves; ++i) {
        const PlannedArgument& leaf = call.arguments[static_cast<std::size_t>(i)];
        const bool whole = part == Part::data && leaf.host.tangent_of < 0;
        const bool sum = part != Part::sums || needs_scratch(leaf.host, PassKind::backward, sums);
        if (whole || (is_differentiable_leaf(leaf) && sum)) return i;
    }
    return -1;
}

bool touches_data(const Argument& argument, PassKind pass) {
    if (pass != PassKind::backward && is_combined(argument)) return false;
    if (pass != PassKind::backward) return true;
    if (argument.access == Access::write || argument.access == Access::add) return false;
    return argument.role == Role::in || argument.role == Role::inout;
}

std::vector<BlockField> block_fields(const PlannedCall& call, PassKind pass, Variant variant, Sums sums) {
    return BlockWriter(call, pass, variant, sums).write();
}

bool can_walk_rows(const PlannedCall& call, PassKind pass) {
    // The largest subgroup that there is: groups are made of whole ones.
    constexpr std::uint32_t most_lanes = 128;
    const bool plain = std::all_of(call.arguments.begin(), call.arguments.end(), [&](const auto& argument) {
        // Their sums are of floats, and they know no calls' indices.
        const bool sums = !writes_gradient(argument.host, pass) ||
                          (is_summed(argument.host) && is_floating_point(argument.host.element.scalar));
        return !takes_first(argument.host, pass) && !is_looped(argument) && !is_whole(argument.host) &&
               !is_generated(argument.host) && argument.host.pitch == 0 && sums;
    });
    const bool structs =
        std::any_of(call.parameters.begin(), call.parameters.end(),
                    [](const auto& parameter) { return parameter.host.form != manifest::Form::leaf; });
    // They read every argument, and a tangent may be missing.
    return plain && !call.is_jvp && call.rank > 1 && may_have_rows(call) && !structs &&
           call.group_size[0] % most_lanes == 0 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), [&](const auto& argument) {
               return writes_gradient(argument.host, pass) && argument.host.call_rank > 0 &&
                      (!call.strict_broadcasting || is_combined(argument.host));
           });
}

std::int64_t std430_size(const std::vector<BlockField>& fields) {
    std::int64_t size = 0;
    std::int64_t largest = 1;
    const auto up = [](std::int64_t value, std::int64_t alignment) {
        return (value + alignment - 1) / alignment * alignment;
    };
    for (const BlockField& field : fields) {
        size = up(size, field.alignment) + field.size;
        largest = std::max(largest, field.alignment);
    }
    return up(size, largest);
}

const std::string& field_of(const std::vector<BlockField>& fields, SlotKind kind, std::int64_t argument,
                            std::int64_t dimension) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const BlockField& field) {
        return field.slot == Slot{kind, argument, dimension};
    });
    if (found == fields.end()) throw std::logic_error("a kernel without the field that it reads");
    return found->name;
}

}  // namespace kf::gen
