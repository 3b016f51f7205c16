// Arrays of textures and samplers that kernels are given, as one descriptor for each element.
#pragma once

#include <cstdint>
#include <string>

namespace kf::gen {

/// What became of the arrays of textures and samplers in a module.
enum class TextureArrays : std::uint8_t {
    settled,    ///< there are none left
    unsettled,  ///< some element is kept or passed on in a way that names no textures
    no_spirv,   ///< the words are no module
};

/// Rewrites SPIR-V that declares arrays of textures or samplers: each element becomes a variable of its own,
/// bound behind the one before, and where an element is used whose index isn't known, a switch goes to it, so
/// that indices may differ between threads. An index outside of the array picks its last element.
TextureArrays settle_texture_arrays(std::string& code);

}  // namespace kf::gen
