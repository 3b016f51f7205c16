// The rules that hold in every manifest.
#include <kf/any_tensor.h>
#include <kf/texture_format.h>

#include <algorithm>
#include <set>

#include "core/artifact.h"
#include "core/block_records.h"
#include "core/choose_constants.h"
#include "core/consistency.h"
#include "core/convert.h"
#include "core/field_places.h"
#include "core/image_digests.h"
#include "core/interface.h"
#include "core/items.h"
#include "core/kinds/questions.h"
#include "core/resource_list.h"
#include "core/roles.h"

namespace kf::artifact {
namespace {

using namespace manifest;

constexpr std::int64_t max_block = 65536;     // bytes
constexpr std::int64_t max_scalars = 4096;    // of one parameter
constexpr std::int64_t max_struct = 1 << 20;  // bytes
constexpr int max_nesting = 16;               // of structs and arrays
constexpr std::size_t max_resources = 256;    // of a kernel
constexpr std::size_t max_choices = 4096;     // combinations of ways to accumulate

std::int64_t scalars(const std::vector<std::int64_t>& extents, const std::string& where) {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) {
        require(extent >= 1 && extent <= max_scalars, where, "an extent out of range");
        count *= extent;
        require(count <= max_scalars, where, "too many scalars in one element");
    }
    return count;
}

void check_argument(const Call& call, const Argument& argument, const std::string& where) {
    const auto limit = static_cast<std::int64_t>(max_rank);
    require(argument.element.extents.size() <= 4, where, "an element of more than four dimensions");
    (void)scalars(argument.element.extents, where);
    (void)scalars(argument.trailing, where);
    require(argument.rank >= 0 && argument.rank <= limit, where, "rank out of range");
    require(argument.call_rank >= 0 && argument.call_rank <= call.rank, where, "call rank out of range");
    require(argument.map.size() == static_cast<std::size_t>(argument.call_rank), where,
            "a map of another length than the call rank");
    require(argument.inner_rank >= 0 && argument.inner_rank <= limit, where, "inner rank out of range");
    std::set<std::int64_t> seen;
    for (const std::int64_t dimension : argument.map) {
        require(dimension >= 0 && dimension < call.rank && seen.insert(dimension).second, where,
                "a map that isn't into the call's dimensions");
    }
    const bool meets = argument.accumulate != Accumulate::automatic;
    require(!is_output(argument) || meets || argument.call_rank == call.rank, where,
            "an output of another rank than the call");
    require(!meets || argument.role != Role::inout, where, "an accumulated value that is read too");
    require(argument.spacing.empty() || argument.spacing.size() == argument.element.extents.size(), where,
            "another number of spacings than extents");
    require(argument.pitch >= 0 && argument.pitch <= max_struct && argument.offset >= 0 &&
                argument.offset <= max_struct,
            where, "a place outside the struct");
    require(!argument.overwrite || argument.gradient != Gradient::never, where,
            "a gradient that is overwritten and isn't written");
    if (argument.differentiable || argument.gradient != Gradient::never) {
        require(is_floating(argument.element.scalar), where, "a gradient of what isn't floating");
    }
    check_consistency(call, argument, where);
}

/// The last byte of a field lies in its struct of `size` bytes.
void check_field(const Argument& argument, std::int64_t size, Form form, const std::string& where) {
    const auto scalar = manifest::scalar_bytes(argument.element.scalar);
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
    require(tensor == passes_memory(argument), where, "a field of another form than its struct");
    require(!tensor || (argument.pitch * scalar == size &&
                        argument.call_rank + argument.inner_rank == argument.rank),
            where, "a pitch that isn't the struct's size");
}

/// The fields of an array are its elements; no struct's field is called as one.
void check_elements(const ParameterTree& parameter, const std::string& where) {
    if (is_array(parameter)) {
        require(parameter.extents.size() == 1 &&
                    parameter.extents.front() == static_cast<std::int64_t>(parameter.fields.size()),
                where, "an array of another number of elements");
    }
    for (std::size_t i = 0; i < parameter.fields.size(); ++i) {
        const std::string& name = parameter.fields[i].name;
        require(is_array(parameter) ? name == element_name(static_cast<std::int64_t>(i))
                                    : name.find_first_of(".[") == std::string::npos,
                where, "an element or field of another name");
    }
}

/// The runtime makes values of these of their fields.
void check_own(const ParameterTree& parameter, const std::string& where) {
    const std::vector<ParameterTree>& fields = parameter.fields;
    const auto has = [&](const char* first, const char* second) {
        return fields.size() == 2 && fields[0].name == first && fields[1].name == second;
    };
    bool fits = true;
    if (parameter.own == OwnStruct::optional)
        fits = has("value", "has_value") && fields[1].form == Form::leaf;
    if (parameter.own == OwnStruct::pair) fits = has("p", "d");
    for (std::size_t i = 0; parameter.own == OwnStruct::tuple && i < fields.size(); ++i)
        fits = fits && fields[i].name == "_" + std::to_string(i);
    require(fits, where, "a struct of Slang's own with other fields");
}

/// `next` is the leaf that comes next in the tree's order.
void check_parameter(const Call& call, const ParameterTree& parameter, std::int64_t& next, int depth,
                     const std::string& where) {
    require(depth < max_nesting && parameter.leaf == next && parameter.leaves >= 1 &&
                parameter.leaves <= static_cast<std::int64_t>(call.arguments.size()) - parameter.leaf,
            where, "arguments that aren't a tree's leaves");
    for (const ParameterTree& field : parameter.fields) {
        require(parameter.form == Form::fields || field.form == Form::leaf || field.form == parameter.form,
                where, "a field of another form than its struct");
        check_parameter(call, field, next, depth + 1, field_path(where, field.name));
    }
    require(parameter.fields.empty() == (parameter.form == Form::leaf), where,
            "a struct without fields, or fields of what is none");
    if (parameter.fields.empty()) {
        require(parameter.leaves == 1, where, "a leaf that isn't one argument");
        ++next;
    }
    require(next == parameter.leaf + parameter.leaves, where, "arguments that aren't a tree's leaves");
    if (parameter.form == Form::leaf) {
        return;
    }
    check_elements(parameter, where);
    check_own(parameter, where);
    require(parameter.extents.size() <= 4, where, "an array of too many dimensions");
    const std::int64_t count = scalars(parameter.extents, where);
    require(parameter.size >= 0 && parameter.size <= max_struct / count && parameter.offset >= 0 &&
                parameter.offset <= max_struct,
            where, "a struct of impossible size");
}

void check_alone(const Argument& argument, const std::string& where) {
    require(argument.offset == 0 && argument.pitch == 0 && argument.spacing.empty(), where,
            "a place in a struct that isn't there");
}

/// Fields lie in the struct around them, and their arguments where they do. `offset`: the struct's own, in
/// bytes from what the host passes.
void check_place(const Call& call, const ParameterTree& parameter, std::int64_t offset,
                 const std::string& where) {
    if (parameter.form == Form::leaf) {
        const Argument& argument = call.arguments[static_cast<std::size_t>(parameter.leaf)];
        require(argument.offset == offset, where, "a field in another place than its argument");
        require(!is_pushed(argument) || passes_memory(argument), where,
                "a pushed gradient of a field of a value");
        return;
    }
    for (const ParameterTree& field : parameter.fields) {
        require(field.form == Form::leaf ||
                    (field.offset <= parameter.size && byte_size(field) <= parameter.size - field.offset),
                where, "a field outside its struct");
        require(field.offset >= 0 && field.offset <= max_struct, where, "a field outside its struct");
        check_place(call, field, offset + field.offset, field_path(where, field.name));
    }
}

/// What is passed by itself has no place in a struct, be it a field or not.
void check_places(const Call& call, const ParameterTree& parameter, const std::string& where) {
    if (parameter.form == Form::fields) {
        for (const ParameterTree& field : parameter.fields) {
            check_places(call, field, field_path(where, field.name));
        }
    } else if (parameter.form == Form::leaf) {
        check_alone(call.arguments[static_cast<std::size_t>(parameter.leaf)], where);
    } else {
        check_place(call, parameter, 0, where);
    }
}

void check_parameters(const Call& call, const std::string& where) {
    std::int64_t next = 0;
    for (const ParameterTree& parameter : call.parameters) {
        check_parameter(call, parameter, next, 0, where + ": parameter '" + parameter.name + "'");
    }
    require(next == static_cast<std::int64_t>(call.arguments.size()), where, "arguments of no parameter");
    for (const ParameterTree& parameter : call.parameters) {
        check_places(call, parameter, where + ": parameter '" + parameter.name + "'");
    }
    for (const Item& item : items_of(call.parameters)) {
        for (std::int64_t i = item.leaf; item.form != Form::leaf && i < item.leaf + item.leaves; ++i) {
            const Argument& argument = call.arguments[static_cast<std::size_t>(i)];
            check_field(argument, item.size, item.form, where + ": argument '" + argument.name + "'");
        }
        const auto leaves =
            std::span(call.arguments)
                .subspan(static_cast<std::size_t>(item.leaf), static_cast<std::size_t>(item.leaves));
        require(item.form == Form::leaf || !shared_places(leaves, item.size), where,
                "fields of a struct that lie where others are written");
    }
}

/// A tangent is like the argument that it belongs to.
void check_tangent_argument(const Call& call, const Argument& argument, const std::string& where) {
    if (argument.tangent_of == -1) {
        return;
    }
    require(
        argument.tangent_of >= 0 && argument.tangent_of < static_cast<std::int64_t>(call.arguments.size()),
        where, "a tangent of nothing");
    const Argument& primal = call.arguments[static_cast<std::size_t>(argument.tangent_of)];
    require(primal.tangent_of == -1, where, "a tangent of a tangent");
    require(argument.role == Role::in || argument.role == Role::out, where, "a tangent of another role");
    const bool alike = argument.kind == primal.kind && argument.element == primal.element &&
                       argument.rank == primal.rank && argument.inner_rank == primal.inner_rank;
    // What kernels make for themselves has no kind that a tangent could be of.
    require(alike || !passes_elements(primal), where, "a tangent of another kind");
    const auto is_primal = [&](const ParameterTree& parameter) {
        return parameter.leaf == argument.tangent_of;
    };
    const bool first =
        std::any_of(call.parameters.begin(), call.parameters.end(), [&](const ParameterTree& parameter) {
            return &call.arguments[static_cast<std::size_t>(parameter.leaf)] == &argument;
        });
    require(!first || std::any_of(call.parameters.begin(), call.parameters.end(), is_primal), where,
            "a tangent of no parameter");
}

/// Resources are numbered in order on Vulkan; on CUDA their handles follow the records. `end`: of what lies
/// in the block so far.
void check_resource_places(const Kernel& kernel, bool vulkan, const BlockLayout& layout, std::int64_t& end,
                           const std::string& where) {
    for (std::size_t i = 0; i < kernel.resources.size(); ++i) {
        const std::int64_t place = vulkan
                                       ? static_cast<std::int64_t>(i)
                                       : (end + handle_alignment - 1) / handle_alignment * handle_alignment;
        require(layout.resource_places[i] == place, where, "a resource that isn't in its place");
        end = vulkan ? end : place + handle_bytes(kernel.resources[i]);
    }
}

/// Records lie in their order, each at the first place that its alignment allows: vectors' in push constants,
/// scalars' alone in uniform buffers, and one scalar's in memory and in CUDA's parameters. In uniform buffers
/// a record may begin in the padding of the one before.
void check_layout(const Call& call, const Kernel& kernel, const std::string& target,
                  const BlockLayout& layout, const std::string& where) {
    const bool vulkan = target == "vulkan";
    // Beside buffers, push constants are laid out as those and uniform buffers are.
    const bool beside_buffers = !kernel.resources.empty() && layout.passing == Passing::value;
    const bool by_vectors = !vulkan || (layout.passing != Passing::uniform && !beside_buffers);
    const bool by_scalars = !vulkan || layout.passing != Passing::value || beside_buffers;
    require(layout.size >= 0 && layout.size <= max_block, where, "a parameter block of impossible size");
    require(layout.offsets.size() == kernel.records.size(), where, "another number of offsets than records");
    constexpr std::int64_t largest_alignment = 16;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < kernel.records.size(); ++i) {
        const Record& record = kernel.records[i];
        const std::int64_t offset = layout.offsets[i];
        const std::int64_t aligned = record_alignment(call, record);
        const std::int64_t scalar =
            record.kind == RecordKind::value
                ? scalar_bytes(
                      widened_element(call.arguments[static_cast<std::size_t>(record.argument)]).scalar)
                : aligned;
        const auto up = [&](std::int64_t alignment) { return (end + alignment - 1) / alignment * alignment; };
        require((by_vectors && offset == up(aligned)) || (by_scalars && offset == up(scalar)), where,
                "a record that isn't in its place");
        const bool padded = by_vectors || record.kind == RecordKind::value;
        end = offset + (padded ? record_bytes(call, record) : record_layout(record).end);
    }
    check_resource_places(kernel, vulkan, layout, end, where);
    require(layout.size >= end && layout.size < end + largest_alignment, where,
            "a parameter block of another size than its records");
}

