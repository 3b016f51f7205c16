// What looks at a device's calls, where something does.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/command_target.h"
#include "core/driver.h"
#include "core/nvtx.h"
#include "core/observed_call.h"

namespace kf::detail {

class CommandLog;
class DeviceState;
class ProfileState;

/// Calls that run as one: those that hooks recorded, then the hooked one.
using ObservedCalls = std::vector<std::shared_ptr<const ObservedCall>>;

/// Thread-safe.
class Observers {
public:
    void watch_nan(bool on) { watches_nan_.store(on, std::memory_order_relaxed); }
    [[nodiscard]] bool watches_nan() const { return watches_nan_.load(std::memory_order_relaxed); }
    /// `nvtx`: the tool's, or null; `shown`: by the driver.
    void show_labels(const Nvtx* nvtx, bool shown) {
        nvtx_ = nvtx;
        shows_labels_ = nvtx != nullptr || shown;
    }
    [[nodiscard]] const Nvtx* nvtx() const { return nvtx_; }
    /// Null ends it.
    void profile(std::shared_ptr<ProfileState> profile);
    [[nodiscard]] bool profiles() const { return profiles_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool is_needed() const { return is_of_each_call() || shows_labels_; }
    /// Whether the calls of a graph must run one by one.
    [[nodiscard]] bool is_of_each_call() const { return watches_nan() || profiles(); }

    /// Looks at the calls while `launch` makes them on the device, and sets the marks' times. Throws what
    /// that throws, and Error (not_finite).
    void run(driver::Device& driver, const ObservedCalls& calls,
             const std::function<void(LaunchMarks&)>& launch);

private:
    std::atomic<bool> watches_nan_ = false;
    std::atomic<bool> profiles_ = false;
    std::mutex mutex_;
    std::shared_ptr<ProfileState> profile_;
    // These are set before the device is used.
    const Nvtx* nvtx_ = nullptr;
    bool shows_labels_ = false;
    std::atomic<std::uint64_t> count_ = 0;  ///< calls so far
};

/// Runs what a list kept, call by call.
void run_observed(const CommandLog& log, const DeviceState& on);

}  // namespace kf::detail
