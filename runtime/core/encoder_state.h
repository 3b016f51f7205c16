// What an Encoder holds until it is submitted.
#pragma once

#include <kf/encoder.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/device_state.h"

namespace kf::detail {

class CommandLog;
class KeptCalls;

struct EncoderState {
    std::shared_ptr<DeviceState> device;
    std::unique_ptr<driver::Recorder> recorder;  ///< null once submitted
    /// Where the commands go: to the device when they are submitted, before a call, or to a command buffer of
    /// the caller's, as they come; or they are kept call by call, to run often. `observed`: to the device,
    /// call by call, since something looks at each of them.
    enum class Target : std::uint8_t { device, hook, command_buffer, kept, observed };
    Target target = Target::device;
    std::vector<std::weak_ptr<driver::Awaited>> awaited;  ///< what its calls made

    /// Its calls have run, or are about to.
    void note_run() {
        for (const auto& made : std::exchange(awaited, {})) {
            if (const auto memory = made.lock()) memory->note_written();
        }
    }
};

/// An encoder for hooks, whose recorder is a CommandLog.
[[nodiscard]] Encoder hook_encoder(std::shared_ptr<DeviceState> device);
/// One with what such an encoder holds, which is over then.
[[nodiscard]] Encoder taken_hook_encoder(Encoder& encoder);
/// An encoder whose recorder is a KeptCalls.
[[nodiscard]] Encoder keeping_encoder(std::shared_ptr<DeviceState> device);
/// The recorder of such an encoder; null for any other.
[[nodiscard]] KeptCalls* kept_calls(EncoderState& state);
/// The recorder of an encoder for hooks, or of one whose calls are observed; null for any other.
[[nodiscard]] CommandLog* command_log(EncoderState& state);
/// Ends its use. Does nothing to one that was moved from.
void close_hook_encoder(Encoder& encoder) noexcept;

}  // namespace kf::detail
