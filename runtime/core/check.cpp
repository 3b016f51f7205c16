// The rules that hold in every manifest.
#include <kf/any_tensor.h>
#include <kf/error.h>

#include <algorithm>
#include <set>

#include "core/artifact.h"
#include "core/convert.h"
#include "core/image_digests.h"
#include "core/items.h"
#include "core/roles.h"

namespace kf::artifact {
namespace {

using namespace manifest;

constexpr std::int64_t max_block = 65536;      // bytes
constexpr std::int64_t max_scalars = 4096;     // of one parameter
constexpr std::int64_t max_group_size = 1024;  // threads
constexpr std::int64_t max_struct = 1 << 20;   // bytes
constexpr int max_nesting = 8;                 // of structs
constexpr std::size_t max_choices = 4096;      // combinations of ways to accumulate

[[noreturn]] void fail(const std::string& where, const std::string& what) {
    throw ArtifactError(ErrorCode::artifact_corrupt, "the artifact is inconsistent: " + where + ": " + what +
                                                         "; generate it again with kfgen");
}

void require(bool holds, const std::string& where, const char* what) {
    if (!holds) {
        fail(where, what);
    }
}

std::int64_t scalars(const std::vector<std::int64_t>& extents, const std::string& where) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) {
        require(extent >= 1 && extent <= max_scalars, where, "an extent out of range");
        count *= extent;
        require(count <= max_scalars, where, "too many scalars in one element");
    }
    return count;
}

bool is_index(Scalar scalar) {
    return scalar == Scalar::int32 || scalar == Scalar::uint32 || scalar == Scalar::int64 ||
           scalar == Scalar::uint64;
}

void check_generator(const Call& call, const Argument& argument, const std::string& where) {
    const Scalar scalar = argument.element.scalar;
    const bool feeds = argument.generator == Generator::grid || argument.generator == Generator::range;
    require(argument.role == Role::in && argument.gradient == Gradient::never, where,
            "a generator that isn't only read");
    require(argument.trailing == argument.element.extents, where, "a generator of other elements");
    require(argument.call_rank == (feeds ? argument.rank : 0), where, "a generator of another call rank");
    switch (argument.generator) {
        case Generator::none: fail(where, "a generator of no kind");
        case Generator::call_id:
            require(is_index(scalar) && argument.rank == call.rank, where, "indices of another call");
            return;
        case Generator::thread_id: require(is_index(scalar), where, "indices that aren't integers"); return;
        case Generator::range:
        case Generator::grid: require(is_index(scalar), where, "indices that aren't integers"); return;
        case Generator::wang_hash:
            require(scalar == Scalar::int32 || scalar == Scalar::uint32, where, "hashes not of 32 bits");
            return;
        case Generator::rand_float: require(scalar == Scalar::float32, where, "random numbers not float");
    }
}

