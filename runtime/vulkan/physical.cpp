// The features and limits of a physical device, in the runtime's words, and how a device is made on it.
#include "vulkan/physical.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "vulkan/formats.h"
#include "vulkan/imports.h"
#include "vulkan/result.h"

namespace kf::vulkan {
namespace {

/// The feature structures that matter, chained for a query or for vkCreateDevice.
struct Features {
    VkPhysicalDeviceFeatures2 core{};
    VkPhysicalDeviceVulkan11Features v11{};
    VkPhysicalDeviceVulkan12Features v12{};
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size{};
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot_product{};
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float{};
    VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT atomic_float2{};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable{};
    VkPhysicalDeviceRobustness2FeaturesEXT robustness{};
    VkBool32 host_memory = VK_FALSE;  ///< can be imported
    VkBool32 files = VK_FALSE;        ///< memory and semaphores can be exported and imported as files
    std::vector<const char*> extensions;

    Features() = default;
    Features(const Features&) = delete;
    Features& operator=(const Features&) = delete;
};

bool has_extension(const std::vector<VkExtensionProperties>& extensions, const char* name) {
    return std::any_of(extensions.begin(), extensions.end(), [name](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

std::vector<VkExtensionProperties> device_extensions(const Instance& instance, VkPhysicalDevice device) {
    const InstanceFunctions& vk = instance.functions();
    std::uint32_t count = 0;
    check(vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> extensions(count);
    check(vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()),
          "vkEnumerateDeviceExtensionProperties");
    extensions.resize(count);
    return extensions;
}

/// Fills `features` with what is supported; all of it is also what gets enabled, less what costs.
void query(const Instance& instance, VkPhysicalDevice device, std::uint32_t api,
           const std::vector<VkExtensionProperties>& extensions, Features& features) {
    features.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    features.v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features.subgroup_size.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    features.dot_product.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES;
    features.atomic_float.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    features.atomic_float2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_2_FEATURES_EXT;
    features.executable.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    features.robustness.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
    features.core.pNext = &features.v11;
    features.v11.pNext = &features.v12;
    void** tail = &features.v12.pNext;
    const auto chain = [&](auto& structure, const char* extension, bool in_core) {
        if (in_core || has_extension(extensions, extension)) {
            *tail = &structure;
            tail = &structure.pNext;
            if (!in_core) {
                features.extensions.push_back(extension);
            }
        }
    };
    chain(features.subgroup_size, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, api >= VK_API_VERSION_1_3);
    chain(features.dot_product, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, api >= VK_API_VERSION_1_3);
    chain(features.atomic_float, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, false);
    chain(features.atomic_float2, VK_EXT_SHADER_ATOMIC_FLOAT_2_EXTENSION_NAME, false);
    chain(features.executable, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, false);
    chain(features.robustness, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME, false);
    instance.functions().vkGetPhysicalDeviceFeatures2(device, &features.core);
    if (has_extension(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
        features.host_memory = VK_TRUE;
        features.extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    }
    if (has_extension(extensions, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) &&
        has_extension(extensions, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME)) {
        features.files = VK_TRUE;
        features.extensions.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
        features.extensions.push_back(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    }
    // Bounds checks on every access cost much and promise nothing for device addresses.
    features.core.features.robustBufferAccess = VK_FALSE;
    features.robustness.robustBufferAccess2 = VK_FALSE;
    // Capture and replay are for debuggers, which turn them on themselves; they may cost memory.
    features.v12.bufferDeviceAddressCaptureReplay = VK_FALSE;
    features.v12.bufferDeviceAddressMultiDevice = VK_FALSE;
    // The sparse image atomics of these structures need features that a compute runtime leaves off.
    features.atomic_float.sparseImageFloat32Atomics = VK_FALSE;
    features.atomic_float.sparseImageFloat32AtomicAdd = VK_FALSE;
    features.atomic_float2.sparseImageFloat32AtomicMinMax = VK_FALSE;
}

/// KF_VULKAN_WITHOUT names features, apart by commas, that are taken as missing: what devices without them do
/// can be tried on any.
bool is_left_out(const std::string& name) {
    const char* listed = std::getenv("KF_VULKAN_WITHOUT");
    return listed != nullptr && ("," + std::string(listed) + ",").find("," + name + ",") != std::string::npos;
}

std::vector<std::string> words(const Features& features, const VkPhysicalDeviceSubgroupProperties& subgroup,
                               const VkPhysicalDeviceFloatControlsProperties& floats) {
    std::vector<std::string> found;
    const auto word = [&found](VkBool32 supported, const char* name) {
        if (supported != VK_FALSE && !is_left_out(name)) {
            found.emplace_back(name);
        }
    };
    const VkPhysicalDeviceFeatures& core = features.core.features;
    word(features.v12.shaderInt8, "int8");
    word(core.shaderInt16, "int16");
    word(core.shaderInt64, "int64");
    word(features.v12.shaderFloat16, "float16");
    word(core.shaderFloat64, "float64");
    word(features.v12.storageBuffer8BitAccess, "storage8");
    word(features.v11.storageBuffer16BitAccess, "storage16");
    word(features.v12.shaderBufferInt64Atomics, "int64_atomics");
    word(features.atomic_float.shaderBufferFloat32AtomicAdd, "float32_atomic_add");
    word(features.atomic_float.shaderBufferFloat64AtomicAdd, "float64_atomic_add");
    word(features.atomic_float2.shaderBufferFloat16AtomicAdd, "float16_atomic_add");
    word(features.atomic_float2.shaderBufferFloat16AtomicMinMax, "float16_atomic_min_max");
    word(features.atomic_float2.shaderBufferFloat32AtomicMinMax, "float32_atomic_min_max");
    word(features.atomic_float2.shaderBufferFloat64AtomicMinMax, "float64_atomic_min_max");
    word(features.v12.bufferDeviceAddress, "buffer_device_address");
    word(features.v12.scalarBlockLayout, "scalar_layout");
    word(features.v12.vulkanMemoryModel, "vulkan_memory_model");
    word(features.v12.vulkanMemoryModelDeviceScope, "vulkan_memory_model_device_scope");
    word(features.v12.storagePushConstant8, "push_constant8");
    word(features.v11.storagePushConstant16, "push_constant16");
    word(features.v12.uniformAndStorageBuffer8BitAccess, "uniform_storage8");
    word(features.v11.uniformAndStorageBuffer16BitAccess, "uniform_storage16");
    word(features.v11.variablePointersStorageBuffer, "variable_pointers_storage_buffer");
    word(features.v11.variablePointers, "variable_pointers");
    word(features.dot_product.shaderIntegerDotProduct, "integer_dot_product");
    word(core.shaderStorageImageExtendedFormats, "storage_image_formats");
    word(core.shaderStorageImageReadWithoutFormat, "storage_image_read_any");
    word(core.shaderStorageImageWriteWithoutFormat, "storage_image_write_any");
    word(core.shaderImageGatherExtended, "image_gather_extended");
    word(core.shaderResourceMinLod, "min_lod");
    word(core.imageCubeArray, cube_arrays_word);
    word(core.samplerAnisotropy, anisotropy_word);
    word(features.robustness.robustImageAccess2, robust_images_word);
    word(features.host_memory, import_host_word);
    word(features.files, share_files_word);
    // Kernels ask it of float32 alone.
    word(floats.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE
             ? VK_FALSE
             : floats.shaderDenormPreserveFloat32,
         "denorm_preserve");
    if ((subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BASIC_BIT, "subgroup_basic");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_VOTE_BIT, "subgroup_vote");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT, "subgroup_arithmetic");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT, "subgroup_ballot");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT, "subgroup_shuffle");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT,
             "subgroup_shuffle_relative");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_CLUSTERED_BIT, "subgroup_clustered");
        word(subgroup.supportedOperations & VK_SUBGROUP_FEATURE_QUAD_BIT, "subgroup_quad");
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string version(std::uint32_t value) {
    return std::to_string(VK_API_VERSION_MAJOR(value)) + "." + std::to_string(VK_API_VERSION_MINOR(value)) +
           "." + std::to_string(VK_API_VERSION_PATCH(value));
}

struct Processors {
    std::uint32_t count = 1;
    std::uint32_t resident_subgroups = 0;  ///< as in Limits
};

Processors guess_processors(const Instance& instance, VkPhysicalDevice device, VkPhysicalDeviceType type,
                            const std::vector<VkExtensionProperties>& extensions) {
    if (has_extension(extensions, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
        VkPhysicalDeviceShaderSMBuiltinsPropertiesNV builtins{};
        builtins.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &builtins;
        instance.functions().vkGetPhysicalDeviceProperties2(device, &properties);
        return {std::max(builtins.shaderSMCount, 1U), builtins.shaderWarpsPerSM};
    }
    if (has_extension(extensions, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
        VkPhysicalDeviceShaderCorePropertiesAMD cores{};
        cores.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &cores;
        instance.functions().vkGetPhysicalDeviceProperties2(device, &properties);
        const std::uint32_t units =
            cores.shaderEngineCount * cores.shaderArraysPerEngineCount * cores.computeUnitsPerShaderArray;
        return {std::max(units, 1U)};
    }
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_CPU: return {std::max(std::thread::hardware_concurrency(), 1U)};
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return {64};
        default: return {16};
    }
}

void find_queue_family(const Instance& instance, Physical& physical) {
    std::uint32_t count = 0;
    instance.functions().vkGetPhysicalDeviceQueueFamilyProperties(physical.handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    instance.functions().vkGetPhysicalDeviceQueueFamilyProperties(physical.handle, &count, families.data());
    for (std::uint32_t i = 0; i < count; ++i) {
        if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            physical.queue_family = i;
            physical.limits.graphics = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
            return;
        }
    }
}

std::vector<std::string> find_lacking(const Physical& physical, const Features& features) {
    std::vector<std::string> lacking;
    const auto need = [&lacking](bool present, const char* name) {
        if (!present) {
            lacking.emplace_back(name);
        }
    };
    need(features.v12.bufferDeviceAddress != VK_FALSE, "bufferDeviceAddress");
    need(features.v12.scalarBlockLayout != VK_FALSE, "scalarBlockLayout");
    need(features.v12.timelineSemaphore != VK_FALSE, "timelineSemaphore");
    need(physical.queue_family.has_value(), "a queue that computes");
    return lacking;
}

}  // namespace

Physical describe(const Instance& instance, VkPhysicalDevice device) {
    const InstanceFunctions& vk = instance.functions();
    Physical physical;
    physical.handle = device;
    physical.info.backend = "vulkan";

    VkPhysicalDeviceProperties properties{};
    vk.vkGetPhysicalDeviceProperties(device, &properties);
    physical.info.name = properties.deviceName;
    physical.info.is_cpu = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    physical.integrated =
        physical.info.is_cpu || properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    if (properties.apiVersion < VK_API_VERSION_1_2) {
        physical.info.driver = version(properties.driverVersion);
        physical.lacking.push_back("Vulkan 1.2 (it has " + version(properties.apiVersion) + ")");
        return physical;
    }

    const std::vector<VkExtensionProperties> extensions = device_extensions(instance, device);
    const bool size_control = properties.apiVersion >= VK_API_VERSION_1_3 ||
                              has_extension(extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    VkPhysicalDeviceSubgroupSizeControlProperties size{};
    size.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
    VkPhysicalDeviceSubgroupProperties subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    subgroup.pNext = size_control ? &size : nullptr;
    VkPhysicalDeviceFloatControlsProperties floats{};
    floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
    floats.pNext = &subgroup;
    VkPhysicalDeviceMaintenance3Properties maintenance{};
    maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
    maintenance.pNext = &floats;
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    driver.pNext = &maintenance;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_memory{};
    host_memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
    host_memory.pNext = &driver;
    VkPhysicalDeviceIDProperties ids{};
    ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
    const bool imports = has_extension(extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    ids.pNext = imports ? static_cast<void*>(&host_memory) : &driver;
    all.pNext = &ids;
    vk.vkGetPhysicalDeviceProperties2(device, &all);
    std::copy_n(ids.deviceUUID, VK_UUID_SIZE, physical.info.uuid.begin());
    physical.info.driver = std::string(driver.driverName) + " " + driver.driverInfo;

    Features features;
    query(instance, device, properties.apiVersion, extensions, features);
    physical.info.features = words(features, subgroup, floats);
    physical.info.subgroup_size = subgroup.subgroupSize;
    physical.info.max_block_size = properties.limits.maxPushConstantsSize;
    std::copy_n(properties.limits.maxComputeWorkGroupCount, 3, physical.info.max_groups.begin());
    // llvmpipe ends all of a thread's loops after 65,535 iterations: loops over calls leave most of these to
    // functions.
    physical.info.calls_per_thread = physical.info.is_cpu ? 64 : 0;
    const Processors processors = guess_processors(instance, device, properties.deviceType, extensions);
    physical.info.processors = processors.count;
    physical.limits.resident_subgroups = processors.resident_subgroups;
    physical.limits.null_buffers = features.robustness.nullDescriptor != VK_FALSE;
    physical.limits.statistics = features.executable.pipelineExecutableInfo != VK_FALSE;

    std::copy_n(properties.limits.maxComputeWorkGroupSize, 3, physical.limits.max_group_size);
    physical.limits.max_group_invocations = properties.limits.maxComputeWorkGroupInvocations;
    physical.limits.buffer_alignment = properties.limits.minStorageBufferOffsetAlignment;
    physical.limits.max_buffer = properties.limits.maxStorageBufferRange;
    physical.info.buffer_alignment = physical.limits.buffer_alignment;
    physical.info.max_buffer = physical.limits.max_buffer;
    physical.limits.max_buffers = properties.limits.maxPerStageDescriptorStorageBuffers;
    physical.limits.uniform_alignment = properties.limits.minUniformBufferOffsetAlignment;
    physical.limits.max_sampled_images = properties.limits.maxPerStageDescriptorSampledImages;
    physical.limits.max_storage_images = properties.limits.maxPerStageDescriptorStorageImages;
    physical.limits.max_samplers = properties.limits.maxPerStageDescriptorSamplers;
    physical.limits.max_resources = properties.limits.maxPerStageResources;
    physical.limits.max_anisotropy = properties.limits.maxSamplerAnisotropy;
    physical.limits.max_lod_bias = properties.limits.maxSamplerLodBias;
    physical.limits.max_allocation = maintenance.maxMemoryAllocationSize;
    physical.limits.max_subgroup_size = size_control ? size.maxSubgroupSize : subgroup.subgroupSize;
    physical.limits.full_subgroups = features.subgroup_size.computeFullSubgroups != VK_FALSE;
    if (imports) physical.limits.host_import_alignment = host_memory.minImportedHostPointerAlignment;

    vk.vkGetPhysicalDeviceMemoryProperties(device, &physical.memory);
    for (std::uint32_t i = 0; i < physical.memory.memoryHeapCount; ++i) {
        if ((physical.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
            physical.info.memory = std::max(physical.info.memory, physical.memory.memoryHeaps[i].size);
        }
    }
    find_queue_family(instance, physical);
    physical.lacking = find_lacking(physical, features);
    return physical;
}

VkDevice create_device(const Instance& instance, const Physical& physical) {
    VkPhysicalDeviceProperties properties{};
    instance.functions().vkGetPhysicalDeviceProperties(physical.handle, &properties);
    Features features;
    query(instance, physical.handle, properties.apiVersion, device_extensions(instance, physical.handle),
          features);

    const float priority = 1.0F;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = physical.queue_family.value();
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &features.core;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<std::uint32_t>(features.extensions.size());
    info.ppEnabledExtensionNames = features.extensions.data();
    VkDevice device = VK_NULL_HANDLE;
    const VkResult result = [&] {
        const KeepLoaded keep;
        return instance.functions().vkCreateDevice(physical.handle, &info, nullptr, &device);
    }();
    if (result < 0) {
        fail(result, "can't create a device on " + physical.info.name);
    }
    return device;
}

}  // namespace kf::vulkan
