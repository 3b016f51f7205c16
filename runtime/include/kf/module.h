// kf::Module: an artifact loaded on one device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kf/device.h>
#include <kf/error.h>

namespace kf {

class Module;

namespace detail {
class LoadedArtifact;
class ModuleState;
struct FunctionRef;
Module load_module(const Device& device, std::shared_ptr<const LoadedArtifact> artifact);
}  // namespace detail

/// A handle over shared state; thread-safe. Kernels are made ready on first use, or all at once by
/// load_all(), and are shared by all modules of a device.
class Module {
public:
    /// Makes a null module, as a moved-from one is.
    Module() = default;

    /// Reads and verifies an artifact. The image of each kernel is verified before its first use. The bytes
    /// are copied. Throws ArtifactError: artifact_corrupt, artifact_version, or artifact_no_image when it has
    /// nothing for the device's backend.
    static Module load(const Device& device, std::span<const std::byte> artifact);
    /// Does the same with a file (`NAME.kfa`). Throws ArtifactError (artifact_missing) too, when it can't be
    /// read. A large file is mapped: replace it by a new file, don't write over it. A program that calls
    /// one of the two has the drivers of CUDA and Vulkan; others have those that their kernels are for.
    static Module load_file(const Device& device, const std::string& path);

    static Result<Module> try_load(const Device& device, std::span<const std::byte> artifact) {
        return attempt([&] { return load(device, artifact); });
    }
    static Result<Module> try_load_file(const Device& device, const std::string& path) {
        return attempt([&] { return load_file(device, path); });
    }

    explicit operator bool() const { return state_ != nullptr; }
    [[nodiscard]] const Device& device() const;
    /// The spec's name.
    [[nodiscard]] const std::string& name() const;
    /// SHA-256 of the artifact, hex: lets a generated wrapper check that a file beside it is its own.
    [[nodiscard]] const std::string& sha256() const;
    /// The names of its functions.
    [[nodiscard]] std::vector<std::string> functions() const;

    /// Throws ArgumentError (unknown_name).
    [[nodiscard]] detail::FunctionRef function(std::string_view name) const;

    /// Makes every kernel ready now, so that no later call waits for it. Throws DeviceError (missing_feature)
    /// naming the kernel and the feature.
    void load_all() const;
    Result<void> try_load_all() const {
        return attempt([&] { load_all(); });
    }

    /// For the runtime itself. Throws ArgumentError (missing_argument) for a null module, as all else does.
    [[nodiscard]] const std::shared_ptr<detail::ModuleState>& state() const {
        if (state_ == nullptr) detail::throw_null("the module");
        return state_;
    }

private:
    friend Module detail::load_module(const Device& device,
                                      std::shared_ptr<const detail::LoadedArtifact> artifact);
    explicit Module(std::shared_ptr<detail::ModuleState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::ModuleState> state_;
};

namespace detail {

/// The path of a file in the folder of the library that `symbol` is in: of the program, where it is linked
/// into that.
[[nodiscard]] std::string beside(const void* symbol, std::string_view file);

/// Loads an artifact of a generated library as Module::load() and load_file() do. Such a library names the
/// drivers that the program needs; see kf/backends.h.
[[nodiscard]] Module load_own(const Device& device, std::span<const std::byte> artifact);
[[nodiscard]] Module load_own(const Device& device, const std::string& path);
/// Loads the library's own file, which has this SHA-256: calls are found by their place in it. Throws
/// ArtifactError (artifact_version) for another one.
[[nodiscard]] Module load_own(const Device& device, const std::string& path, std::string_view sha256);

}  // namespace detail
}  // namespace kf
