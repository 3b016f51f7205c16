// What a driver shows to tools, and when the GPU came where.
#pragma once

#include <limits>
#include <memory>

namespace kf::driver {

/// A place in a device's commands, whose time is known once they have run so far. Thread-safe.
class Timestamp {
public:
    virtual ~Timestamp() = default;
};

/// That part of driver::Device. A driver does without where it can't.
class ObservableDevice {
public:
    virtual ~ObservableDevice() = default;

    /// Whether tools see Dispatch::label.
    [[nodiscard]] virtual bool shows_labels() const { return false; }
    /// Notes when all is done that was issued before; null where the device can't say, or not now.
    virtual std::shared_ptr<Timestamp> mark_time() { return nullptr; }
    /// Returns the nanoseconds between two of the device's, on whatever streams; both have passed, since the
    /// device was waited for. NaN where one isn't known.
    [[nodiscard]] virtual double nanoseconds([[maybe_unused]] const Timestamp& from,
                                             [[maybe_unused]] const Timestamp& to) const {
        return std::numeric_limits<double>::quiet_NaN();
    }
};

}  // namespace kf::driver
