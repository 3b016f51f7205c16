// What a Sampler points to.
#pragma once

#include <kf/sampler.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device_state.h"

namespace kf::detail {

/// Its devices keep what they make of it, so that a sampler keeps no device open. Thread-safe.
class SamplerState {
public:
    explicit SamplerState(const SamplerOptions& options);

    [[nodiscard]] const SamplerOptions& options() const { return options_; }
    /// The device's own, made once. Throws what the driver throws; a later call tries again.
    [[nodiscard]] std::shared_ptr<driver::Sampler> on(DeviceState& device);

private:
    struct Made {
        std::uint64_t device = 0;  ///< its id
        std::weak_ptr<driver::Sampler> sampler;
    };

    SamplerOptions options_;
    driver::SamplerDescription description_;
    std::mutex mutex_;
    std::vector<Made> made_;
};

/// The sampler on that device. Throws ArgumentError (missing_argument) where it is null.
[[nodiscard]] std::shared_ptr<driver::Sampler> sampler_on(const Sampler& sampler, DeviceState& device);

}  // namespace kf::detail
