// Puts a plan and its compiled kernels together.
#include "artifact/assemble.h"

#include <algorithm>
#include <set>

#include "core/interface.h"
#include "core/items.h"
#include "core/resource_list.h"
#include "core/sha256.h"
#include "kernels/host_interface.h"

namespace kf::gen {

namespace {

/// Finds each record's field in the layout that the compiler reports, whose members must lie where the host
/// writes them.
Outcome<manifest::BlockLayout> layout_of(const EmittedKernel& emitted, const CompiledKernel& compiled,
                                         bool vulkan) {
    manifest::BlockLayout layout;
    layout.size = compiled.block_size;
    layout.passing = emitted.passing;
    const auto fail = [&](const std::string& what) {
        return Diagnostic{Severity::error,
                          "internal-layout",
                          emitted.source.origin,
                          "kernel '" + emitted.name + "': " + what,
                          {}};
    };
    const auto find = [&](const std::string& name) {
        return std::find_if(compiled.block.begin(), compiled.block.end(),
                            [&](const FieldLayout& known) { return known.name == name; });
    };
    for (std::size_t i = 0; i < emitted.records.size(); ++i) {
        const std::string& field = emitted.fields[i];
        const auto found = find(field);
        if (found == compiled.block.end())
            return fail("the compiler reports no field '" + field + "' in the parameter block");
        layout.offsets.push_back(found->offset);
        for (const manifest::RecordMember& member : manifest::record_layout(emitted.records[i]).members) {
            if (member.name.empty()) continue;
            const std::string name = field + "." + member.name;
            const auto reported = find(name);
            if (reported == compiled.block.end() || reported->offset != found->offset + member.offset)
                return fail("the compiler has '" + name + "' in another place than the runtime");
        }
    }
    for (std::size_t i = 0; i < emitted.resources.size(); ++i) {
        const std::string& field = emitted.resource_fields[i];
        const manifest::ResourceSlot& slot = emitted.resources[i];
        const bool is_buffer = slot.kind == manifest::ResourceKind::buffer;
        const auto element = find(field + "[]");
        const auto place = find(field);
        if ((is_buffer && element == compiled.block.end()) || (!vulkan && place == compiled.block.end()))
            return fail("the compiler reports no resource '" + field + "'");
        if (is_buffer && element->size != slot.stride)
            return fail("the compiler has elements of " + std::to_string(element->size) + " bytes in '" +
                        field + "', and the host of " + std::to_string(slot.stride));
        if (!vulkan && !is_buffer && place->size != manifest::handle_bytes(slot))
            return fail("the compiler has a handle of " + std::to_string(place->size) + " bytes in '" +
                        field + "', and the runtime one of " + std::to_string(manifest::handle_bytes(slot)));
        layout.resource_places.push_back(vulkan ? static_cast<std::int64_t>(i) : place->offset);
    }
    return layout;
}

manifest::Image spirv_image(const EmittedKernel& emitted, const CompiledKernel& compiled,
                            const std::string& interface) {
    manifest::Image image;
    image.format = "spirv";
    image.entry_point = manifest::with_interface(emitted.source.entry_point, interface);
    image.features = compiled.features;
    image.bytes = manifest::with_entry_point(std::as_bytes(std::span(compiled.code)), image.entry_point);
    image.sha256 = sha256(image.bytes.span());
    return image;
}

}  // namespace

Outcome<manifest::Kernel> assemble_kernel(const KernelUnit& unit, const CompiledUnit& compiled,
                                          const std::vector<manifest::Image>& cuda_images) {
    manifest::Kernel kernel;
    kernel.name = unit.name;
    kernel.variant = unit.variant;
    kernel.group_size = unit.group_size;
    kernel.exact = unit.exact;
    kernel.source_hash = unit.source_hash;
    kernel.group_extents = unit.group_extents;
    for (const auto& [target, emitted] : unit.sources) {
        kernel.records = emitted.records;
        kernel.resources = emitted.resources;
        kernel.calls_per_thread = emitted.calls_per_thread;
        Outcome<manifest::BlockLayout> layout =
            layout_of(emitted, compiled.at(target), target == CodeTarget::spirv);
        if (!layout) return layout.errors();
        kernel.layouts[target == CodeTarget::spirv ? "vulkan" : "cuda"] = std::move(layout.value());
        for (const std::uint32_t constant : compiled.at(target).constants)
            kernel.constants.push_back(std::int64_t{constant});
        if (target == CodeTarget::spirv)
            kernel.images.push_back(spirv_image(emitted, compiled.at(target), unit.interface));
    }
    kernel.images.insert(kernel.images.end(), cuda_images.begin(), cuda_images.end());
    // The code lacks constants that only the group size is made of.
    std::set<std::int64_t> constants(kernel.constants.begin(), kernel.constants.end());
    for (const manifest::GroupExtent& extent : kernel.group_extents)
        constants.insert(extent.constants.begin(), extent.constants.end());
    kernel.constants.assign(constants.begin(), constants.end());
    return kernel;
}

/// Puts what was compiled for other constants beside what has the default ones.
static void add_chosen(const KernelUnit& unit, const std::vector<manifest::Image>& images,
                       manifest::Manifest& manifest) {
    manifest::Kernel& kernel = manifest.kernels.at(static_cast<std::size_t>(unit.chosen_of));
    kernel.constants.clear();
    std::vector<std::string> usual;
    for (const manifest::RunTimeConstant& constant : manifest.constants) {
        kernel.constants.push_back(static_cast<std::int64_t>(usual.size()));
        usual.push_back(constant.values.front());
    }
    for (manifest::Image& image : kernel.images)
        if (image.constants.empty() && image.format != "spirv") image.constants = usual;
    for (manifest::Image image : images) {
        image.constants = unit.chosen;
        kernel.images.push_back(std::move(image));
    }
}

Outcome<manifest::Manifest> assemble(const Plan& plan, const KernelSet& kernels,
                                     const std::vector<CompiledUnit>& compiled,
                                     const std::vector<std::vector<manifest::Image>>& cuda_images,
                                     const std::map<std::string, std::string>& producers) {
    manifest::Manifest manifest = host_interface(plan);
    manifest.producers = producers;
    for (std::size_t f = 0; f < manifest.functions.size(); ++f) {
        std::vector<manifest::Call>& calls = manifest.functions[f].calls;
        for (std::size_t c = 0; c < calls.size(); ++c) {
            manifest::Call& call = calls[c];
            const CallKernels& made = kernels.calls[f][c];
            call.items = manifest::items_of(call.parameters);
            call.resources = manifest::resource_arguments(call);
            call.forward = made.forward;
            call.forward_deterministic = made.forward_deterministic;
            call.backward = made.backward;
            call.deterministic = made.deterministic;
            call.fused = made.fused;
            call.fused_deterministic = made.fused_deterministic;
        }
    }
    for (std::size_t i = 0; i < kernels.units.size(); ++i) {
        if (kernels.units[i].chosen_of >= 0) {
            add_chosen(kernels.units[i], cuda_images[i], manifest);
            continue;
        }
        Outcome<manifest::Kernel> kernel =
            assemble_kernel(kernels.units[i], compiled[i],
                            cuda_images.empty() ? std::vector<manifest::Image>() : cuda_images[i]);
        if (!kernel) return kernel.errors();
        manifest.kernels.push_back(std::move(kernel.value()));
    }
    return manifest;
}

}  // namespace kf::gen
