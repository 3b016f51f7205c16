// Where a call's commands go: to its device, or into a list.
#pragma once

#include <cstdint>
#include <memory>

#include "core/command_log.h"
#include "core/device_state.h"
#include "core/driver.h"

namespace kf::detail {

struct TensorState;

class CommandTarget {
public:
    /// `recorder`: the list, or null for the device, from which scratch memory comes in any case.
    /// `runs_often`: commands that are kept need scratch memory that no others use.
    CommandTarget(DeviceState& device, driver::Recorder* recorder, bool runs_often = false)
        : device_(device), driver_(device.driver()), recorder_(recorder), runs_often_(runs_often) {}

    void dispatch(const driver::Dispatch& dispatch) const {
        recorder_ != nullptr ? recorder_->dispatch(dispatch) : driver_.dispatch(dispatch);
    }
    /// Fills bytes with zeros; both numbers are multiples of 4.
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
              std::uint64_t size) const;
    /// Fills a tensor with zeros. What is shared along a dimension is there once.
    void zero(const TensorState& tensor) const;
    void replay(const CommandLog& log) const;

private:
    void zero(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
              std::uint64_t size) const;

    DeviceState& device_;
    driver::Device& driver_;
    driver::Recorder* recorder_;
    bool runs_often_;
};

}  // namespace kf::detail
