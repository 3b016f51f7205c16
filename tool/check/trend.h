// Whether gradients are off by a factor, seen from many of them together.
#pragma once

#include <string>

#include "check/differences.h"
#include "check/report.h"

namespace kf::check {

/// Errors of rounding are different ones at each place, so that they average out; a factor stays. All
/// gradients of an input that were compared go into one, with other places and values each time.
class Trend {
public:
    explicit Trend(const Precision& precision) : precision_(precision) {}

    /// One comparison that was certain; `scale` as judge() takes it.
    void add(double gradient, const Difference& difference, double scale);

    /// Returns how much too large gradients are, as a part of what they should be.
    [[nodiscard]] double excess() const;
    /// How far that can be trusted.
    [[nodiscard]] double uncertainty() const;
    [[nodiscard]] bool is_off() const;

private:
    Precision precision_;
    double products_ = 0;    ///< sum(weight * (gradient - slope) * slope)
    double squares_ = 0;     ///< sum(weight * slope²)
    double systematic_ = 0;  ///< what may be off in one direction at all places
    double random_ = 0;      ///< squared, what is another error at each
};

/// Calls an input wrong whose gradients are off together, where each by itself may be right.
void settle(InputReport& input, const Trend& trend, const std::string& how);

}  // namespace kf::check
