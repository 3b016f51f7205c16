// What a profile holds: calls with the places in a device's commands between which they ran.
#pragma once

#include <kf/profile.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/command_target.h"
#include "core/device_state.h"
#include "core/observers.h"

namespace kf::detail {

/// Thread-safe but for what stop() settles.
class ProfileState {
public:
    /// Begins now; throws DeviceError (missing_feature).
    explicit ProfileState(std::shared_ptr<DeviceState> device);

    /// Adds calls that ran as one, named by the last of them, unless their times aren't known.
    void add(const ObservedCalls& calls, const LaunchMarks& marks);
    /// Ends. Waits for the device.
    void stop();

    [[nodiscard]] const std::vector<ProfiledCall>& calls() const { return calls_; }
    [[nodiscard]] const DeviceState& device() const { return *device_; }

private:
    struct Pending {
        std::size_t call = 0;  ///< in calls_
        std::shared_ptr<driver::Timestamp> begin;
        std::shared_ptr<driver::Timestamp> end;
    };

    void settle();

    std::shared_ptr<DeviceState> device_;
    std::shared_ptr<driver::Timestamp> origin_;
    bool is_on_ = true;
    std::mutex mutex_;
    std::vector<ProfiledCall> calls_;
    std::vector<Pending> pending_;  ///< whose times aren't read yet
};

}  // namespace kf::detail
