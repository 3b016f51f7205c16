// kf::Profile: how long calls take on the GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kf/device.h>

namespace kf {

namespace detail {
class ProfileState;
}  // namespace detail

/// One call, or one of a graph's.
struct ProfiledCall {
    std::string function = {};
    std::string pass = {};    ///< "forward", "backward", "fused" or "jvp"
    double start = 0;         ///< seconds since the profile began, on the GPU's clock
    double duration = 0;      ///< seconds, from when all before it was done until it is
    std::uint64_t bytes = 0;  ///< of tensors, buffers and textures that it reads and writes, each once
};

/// Times each call that is made on a device while it lives, on whatever streams, by the GPU's own clock.
/// Calls are looked at one by one: those of a graph run one after the other, and those of an encoder are
/// handed over as calls, not as one list. What was recorded in an encoder made before, in a command buffer or
/// on a captured stream isn't timed. One thread at a time.
class Profile {
public:
    /// Begins. Throws ArgumentError (missing_argument) for a null device, and (profile_context) while another
    /// one is on, DeviceError (missing_feature) for a device without timestamps.
    explicit Profile(const Device& device);
    ~Profile();
    Profile(Profile&& other) noexcept;
    Profile& operator=(Profile&& other) noexcept;

    /// Ends: waits for the device, and looks at no more calls. The rest does so first.
    void stop();
    /// Returns the calls in the order in which they were made.
    [[nodiscard]] const std::vector<ProfiledCall>& calls();
    /// A line for each function and pass, those that took longest first: how many calls, their time, their
    /// bytes and bytes a second.
    [[nodiscard]] std::string table();
    /// Writes a file that Chrome (about:tracing) and Perfetto show. Throws Error (file_unwritable).
    void write_trace(const std::string& path);

private:
    std::shared_ptr<detail::ProfileState> state_;
};

}  // namespace kf