void check_argument(const Call& call, const Argument& argument, const std::string& where) {
    const bool tensor = argument.kind == ArgumentKind::tensor;
    const bool generator = argument.kind == ArgumentKind::generator;
    const auto limit = static_cast<std::int64_t>(max_rank);
    require(argument.element.extents.size() <= 4, where, "an element of more than four dimensions");
    (void)scalars(argument.element.extents, where);
    (void)scalars(argument.trailing, where);
    require(argument.rank >= 0 && argument.rank <= limit, where, "rank out of range");
    require(tensor || generator || argument.rank == 0, where, "a value with a rank");
    const std::size_t dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
    require(argument.call_rank >= 0 && argument.call_rank <= call.rank, where, "call rank out of range");
    const auto call_rank = static_cast<std::size_t>(argument.call_rank);
    require(argument.map.size() == call_rank, where, "a map of another length than the call rank");
    const std::size_t leading = call_rank + static_cast<std::size_t>(argument.inner_rank);
    require(argument.inner_rank >= 0 && argument.inner_rank <= limit, where, "inner rank out of range");
    require((argument.inner_rank > 0) == (argument.access != Access::none), where,
            "a tensor parameter without a rank");
    require(argument.inner_rank == 0 || (tensor && argument.role == Role::in), where,
            "a tensor parameter that isn't given a tensor");
    if (generator) {
        check_generator(call, argument, where);
    } else {
        require(argument.generator == Generator::none, where, "a generator that isn't one");
        require(leading + argument.trailing.size() == dims, where,
                "call rank, inner rank and trailing extents don't add up");
    }
    for (std::size_t i = 0; !generator && i < argument.element.extents.size(); ++i) {
        const std::size_t dimension = static_cast<std::size_t>(argument.rank) + i;
        require(dimension < leading || argument.trailing[dimension - leading] == argument.element.extents[i],
                where, "trailing extents that aren't the element's");
    }
    std::set<std::int64_t> seen;
    for (const std::int64_t dimension : argument.map) {
        require(dimension >= 0 && dimension < call.rank && seen.insert(dimension).second, where,
                "a map that isn't into the call's dimensions");
    }
    const bool meets = argument.accumulate != Accumulate::automatic;
    if (is_output(argument) && !meets) {
        require(argument.call_rank == call.rank, where, "an output of another rank than the call");
        require(tensor || call.rank == 0, where, "a value as the output of a call with a rank");
    }
    require(!meets || argument.role != Role::inout, where, "an accumulated value that is read too");
    require(argument.accumulate != Accumulate::push || (argument.role == Role::in && tensor), where,
            "a pushed gradient of no tensor");
    require(argument.spacing.empty() || argument.spacing.size() == argument.element.extents.size(), where,
            "another number of spacings than extents");
    require(argument.pitch >= 0 && argument.pitch <= max_struct && argument.offset >= 0 &&
                argument.offset <= max_struct,
            where, "a place outside the struct");
    if (argument.differentiable || argument.gradient != Gradient::never) {
        require(is_floating(scalar_type(argument.element.scalar)), where,
                "a gradient of what isn't floating");
    }
}

/// The last byte of a field lies in its struct of `size` bytes.
void check_field(const Argument& argument, std::int64_t size, Form form, const std::string& where) {
    const auto scalar = static_cast<std::int64_t>(size_of(scalar_type(argument.element.scalar)));
    std::int64_t last = 0;
    std::int64_t packed = 1;
    for (std::size_t i = argument.element.extents.size(); i-- > 0;) {
        const std::int64_t step = argument.spacing.empty() ? packed : argument.spacing[i];
        require(step >= 1 && step <= max_struct, where, "scalars of a struct that lie nowhere");
        last += step * (argument.element.extents[i] - 1);
        packed *= argument.element.extents[i];
        require(last <= max_struct, where, "a field outside its struct");
    }
    require(argument.offset % scalar == 0 && argument.offset + (last + 1) * scalar <= size, where,
            "a field outside its struct");
    const bool tensor = form == Form::tensor;
    require(tensor == (argument.kind == ArgumentKind::tensor), where,
            "a field of another form than its struct");
    require(!tensor || (argument.pitch * scalar == size &&
                        argument.call_rank + argument.inner_rank == argument.rank),
            where, "a pitch that isn't the struct's size");
}