void check_passing(const Call& call, const Kernel& kernel, const std::string& where) {
    for (const auto& [target, layout] : kernel.layouts) {
        const Passing expected =
            target == "vulkan" ? vulkan_passing(push_constant_bytes(call, kernel.records)) : Passing::value;
        require(layout.passing == expected, where + " for " + target, "parameters passed in another way");
    }
}

/// The code was generated for these records and arguments.
void check_interface(const Call& call, const Kernel& kernel, bool exact, const std::string& where) {
    const std::string interface = interface_of(call, kernel, exact);
    for (const Image& image : kernel.images) {
        require(has_interface(image.entry_point, interface), where,
                "code that was generated for other arguments");
    }
}

/// Which of a call's passes.
struct PassUse {
    PassKind pass = PassKind::forward;
    bool exact = false;
    bool wanted = false;
};

void check_pass(const Manifest& manifest, const Call& call, const Pass& pass, const PassUse& use,
                const std::string& where) {
    require(!use.wanted || pass.is_built(), where, "a pass without kernels");
    for (const auto& [variant, index] : pass.kernels()) {
        require(index >= -1 && index < static_cast<std::int64_t>(manifest.kernels.size()), where,
                "a kernel that isn't there");
        if (index < 0) {
            continue;
        }
        const Kernel& kernel = manifest.kernels[static_cast<std::size_t>(index)];
        const std::string kernel_where = where + ": kernel '" + kernel.name + "'";
        require(kernel.variant == variant, kernel_where, "the other variant's kernel");
        require(kernel.records == block_records(call, {use.pass, variant, use.exact}), kernel_where,
                "records that aren't those of the pass and its arguments");
        require(kernel.resources == resource_slots(call), kernel_where,
                "resources that aren't those of its arguments");
        for (const auto& [target, layout] : kernel.layouts) {
            check_layout(call, kernel, target, layout, kernel_where + " for " + target);
        }
        check_passing(call, kernel, kernel_where);
        check_interface(call, kernel, use.exact, kernel_where);
    }
}

