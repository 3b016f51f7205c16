// Writes the Slang source of one kernel.
#include "emit/kernel.h"

#include <kf/texture_format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/block_records.h"
#include "emit/adapter.h"
#include "emit/argument_text.h"
#include "emit/block.h"
#include "emit/body.h"
#include "emit/checked_arguments.h"
#include "emit/global_functions.h"
#include "emit/kernel_body.h"
#include "emit/kernel_text.h"
#include "emit/kinds/buffer.h"
#include "emit/kinds/questions.h"
#include "emit/kinds/texture.h"
#include "emit/render.h"
#include "emit/tensor_elements.h"
#include "emit/values.h"
#include "emit_templates.h"

namespace kf::gen {

namespace {

using manifest::RecordKind;

/// The entry point's parameter, by manifest::Passing. Devices read uniform buffers as fast as push constants;
/// memory they must read again after each store.
constexpr std::array<std::string_view, 3> block_types = {
    "kf_Block", "ConstantBuffer<kf_Block, ScalarDataLayout>", "kf_Block*"};

static_assert(block_types.size() == manifest::passing_names.size());

/// Kernels that walk rows hold many values: with fewer threads on a multiprocessor than this they are slower.
constexpr std::uint32_t row_threads = 1024;

bool sums_integers(const KernelContext& kernel) {
    return std::any_of(
        kernel.call.arguments.begin(), kernel.call.arguments.end(), [&](const PlannedArgument& argument) {
            return writes_gradient(argument.host, kernel.pass) && !is_floating(argument.host.element.scalar);
        });
}

/// Gradients of tensors that the function reads itself, where many lanes may add to one element.
bool keeps_sums(const KernelContext& kernel) {
    if (kernel.is_exact() || kernel.call.group_threads() < manifest::usual_lanes) return false;
    return std::any_of(
        kernel.call.arguments.begin(), kernel.call.arguments.end(), [&](const PlannedArgument& argument) {
            const ScalarType scalar = argument.host.element.scalar;
            return supply_of(argument.host) == Supply::view && writes_gradient(argument.host, kernel.pass) &&
                   (scalar == ScalarType::float16 || scalar == ScalarType::float32);
        });
}

/// The call's index along each dimension, taken off a row's number, with what each index adds to.
View::List row_dimensions(const KernelContext& kernel, const Body& body) {
    View::List views;
    for (std::int64_t d = kernel.call.rank - 1; d >= 0; --d) {
        const auto adds = body.row_offsets.find(d);
        if (d == 0 && adds == body.row_offsets.end()) continue;
        View::List outer;
        if (d > 0)
            outer.emplace_back(
                View::Object{{"extent", number_text(field_of(kernel.fields, RecordKind::walk), "outer", d)}});
        views.emplace_back(
            View::Object{{"outer", outer},
                         {"outermost", d == 0},
                         {"adds", adds == body.row_offsets.end() ? View::List() : adds->second}});
    }
    return views;
}

View::List fields_view(const KernelContext& kernel) {
    View::List views;
    for (const BlockField& field : kernel.fields)
        views.emplace_back(View::Object{{"type", field.type}, {"name", field.name}});
    return views;
}

/// Returns the text around a resource in kernels in CUDA that check: it gives a texture its number, and byte
/// addresses their number of words.
std::pair<std::string, std::string> checked_by(const PlannedCall& call, const manifest::ResourceSlot& slot,
                                               const PlannedArgument& argument, std::size_t number) {
    if (!checks_accesses(call)) return {};
    if (manifest::is_texture(slot.kind)) return {"kf.numbered(", ", " + std::to_string(number) + ")"};
    return has_byte_addresses(argument) ? std::pair<std::string, std::string>{"kf.words_of(", ")"}
                                        : std::pair<std::string, std::string>{};
}

/// The resources: of SPIR-V numbered in a descriptor set of their own, of CUDA fields of the block.
View::List resources_view(const PlannedCall& call, const EmittedKernel& kernel, CodeTarget target) {
    View::List views;
    std::size_t number = 0;
    for (const manifest::CallResource& resource : resources_of(call)) {
        const PlannedArgument& argument = call.arguments[static_cast<std::size_t>(resource.argument)];
        const auto parameter =
            std::find_if(call.parameters.begin(), call.parameters.end(), [&](const PlannedParameter& one) {
                return one.host.form != manifest::Form::fields && one.host.leaf == resource.argument;
            });
        const bool by_texels = supply_of(argument.host) == Supply::texel;
        const Type& type = parameter != call.parameters.end() ? parameter->type : argument.type;
        const std::string& format = resource.slot.format;
        const bool is_written = resource.slot.kind == manifest::ResourceKind::writable_texture;
        View::List formats;
        if (is_written) {
            const auto known = static_cast<int>(texture_format_named(format).value());
            formats.emplace_back(View::Object{{"format", format}, {"number", std::to_string(known)}});
        }
        const bool is_element = is_array_element(argument, target);
        const std::string extents = is_element ? array_extents(call, argument) : std::string();
        // An array is one variable, whose first element is at its place.
        if (is_element && extents.empty()) {
            ++number;
            continue;
        }
        const auto [before, after] = checked_by(call, resource.slot, argument, number + 1);
        views.emplace_back(View::Object{
            {"type", by_texels ? bound_texture_type(argument) : declared_name(type)},
            {"name", bound_name(is_element ? array_name(resource.slot.name) : resource.slot.name)},
            {"extents", extents},
            {"binding", std::to_string(number)},
            {"field", kernel.resource_fields[number]},
            {"is_plain", !is_written},
            {"before", before},
            {"after", after},
            {"formats", std::move(formats)}});
        ++number;
    }
    return views;
}

bool is_opaque(const manifest::ResourceSlot& slot) {
    return manifest::is_texture(slot.kind) || slot.kind == manifest::ResourceKind::sampler;
}

bool takes_textures(const PlannedCall& call) {
    const manifest::ResourceList resources = resources_of(call);
    return std::any_of(resources.begin(), resources.end(),
                       [](const manifest::CallResource& one) { return is_opaque(one.slot); });
}

/// How many samplers textures can be sampled with, where that are several: CUDA has an object for each.
View::List samplers_view(const EmittedKernel& kernel, CodeTarget target) {
    const auto several =
        std::find_if(kernel.resources.begin(), kernel.resources.end(),
                     [](const manifest::ResourceSlot& slot) { return is_opaque(slot) && slot.samplers > 1; });
    if (target != CodeTarget::cuda_source || several == kernel.resources.end()) return {};
    return {std::to_string(several->samplers)};
}

View::List modules_view(const Plan& plan, const KernelContext& kernel) {
    const Needs needs{kernel.is_exact(), keeps_sums(kernel), kernel.run.beside > 1, sums_integers(kernel),
                      kernel.target == CodeTarget::cuda_source && takes_textures(kernel.call)};
    const std::vector<std::string> imports = imports_of(plan, kernel.call, needs);
    return {imports.begin(), imports.end()};
}

KernelContext context_of(const KernelRequest& request) {
    const auto& [plan, call, pass, variant, target, sums] = request;
    const bool rows = variant == manifest::Variant::rows;
    const bool strided = variant != manifest::Variant::contiguous;
    const bool has_runs =
        (!strided || rows) && call.rank > 0 && call.dispatch == manifest::Dispatch::elements;
    return {call,
            pass,
            sums,
            rows,
            strided,
            block_fields(call, pass, variant, sums),
            has_runs ? run_of(call, rows, sums == Sums::exact) : Run(),
            target};
}

/// "16, 16, 1"
std::string group_text(const PlannedCall& call) {
    const auto& [x, y, z] = call.group_size;
    return std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z);
}

/// How groups go about the call in tiles of pixels; none where they don't.
View::List tiles_view(const KernelContext& kernel) {
    const std::uint32_t width = tile_width(kernel.call);
    if (width == 0 || kernel.rows) return {};
    std::string rows;
    for (std::int64_t d = 0; d + 1 < kernel.call.rank; ++d) rows += (d == 0 ? "" : " * ") + kernel.extent(d);
    return {View::Object{{"width", std::to_string(width)},
                         {"height", std::to_string(kernel.call.group_size[0] / width)},
                         {"columns", kernel.extent(kernel.call.rank - 1)},
                         {"rows", rows}}};
}

/// Whether the thread is one of those that the host asked for.
std::string guard(const KernelContext& kernel) {
    std::string text;
    for (const auto& [component, dimension] : {std::pair{"x", 2}, std::pair{"y", 1}, std::pair{"z", 0}}) {
        text += (text.empty() ? "" : " && ") + std::string("kf_id.") + component + " < uint(" +
                kernel.extent(dimension) + ")";
    }
    return text;
}

/// Returns whether Slang is to let it sample without a level: groups of which it allows that.
bool samples(const EmittedKernel& kernel, const PlannedCall& call) {
    return call.group_extents.empty() && call.group_threads() % 4 == 0 &&
           std::any_of(kernel.resources.begin(), kernel.resources.end(),
                       [](const manifest::ResourceSlot& slot) {
                           return slot.kind == manifest::ResourceKind::texture ||
                                  slot.kind == manifest::ResourceKind::combined_texture;
                       });
}

/// Returns the constants that SPIR-V leaves to who makes a pipeline.
std::vector<KeptConstant> kept_constants(const LinkTime& link) {
    std::vector<KeptConstant> kept;
    for (const LinkConstant* one : link.kept())
        kept.push_back(
            {one->name, one->declared.file, one->declared.line, static_cast<std::uint32_t>(kept.size())});
    return kept;
}

/// Returns the kernel without its source's text.
EmittedKernel describe_kernel(const KernelRequest& request, const KernelContext& context) {
    const PlannedCall& call = request.call;
    EmittedKernel kernel;
    kernel.name = call.function + pass_name(call, request.pass) +
                  (context.is_exact() ? ".deterministic" : "") +
                  (call.dispatch != manifest::Dispatch::elements ? ""
                   : context.rows                                ? ".rows"
                   : context.strided                             ? ".strided"
                                                                 : ".contiguous");
    for (const BlockField& field : context.fields) {
        kernel.records.push_back(field.record);
        kernel.fields.push_back(field.name);
    }
    for (const manifest::CallResource& resource : resources_of(call)) {
        kernel.resources.push_back(resource.slot);
        kernel.resource_fields.push_back(bound_name(resource.slot.name).substr(std::string("kf_").size()));
        const PlannedArgument& argument = call.arguments[static_cast<std::size_t>(resource.argument)];
        if (request.target == CodeTarget::spirv &&
            resource.slot.kind == manifest::ResourceKind::writable_texture &&
            supply_of(argument.host) == Supply::bound &&
            argument.host.trailing == std::vector<std::int64_t>{3})
            kernel.source.padded_textures.push_back(bound_name(is_array_element(argument, request.target)
                                                                   ? array_name(resource.slot.name)
                                                                   : resource.slot.name));
    }
    kernel.source.has_buffers = !kernel.resources.empty();
    kernel.source.has_aliases =
        std::any_of(call.arguments.begin(), call.arguments.end(),
                    [](const PlannedArgument& argument) { return argument.host.aliases; });
    if (request.target == CodeTarget::spirv)
        kernel.passing = manifest::vulkan_passing(push_constant_bytes(call, kernel.records));
    kernel.source.entry_point = "kf_" + identifier(kernel.name);
    kernel.source.origin = call.location;
    if (std::any_of(call.parameters.begin(), call.parameters.end(),
                    [](const PlannedParameter& parameter) { return !parameter.global_function.empty(); })) {
        kernel.source.globals = request.plan.globals;
    }
    if (request.pass != PassKind::forward || call.is_jvp) kernel.source.hint = backward_hint(call);
    if (request.target == CodeTarget::spirv) kernel.source.kept = kept_constants(call.link);
    kernel.calls_per_thread = static_cast<std::uint32_t>(context.run.length);
    if (context.rows) kernel.resident_groups = std::max(1U, row_threads / call.group_size[0]);
    return kernel;
}

}  // namespace

