// Reads and changes SPIR-V, word by word.
#include "slang/spirv.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>

#include "core/spirv_code.h"

namespace kf::gen {

namespace {

using namespace spirv;

constexpr std::uint32_t source_language_unknown = 0;

/// What a host fills.
constexpr std::array<std::uint32_t, 5> filled_storage = {
    storage_uniform_constant, storage_uniform, storage_push_constant, storage_atomic_counter, storage_buffer};

/// What Slang names an entry point's own parameters, the block or a struct around it.
constexpr std::string_view own_parameters = "entryPointParams";
/// Slang names those that kernels declare as they do.
constexpr std::string_view own_buffers = "kf_bound_";

struct CapabilityFeature {
    std::uint32_t capability;
    std::string_view feature;  // empty: every device that runs compute kernels has it
};

// Numbers from the SPIR-V specification, section 3.31.
constexpr std::array capability_features = {
    CapabilityFeature{0, ""},          // Matrix
    CapabilityFeature{1, ""},          // Shader
    CapabilityFeature{9, "float16"},   // Float16
    CapabilityFeature{10, "float64"},  // Float64
    CapabilityFeature{11, "int64"},    // Int64
    CapabilityFeature{capability_int64_atomics, "int64_atomics"},
    CapabilityFeature{22, "int16"},                  // Int16
    CapabilityFeature{25, "image_gather_extended"},  // ImageGatherExtended
    CapabilityFeature{34, "cube_arrays"},            // ImageCubeArray
    CapabilityFeature{39, "int8"},                   // Int8
    CapabilityFeature{42, "min_lod"},                // MinLod
    CapabilityFeature{43, ""},                       // Sampled1D
    CapabilityFeature{44, ""},                       // Image1D
    CapabilityFeature{45, "cube_arrays"},            // SampledCubeArray
    CapabilityFeature{46, ""},                       // SampledBuffer
    CapabilityFeature{47, ""},                       // ImageBuffer
    CapabilityFeature{49, "storage_image_formats"},
    CapabilityFeature{capability_image_query, ""},
    CapabilityFeature{55, "storage_image_read_any"},
    CapabilityFeature{56, "storage_image_write_any"},
    CapabilityFeature{61, "subgroup_basic"},  // GroupNonUniform
    CapabilityFeature{62, "subgroup_vote"},
    CapabilityFeature{63, "subgroup_arithmetic"},
    CapabilityFeature{64, "subgroup_ballot"},
    CapabilityFeature{65, "subgroup_shuffle"},
    CapabilityFeature{66, "subgroup_shuffle_relative"},
    CapabilityFeature{67, "subgroup_clustered"},
    CapabilityFeature{68, "subgroup_quad"},
    CapabilityFeature{4433, "storage16"},          // StorageBuffer16BitAccess
    CapabilityFeature{4434, "uniform_storage16"},  // UniformAndStorageBuffer16BitAccess
    CapabilityFeature{4435, "push_constant16"},    // StoragePushConstant16
    CapabilityFeature{4441, "variable_pointers_storage_buffer"},
    CapabilityFeature{4442, "variable_pointers"},
    CapabilityFeature{4448, "storage8"},          // StorageBuffer8BitAccess
    CapabilityFeature{4449, "uniform_storage8"},  // UniformAndStorageBuffer8BitAccess
    CapabilityFeature{4450, "push_constant8"},    // StoragePushConstant8
    CapabilityFeature{capability_denorm_preserve, "denorm_preserve"},
    CapabilityFeature{4465, "denorm_flush_to_zero"},
    CapabilityFeature{4466, "signed_zero_inf_nan_preserve"},
    CapabilityFeature{4467, "rounding_mode_rte"},
    CapabilityFeature{4468, "rounding_mode_rtz"},
    CapabilityFeature{4472, "ray_query"},
    CapabilityFeature{4479, "ray_tracing_pipeline"},
    CapabilityFeature{5016, "image_int64_atomics"},
    CapabilityFeature{5055, "shader_clock"},
    CapabilityFeature{5297, "subgroup_partitioned"},
    CapabilityFeature{5301, "descriptor_indexing"},  // ShaderNonUniform
    CapabilityFeature{5302, "descriptor_indexing"},  // RuntimeDescriptorArray
    CapabilityFeature{5345, "vulkan_memory_model"},
    CapabilityFeature{5346, "vulkan_memory_model_device_scope"},
    CapabilityFeature{5347, "buffer_device_address"},  // PhysicalStorageBufferAddresses
    CapabilityFeature{5379, "demote_to_helper_invocation"},
    CapabilityFeature{5612, "float32_atomic_min_max"},
    CapabilityFeature{5613, "float64_atomic_min_max"},
    CapabilityFeature{5616, "float16_atomic_min_max"},
    CapabilityFeature{6016, "integer_dot_product"},  // DotProductInputAll
    CapabilityFeature{6017, "integer_dot_product"},  // DotProductInput4x8Bit
    CapabilityFeature{6018, "integer_dot_product"},  // DotProductInput4x8BitPacked
    CapabilityFeature{6019, "integer_dot_product"},  // DotProduct
    CapabilityFeature{6022, "cooperative_matrix"},
    CapabilityFeature{capability_float32_add, "float32_atomic_add"},
    CapabilityFeature{capability_float64_add, "float64_atomic_add"},
    CapabilityFeature{6095, "float16_atomic_add"},
};

// Extensions that say nothing beyond the capabilities they come with, or that are core since 1.5.
constexpr std::array<std::string_view, 22> implied_extensions = {
    "SPV_EXT_demote_to_helper_invocation",
    "SPV_EXT_descriptor_indexing",
    "SPV_EXT_physical_storage_buffer",
    "SPV_EXT_shader_atomic_float16_add",
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_EXT_shader_image_int64",
    "SPV_KHR_16bit_storage",
    "SPV_KHR_8bit_storage",
    "SPV_KHR_cooperative_matrix",
    "SPV_KHR_float_controls",
    "SPV_KHR_integer_dot_product",
    "SPV_KHR_physical_storage_buffer",
    "SPV_KHR_ray_query",
    "SPV_KHR_ray_tracing",
    "SPV_KHR_shader_clock",
    "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_terminate_invocation",
    "SPV_KHR_variable_pointers",
    "SPV_KHR_vulkan_memory_model",
    "SPV_GOOGLE_decorate_string",
    "SPV_NV_shader_subgroup_partitioned",
};

/// Decorates ids where types begin, for decorations end there.
void decorate(std::string& code, const Words& ids, std::uint32_t decoration) {
    const Words module = module_of(code);
    const std::vector<Instruction> instructions = instructions_of(module);
    const auto type = std::find_if(instructions.begin(), instructions.end(),
                                   [](Instruction one) { return declares_type(opcode_of(one)); });
    if (ids.empty() || type == instructions.end()) return;
    Words decorations;
    for (const std::uint32_t id : ids) put(decorations, op_decorate, {id, decoration});
    const auto at = static_cast<std::size_t>(type->data() - module.data());
    code.insert(at * sizeof(std::uint32_t), bytes_of(decorations));
}

}  // namespace

bool patch_source_language(std::string& code) {
    Words module = module_of(code);
    const bool whole = each_instruction(module, [](std::span<std::uint32_t> one) {
        if (opcode_of(one) == op_source && one.size() >= 2) one[1] = source_language_unknown;
    });
    if (whole) code = bytes_of(module);
    return whole;
}

bool mark_aliased_pointers(std::string& code) {
    std::set<std::uint32_t> addresses;  // types: pointers to memory, and arrays of them
    std::set<std::uint32_t> holders;    // pointers to those
    std::set<std::uint32_t> marked;
    Words variables;
    const bool whole = each_instruction(module_of(code), [&](Instruction one) {
        const std::uint32_t opcode = opcode_of(one);
        if (opcode == op_type_pointer) {
            if (addresses.contains(word_of(one, 3))) holders.insert(word_of(one, 1));
            if (word_of(one, 2) == storage_physical) addresses.insert(word_of(one, 1));
        } else if (opcode == op_type_array && addresses.contains(word_of(one, 2))) {
            addresses.insert(word_of(one, 1));
        } else if (opcode == op_decorate) {
            const std::uint32_t decoration = word_of(one, 2);
            if (decoration == decoration_restrict_pointer || decoration == decoration_aliased_pointer)
                marked.insert(word_of(one, 1));
        } else if (opcode == op_variable && holders.contains(word_of(one, 1))) {
            variables.push_back(word_of(one, 2));
        }
    });
    if (!whole) return false;
    std::erase_if(variables, [&](std::uint32_t variable) { return marked.contains(variable); });
    decorate(code, variables, decoration_aliased_pointer);
    return true;
}

void mark_aliased_buffers(std::string& code) {
    Words variables;
    (void)each_instruction(module_of(code), [&](Instruction one) {
        if (opcode_of(one) == op_variable && word_of(one, 3) == storage_buffer) variables.push_back(one[2]);
    });
    decorate(code, variables, decoration_aliased);
}

std::vector<std::string> bind_block(std::string& code) {
    Words module = module_of(code);
    std::map<std::uint32_t, std::string> names;
    // The numbers of a variable's binding and set.
    std::map<std::uint32_t, std::vector<std::uint32_t*>> places;
    std::vector<std::uint32_t> filled;
    const bool whole = each_instruction(module, [&](std::span<std::uint32_t> one) {
        const std::uint32_t opcode = opcode_of(one);
        if (opcode == op_name && one.size() > 2) {
            names[one[1]] = text_of(one, 2);
        } else if (opcode == op_decorate && one.size() > 3) {
            if (one[2] == decoration_binding || one[2] == decoration_descriptor_set)
                places[one[1]].push_back(&one[3]);
        } else if (opcode == op_variable && one.size() > 3) {
            if (std::find(filled_storage.begin(), filled_storage.end(), one[3]) != filled_storage.end())
                filled.push_back(one[2]);
        }
    });
    std::vector<std::string> others;
    for (std::size_t i = 0; whole && i < filled.size(); ++i) {
        if (names[filled[i]].starts_with(own_buffers)) continue;
        if (!names[filled[i]].starts_with(own_parameters)) {
            others.push_back(names[filled[i]]);
            continue;
        }
        for (std::uint32_t* const place : places[filled[i]]) *place = 0;
    }
    if (whole) code = bytes_of(module);
    return others;
}

void renumber_constants(std::string& code, std::uint32_t by) {
    Words module = module_of(code);
    const bool whole = each_instruction(module, [&](std::span<std::uint32_t> one) {
        if (opcode_of(one) == op_decorate && one.size() == 4 && one[2] == decoration_spec_id) one[3] -= by;
    });
    if (whole) code = bytes_of(module);
}

std::vector<SpecializedValue> specialized_values(std::string_view code) {
    std::map<std::uint32_t, std::string> names;  // by id
    std::map<std::uint32_t, std::uint32_t> ids;  // by number
    (void)each_instruction(module_of(code), [&](Instruction one) {
        if (opcode_of(one) == op_name && one.size() >= 3) {
            names[one[1]] = text_of(one, 2);
        } else if (opcode_of(one) == op_decorate && one.size() == 4 && one[2] == decoration_spec_id) {
            ids[one[3]] = one[1];
        }
    });
    std::vector<SpecializedValue> values;
    for (const auto& [number, id] : ids) {
        const auto name = names.find(id);
        values.push_back({number, name != names.end() ? name->second : "number " + std::to_string(number)});
    }
    return values;
}

std::vector<std::string> required_features(std::string_view code) {
    std::set<std::string> features;
    const bool whole = each_instruction(module_of(code), [&](Instruction one) {
        if (one.size() < 2) return;
        if (opcode_of(one) == op_capability) {
            const auto* const known =
                std::find_if(capability_features.begin(), capability_features.end(),
                             [&](const CapabilityFeature& entry) { return entry.capability == one[1]; });
            if (known == capability_features.end()) {
                features.insert("capability-" + std::to_string(one[1]));
            } else if (!known->feature.empty()) {
                features.emplace(known->feature);
            }
        } else if (opcode_of(one) == op_extension) {
            const std::string_view name = text_of(one, 1);
            if (std::find(implied_extensions.begin(), implied_extensions.end(), name) ==
                implied_extensions.end()) {
                features.insert("extension-" + std::string(name));
            }
        }
    });
    if (!whole) {
        return {};
    }
    // Data behind a pointer is laid out without padding (float3 stride 12), which only the scalar
    // block layout allows.
    if (features.contains("buffer_device_address")) {
        features.insert("scalar_layout");
    }
    return {features.begin(), features.end()};
}

}  // namespace kf::gen