/// Whether what is given to the calls of one function can be given to the other's.
bool have_like_calls(const Function& a, const Function& b) {
    const auto alike = [](const Argument& x, const Argument& y) {
        return x.kind == y.kind && x.role == y.role && x.element == y.element && x.rank == y.rank &&
               x.offset == y.offset && x.pitch == y.pitch && x.spacing == y.spacing;
    };
    return std::equal(a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
                      [&](const Call& one, const Call& other) {
                          return one.items == other.items &&
                                 std::equal(one.arguments.begin(), one.arguments.end(),
                                            other.arguments.begin(), other.arguments.end(), alike);
                      });
}

/// One function for every combination of ways.
/// The host says how many threads run of a call that isn't made for elements.
void check_dispatch(const Call& call, const std::string& where) {
    if (call.dispatch == Dispatch::elements) return;
    require(call.rank == 3, where, "a launched call of another rank than 3");
    for (const Argument& argument : call.arguments) {
        require(argument.call_rank == 0 && argument.role == Role::in, where,
                "a launched call with an argument for each of its elements");
    }
    for (const Pass* pass : {&call.forward, &call.backward, &call.deterministic}) {
        require(pass->strided < 0 && pass->rows < 0, where, "a launched call with kernels for layouts");
    }
    require(call.forward.contiguous >= 0, where, "a launched call without a kernel");
    require(!call.forward_deterministic.is_built() && !call.has_fused, where,
            "a launched call with passes that it can't have");
}

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
        require(have_like_calls(function, manifest.functions[static_cast<std::size_t>(index)]), where,
                "a choice with other calls");
        is_one = is_one || index == own;
    }
    require(is_one, where, "a function that can't be chosen");
}

