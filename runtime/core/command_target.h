// Where a call's commands go: to its device, or into a list.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/command_log.h"
#include "core/device_state.h"
#include "core/driver.h"

namespace kf::detail {

struct TensorState;

/// What the commands of a call that something looks at are marked with.
struct LaunchMarks {
    std::string label;  ///< what tools show; empty: the kernel's name
    bool is_timed = false;
    std::shared_ptr<driver::Timestamp> begin;
    std::shared_ptr<driver::Timestamp> end;

    void mark_begin(driver::Device& driver) {
        if (is_timed && begin == nullptr) begin = driver.mark_time();
    }
    void mark_end(driver::Device& driver) {
        if (is_timed) end = driver.mark_time();
    }
};

class CommandTarget {
public:
    /// `recorder`: the list, or null for the device, from which scratch memory comes in any case.
    /// `runs_often`: commands that are kept need scratch memory that no others use.
    /// `marks`: null where nothing looks at the call.
    CommandTarget(DeviceState& device, driver::Recorder* recorder, LaunchMarks* marks,
                  bool runs_often = false)
        : device_(device),
          driver_(device.driver()),
          recorder_(recorder),
          marks_(marks),
          runs_often_(runs_often) {}

    void dispatch(const driver::Dispatch& dispatch) const {
        if (marks_ != nullptr) [[unlikely]] {
            dispatch_marked(dispatch);
            return;
        }
        recorder_ != nullptr ? recorder_->dispatch(dispatch) : driver_.dispatch(dispatch);
    }
    /// Fills bytes with zeros; both numbers are multiples of 4.
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
              std::uint64_t size) const;
    /// Fills a tensor with zeros. What is shared along a dimension is there once.
    void zero(const TensorState& tensor) const;
    void replay(const CommandLog& log) const;

private:
    void dispatch_marked(driver::Dispatch dispatch) const;
    void mark_begin() const;
    void zero(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
              std::uint64_t size) const;

    DeviceState& device_;
    driver::Device& driver_;
    driver::Recorder* recorder_;
    LaunchMarks* marks_;
    bool runs_often_;
};

}  // namespace kf::detail
