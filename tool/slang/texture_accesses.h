// How kernels sample and write textures in SPIR-V.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kf::gen {

enum class TextureAccesses : std::uint8_t {
    settled,
    take_derivatives,  ///< that compute kernels don't have: SampleBias, CalculateLevelOfDetail
    sample_integers,   ///< which no sampler can filter
    no_spirv,          ///< the words are no module
};

/// Rewrites what Slang's SPIR-V does with textures: a sample without a level is one of the first level, as
/// kernels have no derivatives; the fourth component that is written to those of `padded`, the names of
/// variables, is 1, where Slang leaves 0; and textures that are only read have any format.
TextureAccesses settle_texture_accesses(std::string& code, const std::vector<std::string>& padded);

}  // namespace kf::gen
