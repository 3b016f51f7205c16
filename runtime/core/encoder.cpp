// A list of calls that the caller records now and submits once.
#include <kf/device.h>
#include <kf/encoder.h>

#include "core/command_log.h"
#include "core/encoder_state.h"
#include "core/kept_call.h"
#include "core/observers.h"
#include "core/recording.h"

namespace kf {

Encoder::Encoder(std::shared_ptr<detail::DeviceState> device)
    : state_(std::make_unique<detail::EncoderState>()) {
    const detail::Observers* const observers = device->observers();
    if (observers == nullptr || !observers->is_of_each_call()) {
        state_->recorder = device->driver().make_recorder();
    } else {
        state_->recorder = std::make_unique<detail::CommandLog>();
        state_->target = detail::EncoderState::Target::observed;
    }
    state_->device = std::move(device);
}

Encoder::Encoder(std::unique_ptr<detail::EncoderState> state) : state_(std::move(state)) {}

Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

void Encoder::submit() {
    detail::EncoderState& open = state();
    if (open.target == detail::EncoderState::Target::hook) {
        throw ArgumentError(ErrorCode::hook_context,
                            "a hook's encoder isn't submitted: what it holds goes right before the call");
    }
    if (open.target == detail::EncoderState::Target::kept) {
        throw ArgumentError(ErrorCode::graph_context,
                            "a graph's encoder isn't submitted: replay() of the graph runs what it holds");
    }
    if (open.target == detail::EncoderState::Target::command_buffer) {
        throw ArgumentError(ErrorCode::encoder_submitted,
                            "the encoder records into a command buffer of yours: call finish(), and submit "
                            "that");
    }
    open.device->driver().admit();
    open.note_run();
    // Moved out first: a submission that failed is over too.
    std::unique_ptr<driver::Recorder> recorder = std::move(open.recorder);
    const auto launching = open.device->launching();
    if (open.target == detail::EncoderState::Target::observed) {
        const detail::Unrecorded unrecorded;
        detail::run_observed(static_cast<const detail::CommandLog&>(*recorder), *open.device);
        return;
    }
    open.device->driver().submit(std::move(recorder));
}

bool Encoder::is_open() const noexcept { return state_ && state_->recorder; }

Device Encoder::device() const { return state_ ? Device(state_->device) : Device(); }

detail::EncoderState& Encoder::state() {
    using Target = detail::EncoderState::Target;
    if (state_ && !state_->recorder && state_->target == Target::hook) {
        throw ArgumentError(
            ErrorCode::hook_context,
            "the encoder was a hook's, and its call is over; make one with Device::encoder()");
    }
    if (state_ && !state_->recorder && state_->target == Target::command_buffer) {
        throw ArgumentError(ErrorCode::encoder_submitted,
                            "the encoder was finished; make another one to record more");
    }
    if (state_ && !state_->recorder && state_->target == Target::kept) {
        throw ArgumentError(ErrorCode::graph_context,
                            "the graph is recorded: nothing can be added to it; make another one");
    }
    if (!state_ || !state_->recorder) {
        throw ArgumentError(ErrorCode::encoder_submitted,
                            "the encoder was already submitted; make another with Device::encoder()");
    }
    return *state_;
}

namespace detail {

Encoder hook_encoder(std::shared_ptr<DeviceState> device) {
    auto state = std::make_unique<EncoderState>();
    state->recorder = std::make_unique<CommandLog>();
    state->device = std::move(device);
    state->target = EncoderState::Target::hook;
    return Encoder(std::move(state));
}

Encoder taken_hook_encoder(Encoder& encoder) {
    EncoderState& open = encoder.state();
    auto state = std::make_unique<EncoderState>();
    state->recorder = std::move(open.recorder);
    state->device = open.device;
    state->target = open.target;
    state->awaited = std::exchange(open.awaited, {});
    return Encoder(std::move(state));
}

Encoder keeping_encoder(std::shared_ptr<DeviceState> device) {
    auto state = std::make_unique<EncoderState>();
    state->recorder = std::make_unique<KeptCalls>();
    state->device = std::move(device);
    state->target = EncoderState::Target::kept;
    return Encoder(std::move(state));
}

KeptCalls* kept_calls(EncoderState& state) {
    return state.target == EncoderState::Target::kept ? static_cast<KeptCalls*>(state.recorder.get())
                                                      : nullptr;
}

CommandLog* command_log(EncoderState& state) {
    using Target = EncoderState::Target;
    return state.target == Target::hook || state.target == Target::observed
               ? static_cast<CommandLog*>(state.recorder.get())
               : nullptr;
}

void close_hook_encoder(Encoder& encoder) noexcept {
    if (encoder.is_open()) {
        encoder.state().recorder.reset();
    }
}

}  // namespace detail
}  // namespace kf