/// One function for every variant.
void check_option_sets(const Manifest& manifest, const Function& function, const std::string& where) {
    std::set<std::string> names;
    for (const OptionSet& set : function.option_sets) {
        require(!set.name.empty() && names.insert(set.name).second, where,
                "a variant's name that isn't unique");
        require(set.threads.size() <= 3, where, "a variant's group size of more than three dimensions");
        require(set.function >= 0 && set.function < static_cast<std::int64_t>(manifest.functions.size()),
                where, "a variant that isn't there");
        const Function& variant = manifest.functions[static_cast<std::size_t>(set.function)];
        require(variant.option_sets == function.option_sets && variant.choices == function.choices, where,
                "a variant of another function's");
        require(have_like_calls(function, variant), where, "a variant with other calls");
    }
}

void check_texture_slot(const ResourceSlot& slot, const std::string& where) {
    require(slot.samplers >= 1 && slot.samplers <= static_cast<std::int64_t>(max_resources), where,
            "a texture's samplers out of range");
    if (!is_texture(slot.kind)) return;
    require(kinds::is_texel_word(slot.texel), where, "a texture of impossible texels");
    require(slot.writes == (slot.kind == ResourceKind::writable_texture), where,
            "a texture that is written in another way");
    require(slot.format.empty() ? !slot.writes : texture_format_named(slot.format).has_value(), where,
            "a texture of an impossible format");
}

