// What a call's compiled code says of its inputs: whether results depend on them, and which integers it
// compares them with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/manifest.h"

namespace kf::check {

struct InputFacts {
    bool unused = false;                 ///< no result depends on it, whatever the inputs are
    std::vector<std::int64_t> compared;  ///< constants that it, or what is computed of it, meets; ascending
};

/// One for each of the call's arguments, read from the SPIR-V of its forward pass, which has all functions
/// that the call calls in it. Where the artifact has none, or has something in it that isn't understood,
/// nothing is claimed.
std::vector<InputFacts> facts_of(const manifest::Manifest& manifest, const manifest::Call& call);

}  // namespace kf::check