/// `next` is the leaf that comes next in the tree's order.
void check_parameter(const Call& call, const Parameter& parameter, std::int64_t& next, int depth,
                     const std::string& where) {
    require(depth < max_nesting && parameter.leaf == next && parameter.leaves >= 1 &&
                parameter.leaves <= static_cast<std::int64_t>(call.arguments.size()) - parameter.leaf,
            where, "arguments that aren't a tree's leaves");
    for (const Parameter& field : parameter.fields) {
        require(parameter.form == Form::fields || field.form == Form::leaf || field.form == parameter.form,
                where, "a field of another form than its struct");
        check_parameter(call, field, next, depth + 1, where + "." + field.name);
    }
    if (parameter.fields.empty()) {
        require(parameter.form == Form::leaf && parameter.leaves == 1, where, "a struct without fields");
        ++next;
    }
    require(next == parameter.leaf + parameter.leaves, where, "arguments that aren't a tree's leaves");
    if (parameter.form == Form::leaf) {
        return;
    }
    require(parameter.extents.size() <= 4, where, "an array of too many dimensions");
    const std::int64_t count = scalars(parameter.extents, where);
    require(parameter.size >= 0 && parameter.size <= max_struct / count && parameter.offset >= 0 &&
                parameter.offset <= max_struct,
            where, "a struct of impossible size");
}

void check_parameters(const Call& call, const std::string& where) {
    std::int64_t next = 0;
    for (const Parameter& parameter : call.parameters) {
        check_parameter(call, parameter, next, 0, where + ": parameter '" + parameter.name + "'");
    }
    require(call.parameters.empty() || next == static_cast<std::int64_t>(call.arguments.size()), where,
            "arguments of no parameter");
    for (const Item& item : items_of(call.parameters)) {
        for (std::int64_t i = item.leaf; item.form != Form::leaf && i < item.leaf + item.leaves; ++i) {
            const Argument& argument = call.arguments[static_cast<std::size_t>(i)];
            check_field(argument, item.size, item.form, where + ": argument '" + argument.name + "'");
        }
    }
}

/// A tangent is like the argument that it belongs to.
void check_tangent(const Call& call, const Argument& argument, const std::string& where) {
    if (argument.tangent_of == -1) {
        return;
    }
    require(
        argument.tangent_of >= 0 && argument.tangent_of < static_cast<std::int64_t>(call.arguments.size()),
        where, "a tangent of nothing");
    const Argument& primal = call.arguments[static_cast<std::size_t>(argument.tangent_of)];
    require(primal.tangent_of == -1, where, "a tangent of a tangent");
    require(argument.role == Role::in || argument.role == Role::out, where, "a tangent of another role");
    require(primal.kind == ArgumentKind::generator ||
                (argument.kind == primal.kind && argument.element == primal.element &&
                 argument.rank == primal.rank && argument.inner_rank == primal.inner_rank),
            where, "a tangent of another kind");
    const auto is_primal = [&](const Parameter& parameter) { return parameter.leaf == argument.tangent_of; };
    const bool first =
        std::any_of(call.parameters.begin(), call.parameters.end(), [&](const Parameter& parameter) {
            return &call.arguments[static_cast<std::size_t>(parameter.leaf)] == &argument;
        });
    require(!first || std::any_of(call.parameters.begin(), call.parameters.end(), is_primal), where,
            "a tangent of no parameter");
}

