// What an Encoder holds until it is submitted.
#pragma once

#include <kf/encoder.h>

#include <memory>

#include "core/device_state.h"

namespace kf::detail {

struct EncoderState {
    std::shared_ptr<DeviceState> device;
    std::unique_ptr<driver::Recorder> recorder;  ///< null once submitted
};

}  // namespace kf::detail
