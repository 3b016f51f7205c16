// An artifact in memory, for modules on any device.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/artifact.h"
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
    explicit LoadedArtifact(SharedBytes bytes)
        : manifest(artifact::read_lazily(bytes)), bytes_(std::move(bytes)) {}

    const manifest::Manifest manifest;

    /// SHA-256 of all its bytes, in hexadecimal; computed when it is first asked for.
    [[nodiscard]] const std::string& digest() const {
        const std::lock_guard lock(mutex_);
        if (digest_.empty()) digest_ = hex(sha256(bytes_.span()));
        return digest_;
    }

private:
    SharedBytes bytes_;
    mutable std::mutex mutex_;
    mutable std::string digest_;
};

/// Throws ArtifactError (artifact_no_image).
[[nodiscard]] Module load_module(const Device& device, std::shared_ptr<const LoadedArtifact> artifact);

}  // namespace detail
}  // namespace kf