Outcome<EmittedKernel> emit_kernel(const KernelRequest& request) {
    const KernelContext context = context_of(request);
    EmittedKernel kernel = describe_kernel(request, context);
    if (Diagnostics errors = check_checked_arguments(request.call); !errors.empty()) return errors;
    if (request.target == CodeTarget::cuda_source) {
        if (Diagnostics errors = check_cuda_layouts(request.call); !errors.empty()) return errors;
    } else {
        Diagnostics errors = check_spirv_arrays(request.call);
        if (errors.empty()) errors = check_texture_arrays(request.call);
        if (!errors.empty()) return errors;
    }
    Outcome<std::string> elements = tensor_element_functions(context.call, context.pass, context.sums);
    if (!elements) return elements.errors();

    const PlannedCall& call = context.call;
    const bool is_launched = call.dispatch != manifest::Dispatch::elements;
    const bool has_runs = context.run.length > 1;
    const bool in_runs = has_runs && !context.rows;
    const Body body = make_body(context, context.run.length);
    // Where runs end, calls are made one by one.
    const Body single = in_runs ? make_body(context, 1) : body;
    View::Object view{
        {"title", kernel.name},
        {"imports", modules_view(request.plan, context)},
        {"is_exact", context.is_exact()},
        {"reports", call.reports()},
        {"prints", call.prints},
        {"checks", call.checks},
        {"checks_accesses", checks_accesses(call)},
        {"keeps_sums", keeps_sums(context)},
        {"samplers", samplers_view(kernel, request.target)},
        {"fields", fields_view(context)},
        {"resources", resources_view(context.call, kernel, request.target)},
        {"are_fields", request.target == CodeTarget::cuda_source},
        {"adapters", adapters(context.call)},
        {"globals", globals_view(context.call, request.target)},
        {"element_functions", elements.value().empty() ? View::List() : View::List{elements.value()}},
        {"group_size", context.group_size()},
        {"group", group_text(call)},
        {"samples", samples(kernel, call) && request.target == CodeTarget::spirv},
        {"entry", kernel.source.entry_point},
        {"block", std::string(block_types.at(static_cast<std::size_t>(kernel.passing)))},
        {"in_rows", context.rows},
        {"in_runs", in_runs},
        {"in_turn", !is_launched && !context.rows && !has_runs && tile_width(call) == 0},
        {"tiles", tiles_view(context)},
        {"is_launched", is_launched},
        {"by_elements", !is_launched},
        {"guards", call.dispatch == manifest::Dispatch::threads ? guard(context) : std::string()},
        {"is_guarded", call.dispatch == manifest::Dispatch::threads},
        {"numbers_threads", keeps_sums(context) || !body.gradients.empty() || !body.scratches.empty()},
        {"row_dimensions", context.rows ? row_dimensions(context, body) : View::List()},
        {"row_offsets", context.rows ? body.offsets : View::List()},
        {"steps", body.steps},
        {"wholes", body.wholes},
        {"row_gradients", body.row_gradients},
        {"run", std::to_string(context.run.length)},
        {"run_calls", std::to_string(context.run.length * context.call.group_size[0])},
        {"call_place", context.run.place(context.call.group_size[0])},
        {"in_quads", context.run.beside > 1},
        {"single", context.rows ? View::Object() : single.view(context)},
        {"body", has_runs ? body.view(context) : View::Object()},
        {"gradients", body.gradients},
        {"has_scratch", !body.scratches.empty()},
        {"scratches", body.scratches}};
    Outcome<std::string> text = render("kernel.slang.mustache", templates::kernel_slang_mustache, View(view),
                                       {{"kernel_call", templates::kernel_call_slang_mustache},
                                        {"kernel_run", templates::kernel_run_slang_mustache}});
    if (!text) return text.errors();
    kernel.source.text = std::move(text.value());
    Outcome<std::string> values =
        emit_values(context.call.link, request.plan.imports, request.target == CodeTarget::spirv);
    if (!values) return values.errors();
    kernel.source.values = std::move(values.value());
    kernel.source.conformances = context.call.link.conformances;
    return kernel;
}

}  // namespace kf::gen
