// A list of calls that the caller records now and submits once.
#include <kf/device.h>
#include <kf/encoder.h>

#include "core/encoder_state.h"

namespace kf {

Encoder::Encoder(std::shared_ptr<detail::DeviceState> device)
    : state_(std::make_unique<detail::EncoderState>()) {
    state_->recorder = device->driver().make_recorder();
    state_->device = std::move(device);
}

Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

void Encoder::submit() {
    detail::EncoderState& open = state();
    open.device->driver().admit();
    // Moved out first: a submission that failed is over too.
    std::unique_ptr<driver::Recorder> recorder = std::move(open.recorder);
    open.device->driver().submit(std::move(recorder));
}

Device Encoder::device() const { return state_ ? Device(state_->device) : Device(); }

detail::EncoderState& Encoder::state() {
    if (!state_ || !state_->recorder) {
        throw ArgumentError(ErrorCode::encoder_submitted,
                            "the encoder was already submitted; make another with Device::encoder()");
    }
    return *state_;
}

}  // namespace kf
