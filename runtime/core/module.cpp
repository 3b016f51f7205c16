// An artifact loaded on one device.
#include <kf/invoke.h>
#include <kf/module.h>

#include "core/artifact.h"
#include "core/items.h"
#include "core/join.h"
#include "core/module_state.h"

namespace kf {
namespace detail {

ModuleState::ModuleState(Device device, std::shared_ptr<const LoadedArtifact> artifact)
    : device_(std::move(device)), artifact_(std::move(artifact)) {
    if (!device_) {
        throw ArgumentError(ErrorCode::missing_argument, "Module: the device is null");
    }
    const DeviceInfo& info = device_.info();
    check_listed(manifest(), artifact_->constants(), info.backend);
    for (const manifest::Kernel& kernel : manifest().kernels) {
        const auto layout = kernel.layouts.find(info.backend);
        if (layout == kernel.layouts.end()) {
            const auto target = [](const auto& one) { return one.first; };
            throw ArtifactError(ErrorCode::artifact_no_image,
                                "the artifact '" + manifest().name + "' was generated for " +
                                    join(kernel.layouts, target) + " and has no kernel '" + kernel.name +
                                    "' for device " + info.id + " (" + info.name + "); add \"" +
                                    info.backend + "\" to the spec's targets");
        }
        layouts_.push_back(&layout->second);
        kernels_.push_back(device_.state()->kernel(kernel));
    }
    plans_ = std::make_unique<LaunchPlans>(manifest(), layouts_);
    launches_ = std::make_unique<LaunchCache>(manifest());
}

std::shared_ptr<ModuleState> ModuleState::with(const std::shared_ptr<ModuleState>& self,
                                               const ConstantValues& constants) {
    constexpr std::size_t most_kept = 64;
    if (self->artifact_->constants() == constants) return self;
    std::shared_ptr<ModuleState> root = self->root_.lock();
    ModuleState& owner = root ? *root : *self;
    if (root && root->artifact_->constants() == constants) return root;
    const std::lock_guard lock(owner.mutex_);
    std::shared_ptr<ModuleState>& known = owner.chosen_[constants];
    if (known) return known;
    std::shared_ptr<ModuleState> made;
    try {
        made = std::make_shared<ModuleState>(self->device_, self->artifact_->with(constants));
    } catch (...) {
        owner.chosen_.erase(constants);
        throw;
    }
    // One whose root is gone has none, and is that of what is made of it.
    made->root_ = root ? root : self;
    if (owner.chosen_.size() > most_kept) owner.chosen_.clear();
    return owner.chosen_[constants] = made;
}

const std::shared_ptr<driver::Kernel>& ModuleState::kernel(std::size_t index, driver::Device& driver) const {
    return kernels_[index]->get(driver, artifact_->manifest.kernels[index]);
}

FunctionRef jvp_of(const FunctionRef& function) {
    check_function(function);
    const std::int64_t index = function.module->manifest().functions.at(function.function).jvp;
    FunctionRef made = function;
    made.function = static_cast<std::size_t>(index);
    return made;
}

Module load_module(const Device& device, std::shared_ptr<const LoadedArtifact> artifact) {
    return Module(std::make_shared<ModuleState>(device, std::move(artifact)));
}

Module load_own(const Device& device, std::span<const std::byte> artifact) {
    return load_module(device,
                       std::make_shared<const LoadedArtifact>(std::vector(artifact.begin(), artifact.end())));
}

Module load_own(const Device& device, const std::string& path) {
    return load_module(device, std::make_shared<const LoadedArtifact>(artifact::map_file(path)));
}

}  // namespace detail

const Device& Module::device() const { return state()->device(); }
const std::string& Module::name() const { return state()->manifest().name; }
const std::string& Module::sha256() const { return state()->digest(); }

std::vector<std::string> Module::functions() const { return manifest::function_names(state()->manifest()); }

detail::FunctionRef Module::function(std::string_view name) const {
    for (std::size_t i = 0; i < state()->manifest().functions.size(); ++i) {
        const manifest::Function& function = state()->manifest().functions[i];
        if (function.name == name && !manifest::is_hidden(state()->manifest(), function)) {
            return {state(), i};
        }
    }
    throw ArgumentError(ErrorCode::unknown_name, "the module '" + this->name() + "' has no function '" +
                                                     std::string(name) + "'; it has " + join(functions()));
}

void Module::load_all() const {
    for (std::size_t i = 0; i < state()->manifest().kernels.size(); ++i) {
        (void)state()->kernel(i, state()->device().state()->driver());
    }
}

}  // namespace kf
