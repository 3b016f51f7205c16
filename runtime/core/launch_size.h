// How many groups a launch gets whose kernel finds each call by its flat index.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/manifest.h"

namespace kf::detail {

/// Threads that one processor is taken to run at once where a driver doesn't say. Kernels that sum hold
/// more registers.
inline constexpr std::uint32_t threads_per_processor = 2048;
inline constexpr std::uint32_t summing_threads_per_processor = 1536;

inline std::int64_t threads_of(const manifest::Kernel& kernel) {
    return std::int64_t{kernel.group_size[0]} * kernel.group_size[1] * kernel.group_size[2];
}

inline bool takes_textures(const manifest::Kernel& kernel) {
    return std::any_of(kernel.resources.begin(), kernel.resources.end(),
                       [](const manifest::ResourceSlot& slot) { return manifest::is_texture(slot.kind); });
}

/// Returns whether a kernel of textures, which counts tiles by 32 bits, can count those of a call: however
/// the threads of a group lie in a tile, there are no more than as many tiles as full groups, rows and
/// columns.
constexpr bool counts_tiles(std::int64_t total, std::int64_t columns, std::int64_t threads) {
    return total / threads + columns + total / std::max<std::int64_t>(1, columns) < std::int64_t{1} << 31;
}

/// What of a kernel and of its device decides.
struct LaunchSize {
    std::int64_t threads = 1;           ///< of a group
    std::int64_t calls_per_thread = 1;  ///< that one takes at a time
    std::uint32_t processors = 1;
    std::uint32_t resident = 0;                 ///< groups that a processor runs at once; 0: not known
    std::uint32_t device_calls_per_thread = 0;  ///< as in driver::Info
    std::uint32_t max_groups = 1;
    bool takes_textures = false;  ///< as takes_textures() says

    /// Groups that fill the device. `summing`: calls add to elements that they share.
    [[nodiscard]] std::int64_t filling(std::int64_t total, bool summing) const {
        const std::int64_t guess = std::max<std::int64_t>(
            1, (summing ? summing_threads_per_processor : threads_per_processor) / threads);
        const std::int64_t groups =
            std::max<std::int64_t>(1, processors) * (resident != 0 ? resident : guess);
        if (device_calls_per_thread == 0) return groups;
        return std::max(groups, (total - 1) / (threads * device_calls_per_thread) + 1);
    }

    // Measured on an H200 with kernels that do little but read and write. Those that take several calls a
    // thread are quickest (by a seventh) with groups for all there is to do; others with as many as run at
    // once, so that each thread has calls enough to pay for its start, and so do those that sum, which end in
    // an atomic for each group and sum.
    //
    // Kernels that go about textures get groups for all there is to do, too: groups that are started in order
    // write tiles of a texture in the order in which they lie in memory, and an H100 then fills a texture by
    // a tenth faster than groups that each take every so many tiles. A CPU's groups are threads, whose start
    // costs more.
    [[nodiscard]] std::int64_t groups(std::int64_t total, bool summing) const {
        const std::int64_t needed = (total - 1) / (threads * calls_per_thread) + 1;
        // Few are needed for most small launches: how many fill the device is then not asked.
        if (needed == 1 || (takes_all() && !summing)) return needed;
        return std::min(needed, filling(total, summing));
    }
    /// Returns whether a launch gets groups for all its calls at once.
    [[nodiscard]] bool takes_all() const {
        return calls_per_thread != 1 || (takes_textures && device_calls_per_thread == 0);
    }
    [[nodiscard]] std::uint32_t limited(std::int64_t groups) const {
        return static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(groups, 1, std::max<std::uint32_t>(1, max_groups)));
    }
};

}  // namespace kf::detail
