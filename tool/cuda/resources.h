// The resources of a GPU's multiprocessor that a kernel takes, as ptxas reports them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kf::gen {

/// Bytes are each thread's, but for those that a group shares.
struct KernelResources {
    std::int64_t registers = 0;
    std::int64_t stack = 0;         ///< bytes of memory for arrays and what registers don't hold
    std::int64_t spill_stores = 0;  ///< bytes that are moved there out of registers
    std::int64_t spill_loads = 0;   ///< and back
    std::int64_t shared = 0;        ///< bytes of the group's memory

    bool operator==(const KernelResources&) const = default;
};

/// Reads the compiler's log; nothing where it doesn't mention this entry point.
std::optional<KernelResources> resources_of(const std::string& entry_point, std::string_view log);

/// Whether a kernel keeps more in memory than a few registers: one whose registers are bounded is quicker
/// without that.
bool spills(const std::string& entry_point, std::string_view log);

}  // namespace kf::gen
