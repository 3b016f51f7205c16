// Reads an artifact, as the runtime does when a module is loaded.
#include <kf/error.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/artifact.h"
#include "core/cbor.h"
#include "core/checked_image.h"
#include "core/sha256.h"
#include "fuzz/readers.h"

namespace kf::fuzz {
namespace {

constexpr std::int64_t most_image_bytes = 1 << 16;

/// Returns how many bytes the images have that a body describes, or 0 where it doesn't say.
std::int64_t image_bytes(std::span<const std::byte> body) {
    std::int64_t sum = 0;
    try {
        // The document has to live as long as its blobs are looked at.
        const cbor::Value document = cbor::parse(body);
        for (const cbor::Value& blob : document.at("blobs").array()) {
            const std::int64_t size = blob.at("size").integer();
            if (size < 0 || size > most_image_bytes) return 0;
            sum = std::min(sum + size, most_image_bytes);
        }
    } catch (const cbor::Error&) {
        return 0;
    }
    return sum;
}

std::vector<std::byte> document_around(std::span<const std::byte> body) {
    using nlohmann::json;
    const auto digest = sha256(body);
    const auto* first = reinterpret_cast<const std::uint8_t*>(body.data());
    const json document = {
        {"format", "kernelfunctions artifact"},
        {"abi", manifest::abi_version},
        {"sha256", json::binary({digest.begin(), digest.end()})},
        {"body", json::binary(std::vector<std::uint8_t>(first, first + body.size()))},
        {"images", json::binary(std::vector<std::uint8_t>(static_cast<std::size_t>(image_bytes(body))))}};
    const std::vector<std::uint8_t> bytes = json::to_cbor(document);
    const auto view = std::as_bytes(std::span(bytes));
    return {view.begin(), view.end()};
}

/// Returns whether the artifact is taken.
bool read(const std::vector<std::byte>& bytes) {
    manifest::Manifest manifest;
    try {
        manifest = artifact::read_lazily(bytes);
    } catch (const ArtifactError&) {
        return false;
    }
    for (const manifest::Kernel& kernel : manifest.kernels) {
        for (const manifest::Image& image : kernel.images) {
            try {
                (void)manifest::checked_bytes(image, kernel.name);
            } catch (const ArtifactError&) {  // its bytes aren't what its digest says
            }
        }
    }
    // Digests are computed when writing: the second and the third manifest have the right ones.
    const manifest::Manifest written = artifact::read(artifact::write(manifest));
    if (artifact::read(artifact::write(written)) == written) return true;
    std::cerr << "the manifest doesn't survive being written and read\n";
    std::abort();
}

}  // namespace

void read_artifact(std::span<const std::byte> bytes) {
    if (!read({bytes.begin(), bytes.end()})) (void)read(document_around(bytes));
}

}  // namespace kf::fuzz
