// The properties and abilities of a GPU.
#include "cuda/physical.h"

#include <algorithm>
#include <array>

#include "cuda/result.h"

namespace kf::cuda {
namespace {

constexpr Capability needed{7, 0};
constexpr std::uint32_t block_bytes = 4096;  ///< of a kernel's parameters, on every architecture
constexpr std::uint32_t warp = 32;

/// All architectures since 7.0 have these; the words are those of the Vulkan driver.
std::vector<std::string> words() {
    std::vector<std::string> list{"buffer_device_address",
                                  "float16",
                                  "float16_atomic_add",
                                  "float32_atomic_add",
                                  "float64",
                                  "float64_atomic_add",
                                  "int16",
                                  "int64",
                                  "int64_atomics",
                                  "int8",
                                  "scalar_layout",
                                  "storage16",
                                  "storage8",
                                  "subgroup_arithmetic",
                                  "subgroup_ballot",
                                  "subgroup_basic",
                                  "subgroup_shuffle",
                                  "subgroup_shuffle_relative",
                                  "subgroup_vote"};
    std::sort(list.begin(), list.end());
    return list;
}

}  // namespace

Physical describe(const Library& library, int ordinal) {
    const Functions& cu = library.functions();
    Physical physical;
    check(cu, cu.cuDeviceGet(&physical.handle, ordinal), "cuDeviceGet");
    const auto attribute = [&](int which) {
        int value = 0;
        check(cu, cu.cuDeviceGetAttribute(&value, which, physical.handle), "cuDeviceGetAttribute");
        return value;
    };
    std::array<char, 256> name{};
    check(cu, cu.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, physical.handle),
          "cuDeviceGetName");
    std::size_t memory = 0;
    check(cu, cu.cuDeviceTotalMem_v2(&memory, physical.handle), "cuDeviceTotalMem");

    physical.capability = {attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
    driver::Info& info = physical.info;
    info.backend = "cuda";
    info.name = name.data();
    info.driver = "CUDA " + version_text(library.version());
    info.memory = memory;
    info.features = words();
    info.subgroup_size = warp;
    info.max_block_size = block_bytes;
    const auto extents = [&](int first) {
        driver::Grid found{};
        for (std::uint32_t& extent : found) {
            extent = static_cast<std::uint32_t>(attribute(first++));
        }
        return found;
    };
    info.max_groups = extents(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    physical.max_group_size = extents(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    info.processors = static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));

    if (physical.capability < needed) {
        physical.lacking.push_back("compute capability 7.0 (it has " +
                                   std::to_string(physical.capability.major) + "." +
                                   std::to_string(physical.capability.minor) + ")");
    }
    if (attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0) {
        physical.lacking.emplace_back("memory pools");
    }
    return physical;
}

}  // namespace kf::cuda
