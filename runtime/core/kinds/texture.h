// The kind of parameters that are textures, and of those that textures feed texel by texel: resources beside
// the block.
#pragma once

#include <kf/texture_format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/kinds/access.h"
#include "core/kinds/declarations.h"
#include "core/kinds/host_passing.h"

namespace kf::manifest::kinds {

enum class TextureDimension : std::uint8_t { one, two, three, cube };
/// How artifacts name them, in the order of TextureDimension.
inline constexpr std::array texture_dimension_words{"1d", "2d", "3d", "cube"};

/// Texture2D<T>, RWTexture2D<T>, Sampler2D<T> and their kin. Whole, the argument's rank and inner rank are
/// how many dimensions it has, without layers. Per pixel it feeds a parameter of another type as a tensor
/// does: its dimensions are the call's, and layers or faces come in front. The argument's element is what
/// shaders have of a texel.
struct Texture {
    static constexpr const char* word = "texture";

    Access access = Access::read;
    TextureDimension dimension = TextureDimension::two;
    bool is_array = false;
    std::string format;           ///< a name of texture_formats; empty: any that has such texels
    std::string texel = "float";  ///< "float", "int" or "uint": what a component is to shaders
    bool is_combined = false;     ///< with a sampler of its own
    bool per_pixel = false;

    template <class Self, class Visit>
    static void each_field(Self& self, Visit visit) {
        visit("access", self.access, access_words);
        visit("dimension", self.dimension, texture_dimension_words);
        visit("is_array", self.is_array);
        visit("format", self.format);
        visit("texel", self.texel);
        visit("is_combined", self.is_combined);
        visit("per_pixel", self.per_pixel);
    }

    bool operator==(const Texture&) const = default;
};

/// How many dimensions texels have: a cube's are two, of each face.
constexpr std::int64_t dimensions_of(TextureDimension dimension) {
    switch (dimension) {
        case TextureDimension::one: return 1;
        case TextureDimension::three: return 3;
        default: return 2;
    }
}
/// Returns whether layers, or faces, come in front of a texture's dimensions.
inline bool has_layers(const Texture& texture) {
    return texture.is_array || texture.dimension == TextureDimension::cube;
}
/// Returns whether kernels see a cube's faces as layers of a 2D array.
inline bool has_faces_as_layers(const Texture& texture) {
    return texture.per_pixel && texture.dimension == TextureDimension::cube;
}
/// Returns whether shaders can have such components: "float", "int" or "uint".
[[nodiscard]] bool is_texel_word(const std::string& word);
/// Returns whether shaders have such components of texels of that class: floats of fractions, too.
[[nodiscard]] bool is_read_as(TexelClass given, const std::string& texel);
/// "texture2d_array", "rwtexture3d": as call specs name it.
[[nodiscard]] std::string texture_word(const Texture& texture);

inline HostPassing passed_as(const Texture&) { return HostPassing::texture; }

// The answers to kinds/questions.h.
void check_consistency(const Texture& texture, const Call& call, const Argument& argument,
                       const std::string& where);
inline std::string spec_text(const Texture& texture, const Argument&, const std::string&) {
    return texture_word(texture);
}
bool reads_elements(const Texture& texture, const Argument& argument);
bool writes_elements(const Texture& texture, const Argument& argument);
inline bool depends_on_elements(const Texture& texture, const Argument& argument) {
    return reads_elements(texture, argument);
}
inline std::int64_t extent_in_element(const Texture&, const Argument&, std::size_t) { return 0; }
inline bool may_write_through(const Texture&) { return false; }
inline bool has_free_access(const Texture& texture) { return !texture.per_pixel; }
inline bool adds_atomically(const Texture&) { return false; }
inline bool has_one_gradient(const Texture&) { return false; }
inline bool requires_contiguous(const Texture&) { return false; }
inline bool shares_place(const Texture&, const Argument&) { return false; }
inline bool lies_in_block(const Texture&, const Argument&) { return false; }
inline bool counts_along_dimensions(const Texture& texture) { return texture.per_pixel; }
void list_records(const Texture& texture, const Argument& argument, std::int64_t index, RecordList& list);
void list_resources(const Texture& texture, const Call& call, std::int64_t index, ResourceList& list);

}  // namespace kf::manifest::kinds
