// An artifact in memory, for modules on any device.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/artifact.h"
#include "core/choose_constants.h"
#include "core/manifest.h"
#include "core/sha256.h"

namespace kf {

class Device;
class Module;

namespace detail {

/// Immutable; thread-safe. Its images are checked when they are first needed.
class LoadedArtifact {
public:
    /// Throws ArtifactError.
    explicit LoadedArtifact(SharedBytes bytes) : LoadedArtifact(std::make_shared<File>(std::move(bytes))) {}
    LoadedArtifact(const LoadedArtifact&) = delete;
    LoadedArtifact& operator=(const LoadedArtifact&) = delete;

    /// The values of the constants that run time chooses; the default ones, unless with() made it.
    [[nodiscard]] const ConstantValues& constants() const { return constants_; }
    [[nodiscard]] bool has_default_constants() const {
        return constants_ == default_constants(file_->manifest);
    }
    /// A function's name whatever is chosen.
    [[nodiscard]] const std::string& function_name(std::size_t index) const {
        return file_->manifest.functions.at(index).name;
    }
    /// Returns the artifact with these values.
    [[nodiscard]] std::shared_ptr<const LoadedArtifact> with(ConstantValues constants) const {
        return std::shared_ptr<const LoadedArtifact>(new LoadedArtifact(file_, std::move(constants)));
    }

    /// SHA-256 of all its bytes, in hexadecimal; computed when it is first asked for.
    [[nodiscard]] const std::string& digest() const {
        const std::lock_guard lock(file_->mutex);
        if (file_->digest.empty()) file_->digest = hex(sha256(file_->bytes.span()));
        return file_->digest;
    }

private:
    /// What artifacts with all values share.
    struct File {
        explicit File(SharedBytes given) : bytes(std::move(given)), manifest(artifact::read_lazily(bytes)) {}

        const SharedBytes bytes;
        const manifest::Manifest manifest;
        std::mutex mutex;
        std::string digest;
    };

    explicit LoadedArtifact(const std::shared_ptr<File>& file)
        : LoadedArtifact(file, default_constants(file->manifest)) {}
    LoadedArtifact(std::shared_ptr<File> file, ConstantValues constants)
        : file_(std::move(file)), constants_(std::move(constants)) {}

    std::optional<manifest::Manifest> chosen_manifest() const {
        if (constants_.empty()) return std::nullopt;
        return choose_constants(file_->manifest, constants_);
    }

    std::shared_ptr<File> file_;
    ConstantValues constants_;
    std::optional<manifest::Manifest> chosen_ = chosen_manifest();  ///< where there are constants

public:
    /// The kernels have the values constants().
    const manifest::Manifest& manifest = chosen_ ? *chosen_ : file_->manifest;
};

/// Throws ArtifactError (artifact_no_image).
[[nodiscard]] Module load_module(const Device& device, std::shared_ptr<const LoadedArtifact> artifact);

}  // namespace detail
}  // namespace kf
