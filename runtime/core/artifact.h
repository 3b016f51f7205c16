// Artifacts: a manifest and its kernel images as one CBOR document.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/manifest.h"
#include "core/shared_bytes.h"

namespace kf::artifact {

/// The document: {"format", "abi", "sha256" (of "body"), "body" (the manifest, CBOR, with the images' sizes
/// and digests), "images" (their bytes, one after the other)}. A function of the manifest alone.
/// Image::sha256 is computed, not read. Throws ArtifactError when check() does.
[[nodiscard]] std::vector<std::byte> write(const manifest::Manifest& manifest);

/// Trusts nothing: format, version, digests and every index, extent and offset are checked. Throws
/// ArtifactError: artifact_version for a newer file, else artifact_corrupt.
[[nodiscard]] manifest::Manifest read(std::span<const std::byte> bytes);

/// Reads an artifact whose images stay where they lie: their digests are checked when one is first needed:
/// see checked_image.h.
[[nodiscard]] manifest::Manifest read_lazily(const SharedBytes& bytes);

/// A file's bytes, mapped, so that only those are read that somebody needs; throws ArtifactError
/// (artifact_missing). The file must be replaced, not written over, as long as they live.
[[nodiscard]] SharedBytes map_file(const std::string& path);

/// A copy of a file's bytes; throws as map_file().
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

/// The rules that hold in every manifest, so that nothing after this needs to check again. Throws
/// ArtifactError (artifact_corrupt) naming what is wrong.
void check(const manifest::Manifest& manifest);

}  // namespace kf::artifact