/// Whoever chooses constants relies on this.
void check_constants(const Manifest& manifest, const Kernel& kernel, const std::string& where) {
    const auto is_one = [&](std::int64_t index) {
        return index >= 0 && index < static_cast<std::int64_t>(manifest.constants.size());
    };
    require(std::ranges::all_of(kernel.constants, is_one), where, "a constant that isn't there");
    require(kernel.group_extents.empty() || kernel.group_extents.size() == kernel.group_size.size(), where,
            "a group of other dimensions");
    for (const GroupExtent& extent : kernel.group_extents) {
        require(extent.factor >= 1 && std::ranges::all_of(extent.constants, is_one), where,
                "a group size of constants that aren't there");
        for (const std::int64_t index : extent.constants) {
            const ScalarType type = manifest.constants[static_cast<std::size_t>(index)].type;
            require(std::ranges::find(kernel.constants, index) != kernel.constants.end(), where,
                    "a group size of constants that it doesn't depend on");
            require(!is_floating(type) && type != ScalarType::boolean, where,
                    "a group size that is no number");
        }
    }
    for (const Image& image : kernel.images) {
        require(image.constants.empty() || image.constants.size() == manifest.constants.size(), where,
                "an image for another number of constants");
    }
}

/// What run time chooses by name.
void check_constant_list(const Manifest& manifest) {
    std::set<std::string> names;
    for (const RunTimeConstant& constant : manifest.constants) {
        const std::string where = "constant '" + constant.name + "'";
        require(!constant.name.empty() && names.insert(constant.name).second, where,
                "a name that isn't unique");
        require(!constant.values.empty(), where, "no value");
        for (const std::string& value : constant.values) {
            require(detail::constant_bits(value, constant.type).has_value(), where,
                    "a value that isn't of its type");
        }
    }
}

