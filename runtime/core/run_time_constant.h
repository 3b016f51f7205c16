// Constants of kernels that are chosen at run time, and what depends on them.
#pragma once

#include <kf/types.h>

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

/// Threads of a group, at most.
inline constexpr std::int64_t max_group_threads = 1024;

}  // namespace kf::manifest
