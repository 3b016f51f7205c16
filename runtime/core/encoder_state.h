// What an Encoder holds until it is submitted.
#pragma once

#include <kf/encoder.h>

#include <memory>

#include "core/device_state.h"

namespace kf::detail {

struct EncoderState {
    std::shared_ptr<DeviceState> device;
    std::unique_ptr<driver::Recorder> recorder;  ///< null once submitted
    bool of_hook = false;                        ///< what is recorded goes with a call
};

/// An encoder for hooks, whose recorder is a CommandLog.
[[nodiscard]] Encoder hook_encoder(std::shared_ptr<DeviceState> device);
/// Ends its use. Does nothing to one that was moved from.
void close_hook_encoder(Encoder& encoder) noexcept;

}  // namespace kf::detail
