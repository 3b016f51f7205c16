// Constants of kernels that are chosen at run time, and what depends on them.
#pragma once

#include <kf/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kf::manifest {

/// A specialization constant that the call spec lists values of. SPIR-V takes any value of its type, by its
/// index; CUDA has code for each that is listed.
struct RunTimeConstant {
    std::string name;  ///< "N", "ns.N"
    ScalarType type = ScalarType::int32;
    std::vector<std::string> values;  ///< as kinds::Constant holds them; the first is the default

    bool operator==(const RunTimeConstant&) const = default;
};

/// How many threads a group has in one dimension: a number times constants that run time chooses.
struct GroupExtent {
    std::int64_t factor = 1;
    std::vector<std::int64_t> constants = {};  ///< by index into Manifest::constants

    bool operator==(const GroupExtent&) const = default;
};

/// The value with which a pipeline is made.
struct ChosenConstant {
    std::uint32_t number = 0;  ///< SPIR-V's, an index into Manifest::constants
    std::uint32_t size = 0;    ///< bytes
    std::uint64_t bits = 0;    ///< the lowest of which are these

    bool operator==(const ChosenConstant&) const = default;
};

/// x first, three of them; none where no constant says any of it.
using GroupExtents = std::vector<GroupExtent>;

/// Whether a group can have so many threads, x first: CUDA's limits, which Vulkan's drivers have, too.
[[nodiscard]] constexpr bool is_possible_group(const std::array<std::int64_t, 3>& size) {
    constexpr std::int64_t most = 1024;
    const auto& [x, y, z] = size;
    return x >= 1 && y >= 1 && z >= 1 && x <= most && y <= most && z <= 64 && x * y * z <= most;
}
inline constexpr const char* possible_groups = "1 to 1024 threads in all, and up to 64 along z";

}  // namespace kf::manifest
