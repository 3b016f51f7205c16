// What a parameter demands of the texture that is given for it.
#pragma once

#include <kf/invoke.h>

#include <cstdint>
#include <optional>

#include "core/kinds/texture.h"
#include "core/texture_state.h"

namespace kf::detail {

/// What kinds::Texture says, without words: launches look at it again and again.
struct TextureRules {
    driver::ImageDimension dimension = driver::ImageDimension::two;
    bool is_array = false;
    bool is_written = false;
    bool is_combined = false;
    bool one_mip = false;                 ///< calls see its first mip alone
    bool faces_as_layers = false;         ///< calls see a cube as the 2D array of its faces
    std::optional<TextureFormat> format;  ///< absent: any of the classes
    std::uint8_t classes = 0;             ///< a bit for each TexelClass

    [[nodiscard]] bool takes_class(TextureFormat given) const {
        return ((classes >> static_cast<unsigned>(info_of(given).texel)) & 1U) != 0;
    }
    [[nodiscard]] bool takes_dimensions(const driver::ImageRange& range) const {
        return range.dimension == dimension && range.is_array == is_array;
    }
    [[nodiscard]] bool takes_format(TextureFormat given) const {
        return takes_class(given) && (!format || given == *format);
    }
    [[nodiscard]] bool takes_sampler(const Sampler* sampler) const {
        return !is_combined || (sampler != nullptr && !sampler->is_comparison());
    }
    /// Returns whether a texture fits; check_given() says why it doesn't.
    [[nodiscard]] bool take(const TextureState& state, const Sampler* sampler) const {
        return takes_dimensions(state.range) && takes_format(state.shape.format) &&
               (!is_written || state.shape.writable) && takes_sampler(sampler);
    }
    /// What calls see of it.
    [[nodiscard]] driver::ImageRange range(const TextureState& state) const {
        driver::ImageRange seen = state.range;
        if (one_mip) seen.mips = 1;
        if (faces_as_layers) {
            seen.dimension = driver::ImageDimension::two;
            seen.is_array = true;
        }
        return seen;
    }
};

[[nodiscard]] TextureRules rules_of(const manifest::kinds::Texture& texture);

/// The sampler that comes with a texture; null where none does.
[[nodiscard]] const Sampler* sampler_of(const Arg& arg);

/// The texture that is made for an output: of the extents that feed the call, and the only format that
/// kernels write.
[[nodiscard]] TextureShape made_shape(const TextureRules& rules, const Dims& extents);

/// Returns whether two views of one image have a texel in common.
[[nodiscard]] bool share_texels(const driver::ImageRange& a, const driver::ImageRange& b);

}  // namespace kf::detail
