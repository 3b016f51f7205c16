// The machine's memory by sysconf(), a container's by the limit of its control group.
#include "process/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace kf::process {

std::uint64_t machine_memory(const std::filesystem::path& groups) {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    std::uint64_t bytes =
        pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
    // Version 2 of control groups and version 1; a group without a limit says "max" or a number past any
    // machine.
    for (const char* file : {"memory.max", "memory/memory.limit_in_bytes"}) {
        std::uint64_t limit = 0;
        if (std::ifstream(groups / file) >> limit && limit > 0 && bytes > 0) bytes = std::min(bytes, limit);
    }
    return bytes;
}

}  // namespace kf::process
