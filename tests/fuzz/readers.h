// What the fuzzers feed and the corpus test replays: bytes from outside, read by the readers that must take
// anything.
#pragma once

#include <cstddef>
#include <span>

namespace kf::fuzz {

/// Reads a spec's text. Aborts where the reader breaks its contract: a refusal without a message, or a spec
/// that is read differently the second time.
void read_spec(std::span<const std::byte> text);

/// Reads the bytes as an artifact, and as an artifact's body around which a correct document is made: else
/// the SHA-256 would keep every mutation out. Aborts where the reader breaks its contract: an exception that
/// isn't an ArtifactError, or a manifest that doesn't survive being written and read.
void read_artifact(std::span<const std::byte> bytes);

}  // namespace kf::fuzz
