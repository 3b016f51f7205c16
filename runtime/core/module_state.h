// What all handles of one module share: its manifest and its kernels on one device.
#pragma once

#include <kf/function_ref.h>
#include <kf/module.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/device_state.h"
#include "core/launch_cache.h"
#include "core/launch_plan.h"
#include "core/loaded_artifact.h"
#include "core/manifest.h"

namespace kf::detail {

/// Immutable but for the kernels, which become ready on first use. Thread-safe.
class ModuleState {
public:
    /// Throws ArtifactError (artifact_no_image).
    ModuleState(Device device, std::shared_ptr<const LoadedArtifact> artifact);

    /// The module with these values of the constants that run time chooses; kept for the next time. Throws
    /// ArgumentError (unknown_name) where the device has no code for them.
    [[nodiscard]] static std::shared_ptr<ModuleState> with(const std::shared_ptr<ModuleState>& self,
                                                           const ConstantValues& constants);

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const manifest::Manifest& manifest() const { return artifact_->manifest; }
    [[nodiscard]] const std::shared_ptr<const LoadedArtifact>& artifact() const { return artifact_; }
    [[nodiscard]] const std::string& digest() const { return artifact_->digest(); }

    /// Ready on the device, whose driver (on whatever stream) is asked when it isn't yet; throws DeviceError.
    [[nodiscard]] const std::shared_ptr<driver::Kernel>& kernel(std::size_t index,
                                                                driver::Device& driver) const;
    /// What was launched before, on any of the device's streams.
    [[nodiscard]] LaunchCache& launches() const { return *launches_; }
    [[nodiscard]] const LaunchPlans& plans() const { return *plans_; }
    /// How its parameters lie on this device.
    [[nodiscard]] const manifest::BlockLayout& layout(std::size_t index) const { return *layouts_[index]; }

private:
    Device device_;
    std::shared_ptr<const LoadedArtifact> artifact_;
    std::vector<std::shared_ptr<LazyKernel>> kernels_;
    std::vector<const manifest::BlockLayout*> layouts_;
    std::unique_ptr<LaunchPlans> plans_;
    std::unique_ptr<LaunchCache> launches_;
    std::weak_ptr<ModuleState> root_;  ///< the one with the default constants
    std::mutex mutex_;
    std::map<ConstantValues, std::shared_ptr<ModuleState>> chosen_;  ///< of a root
};

/// Throws ArgumentError (missing_argument) for a function that is null: never assigned to, or moved from.
inline void check_function(const FunctionRef& function) {
    if (function.module == nullptr) throw_null("the function");
}

}  // namespace kf::detail