void check_slot(const Call& call, const Slot& slot, const std::string& where) {
    switch (slot.kind) {
        case SlotKind::total:
        case SlotKind::groups:
        case SlotKind::rows:
        case SlotKind::row_length:
        case SlotKind::tile_runs:
        case SlotKind::tile_rows:
        case SlotKind::tiles_down:
        case SlotKind::tiles_along:
        case SlotKind::along_reciprocal: return;
        case SlotKind::shape:
        case SlotKind::outer:
            require(slot.dimension >= 0 && slot.dimension < call.rank, where, "a slot of no dimension");
            return;
        case SlotKind::counter:
            require(slot.argument >= -1, where, "a slot of no argument");
            if (slot.argument == -1) {
                return;
            }
            break;
        default: break;
    }
    require(slot.argument >= 0 && slot.argument < static_cast<std::int64_t>(call.arguments.size()), where,
            "a slot of no argument");
    const Argument& argument = call.arguments[static_cast<std::size_t>(slot.argument)];
    switch (slot.kind) {
        case SlotKind::value:
            require(argument.kind == ArgumentKind::value && argument.role != Role::out &&
                        argument.role != Role::result,
                    where, "a value slot of what has no value");
            return;
        case SlotKind::address:
            require(argument.kind == ArgumentKind::tensor || is_output(argument) || argument.in_memory, where,
                    "an address slot of a value");
            return;
        case SlotKind::stride:
        case SlotKind::grad_in_stride:
        case SlotKind::grad_out_stride:
        case SlotKind::scratch_stride:
            require(slot.dimension >= 0 && slot.dimension < call.rank, where, "a slot of no dimension");
            return;
        case SlotKind::offset:
            require(slot.dimension >= 0 && slot.dimension < argument.call_rank &&
                        argument.kind == ArgumentKind::generator,
                    where, "an offset of nothing");
            return;
        case SlotKind::seed:
        case SlotKind::warmup:
            require(argument.generator == Generator::wang_hash || argument.generator == Generator::rand_float,
                    where, "a seed of what isn't random");
            return;
        case SlotKind::low:
        case SlotKind::span:
        case SlotKind::last:
            require(argument.generator == Generator::rand_float, where, "bounds of what isn't random");
            return;
        case SlotKind::trailing_stride:
        case SlotKind::grad_in_trailing_stride:
        case SlotKind::grad_out_trailing_stride: {
            const auto trailing = static_cast<std::int64_t>(argument.trailing.size());
            require(slot.dimension >= 0 && slot.dimension < argument.inner_rank + trailing, where,
                    "a slot of no dimension");
            return;
        }
        case SlotKind::extent:
            require(slot.dimension >= 0 && slot.dimension < argument.inner_rank, where,
                    "a slot of no dimension");
            return;
        default: return;
    }
}

void check_layout(const Call& call, const Kernel& kernel, const BlockLayout& layout,
                  const std::string& where) {
    require(layout.size >= 0 && layout.size <= max_block, where, "a parameter block of impossible size");
    require(layout.offsets.size() == kernel.slots.size(), where, "another number of offsets than slots");
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
    for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
        const std::int64_t offset = layout.offsets[i];
        const std::int64_t size = slot_size(call, kernel.slots[i]);
        require(offset >= 0 && offset <= layout.size && size <= layout.size - offset, where,
                "a slot outside the parameter block");
        ranges.emplace_back(offset, size);
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        require(ranges[i - 1].first + ranges[i - 1].second <= ranges[i].first, where, "slots that overlap");
    }
}

void check_pass(const Manifest& manifest, const Call& call, const Pass& pass, bool wanted,
                const std::string& where) {
    require(!wanted || pass.is_built(), where, "a pass without kernels");
    for (const auto& [variant, index] : pass.kernels()) {
        require(index >= -1 && index < static_cast<std::int64_t>(manifest.kernels.size()), where,
                "a kernel that isn't there");
        if (index < 0) {
            continue;
        }
        const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(index)];
        const std::string kernel_where = where + ": kernel '" + kernel.name + "'";
        require(kernel.variant == variant, kernel_where, "the other variant's kernel");
        for (const Slot& slot : kernel.slots) {
            check_slot(call, slot, kernel_where);
        }
        for (const auto& [target, layout] : kernel.layouts) {
            check_layout(call, kernel, layout, kernel_where + " for " + target);
        }
    }
}

/// One function for every combination of ways.
void check_choices(const Manifest& manifest, const Function& function, const std::string& where) {
    std::size_t combinations = function.choices.empty() ? 0 : 1;
    for (const Choice& choice : function.choices) {
        require(!choice.name.empty() && !choice.ways.empty() && choice.ways.size() <= max_choices, where,
                "a choice of nothing");
        combinations *= choice.ways.size();
        require(combinations <= max_choices, where, "too many choices");
    }
    require(function.chosen.size() == combinations, where, "another number of functions than choices");
    const std::int64_t own = &function - manifest.functions.data();
    bool is_one = combinations == 0;
    for (const std::int64_t index : function.chosen) {
        require(index >= 0 && index < static_cast<std::int64_t>(manifest.functions.size()), where,
                "a choice that isn't there");
        require(manifest.functions[static_cast<std::size_t>(index)].choices == function.choices, where,
                "a choice of another function's");
        is_one = is_one || index == own;
    }
    require(is_one, where, "a function that can't be chosen");
}