void check_kernel(const Manifest& manifest, const Kernel& kernel, ImageDigests& digests) {
    const std::string where = "kernel '" + kernel.name + "'";
    std::array<std::int64_t, 3> group{1, 1, 1};
    std::copy(kernel.group_size.begin(), kernel.group_size.end(), group.begin());
    require(is_possible_group(group), where, "a group size out of range");
    require(kernel.calls_per_thread >= 1 && kernel.calls_per_thread <= 64, where,
            "calls of a thread out of range");
    require(!kernel.layouts.empty() && !kernel.images.empty(), where, "no image");
    check_constants(manifest, kernel, where);
    require(kernel.resources.size() <= max_resources, where, "too many resources");
    std::set<std::string> names;
    for (const ResourceSlot& slot : kernel.resources) {
        require(!slot.name.empty() && names.insert(slot.name).second, where,
                "a resource's name that isn't unique");
        require(slot.stride >= 1 && slot.stride <= max_struct, where, "a resource's stride out of range");
        check_texture_slot(slot, where);
    }
    for (const auto& [target, layout] : kernel.layouts) {
        require(layout.resource_places.size() == kernel.resources.size(), where,
                "another number of places than resources");
    }
    for (const Image& image : kernel.images) {
        require(!image.bytes.empty() && !image.entry_point.empty() && !image.format.empty(), where,
                "an empty image");
        require(!image.is_checked || image.sha256 == digests.of(image.bytes), where,
                "an image that isn't what its digest says");
    }
}

}  // namespace

void check(const Manifest& manifest) {
    ImageDigests digests;
    check_constant_list(manifest);
    for (const Kernel& kernel : manifest.kernels) {
        check_kernel(manifest, kernel, digests);
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
        check_option_sets(manifest, function, where);
        for (const Call& call : function.calls) {
            require(call.rank >= 0 && call.rank <= static_cast<std::int64_t>(max_rank), where,
                    "a call rank out of range");
            require(call.arguments.size() <= 256, where, "too many arguments");
            check_dispatch(call, where);
            for (const Argument& argument : call.arguments) {
                check_argument(call, argument, where + ": argument '" + argument.name + "'");
            }
            check_parameters(call, where);
            for (const Argument& argument : call.arguments) {
                check_tangent_argument(call, argument, where + ": argument '" + argument.name + "'");
            }
            const auto pass = [&](const Pass& kernels, const PassUse& use, const char* name) {
                check_pass(manifest, call, kernels, use, where + ": " + name);
            };
            const bool summed = call.forward_deterministic.is_built();
            pass(call.forward, {PassKind::forward, false, !summed}, "forward");
            pass(call.forward_deterministic, {PassKind::forward, true}, "deterministic forward");
            pass(call.backward,
                 {PassKind::backward, false, call.has_backward && !call.deterministic.is_built()},
                 "backward");
            pass(call.deterministic, {PassKind::backward, true}, "deterministic backward");
            pass(call.fused, {PassKind::fused, false, call.has_fused && !call.fused_deterministic.is_built()},
                 "fused");
            pass(call.fused_deterministic, {PassKind::fused, true}, "deterministic fused");
        }
    }
}

}  // namespace kf::artifact
