// kf::Encoder: a list of calls that the caller records now and submits once.
#pragma once

#include <memory>

#include <kf/error.h>

namespace kf {

class Device;

namespace detail {
class DeviceState;
struct EncoderState;
}  // namespace detail

/// Records calls, and is made by Device::encoder(). Calls recorded with append_to() run at submit(), in
/// order, after everything that was issued on the device before. Not thread-safe; movable, not copyable.
/// Dropped without submit(), it runs nothing. Any use after submit() is an ArgumentError (encoder_submitted).
class Encoder {
public:
    explicit Encoder(std::shared_ptr<detail::DeviceState> device);
    /// Makes an encoder for the runtime itself.
    explicit Encoder(std::unique_ptr<detail::EncoderState> state);
    Encoder(Encoder&&) noexcept;
    Encoder& operator=(Encoder&&) noexcept;
    ~Encoder();

    /// Gives the list to the device, without waiting. Throws ArgumentError (encoder_submitted) after the
    /// first time.
    void submit();
    Result<void> try_submit() {
        return attempt([&] { submit(); });
    }
    [[nodiscard]] Device device() const;

    /// Whether calls can still be recorded: the encoder has not been submitted.
    [[nodiscard]] bool is_open() const noexcept;

    /// Returns the state, for the runtime itself. Throws once the encoder is submitted.
    [[nodiscard]] detail::EncoderState& state();

private:
    std::unique_ptr<detail::EncoderState> state_;
};

}  // namespace kf