void check_kernel(const Kernel& kernel, ImageDigests& digests) {
    const std::string where = "kernel '" + kernel.name + "'";
    std::int64_t threads = 1;
    for (const std::uint32_t extent : kernel.group_size) {
        require(extent >= 1 && extent <= max_group_size, where, "a group size out of range");
        threads *= extent;
    }
    require(threads <= max_group_size, where, "a group size out of range");
    require(kernel.calls_per_thread >= 1 && kernel.calls_per_thread <= 64, where,
            "calls of a thread out of range");
    require(!kernel.layouts.empty() && !kernel.images.empty(), where, "no image");
    for (const Image& image : kernel.images) {
        require(!image.bytes.empty() && !image.entry_point.empty() && !image.format.empty(), where,
                "an empty image");
        require(image.sha256 == digests.of(image.bytes), where, "an image that isn't what its digest says");
    }
}

}  // namespace

std::int64_t slot_size(const Call& call, const Slot& slot) {
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
            const Element& element = call.arguments[static_cast<std::size_t>(slot.argument)].element;
            std::int64_t count = 1;
            for (const std::int64_t extent : element.extents) {
                count *= extent;
            }
            return count *
                   static_cast<std::int64_t>(std::max<std::size_t>(4, size_of(scalar_type(element.scalar))));
        }
        default: return 8;
    }
}

void check(const Manifest& manifest) {
    ImageDigests digests;
    for (const Kernel& kernel : manifest.kernels) {
        check_kernel(kernel, digests);
    }
    std::set<std::string> names;
    for (const Function& function : manifest.functions) {
        const std::string where = "function '" + function.name + "'";
        require(!function.name.empty() && names.insert(function.name).second, where,
                "a name that isn't unique");
        require(!function.calls.empty(), where, "no calls");
        require(function.jvp >= -1 && function.jvp < static_cast<std::int64_t>(manifest.functions.size()),
                where, "a forward derivative that isn't there");
        if (function.jvp >= 0) {
            // None has one of its own: who follows them comes to an end.
            const Function& jvp = manifest.functions[static_cast<std::size_t>(function.jvp)];
            require(is_jvp(jvp) && jvp.jvp == -1, where, "a forward derivative that isn't one");
        }
        check_choices(manifest, function, where);
        for (const Call& call : function.calls) {
            require(call.rank >= 0 && call.rank <= static_cast<std::int64_t>(max_rank), where,
                    "a call rank out of range");
            require(call.arguments.size() <= 256, where, "too many arguments");
            for (const Argument& argument : call.arguments) {
                check_argument(call, argument, where + ": argument '" + argument.name + "'");
            }
            check_parameters(call, where);
            for (const Argument& argument : call.arguments) {
                check_tangent(call, argument, where + ": argument '" + argument.name + "'");
            }
            check_pass(manifest, call, call.forward, !call.forward_deterministic.is_built(),
                       where + ": forward");
            check_pass(manifest, call, call.forward_deterministic, false, where + ": deterministic forward");
            check_pass(manifest, call, call.backward, call.has_backward && !call.deterministic.is_built(),
                       where + ": backward");
            check_pass(manifest, call, call.deterministic, false, where + ": deterministic backward");
            check_pass(manifest, call, call.fused, call.has_fused && !call.fused_deterministic.is_built(),
                       where + ": fused");
            check_pass(manifest, call, call.fused_deterministic, false, where + ": deterministic fused");
        }
    }
}

}  // namespace kf::artifact
