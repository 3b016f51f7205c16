// Which process a device was opened in: a driver's threads and locks don't survive fork().
#pragma once

#include <atomic>
#include <cstdint>

namespace kf::detail {

/// The process that it was made in. Copies are of the same one.
class ProcessMark {
public:
    ProcessMark();

    /// Whether this is still that process, not one that fork() made of it. Costs one load.
    [[nodiscard]] bool is_here() const noexcept {
        return made_after_ == forks.load(std::memory_order_relaxed);
    }

private:
    friend struct ForkHandler;
    static inline std::atomic<std::uint32_t> forks = 0;  ///< that led from the first process to this one

    std::uint32_t made_after_;
};

/// Throws DeviceError (forked): this process was forked from one that used `what`.
[[noreturn]] void throw_forked(const char* what);

/// Notes that drivers are about to be asked for devices. Throws DeviceError (forked) in a process whose
/// parent asked before it forked: the drivers' threads are gone, and their locks may be held for ever.
void start_drivers();

}  // namespace kf::detail
