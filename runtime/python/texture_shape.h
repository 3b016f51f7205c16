// What kf.Texture's makers are told of a texture, and the arrays that hold its texels.
#pragma once

#include <kf/any_texture.h>

#include <string>

#include "python/common.h"

namespace kf::python {

/// Arguments of a maker's by their names; None for those that aren't given.
struct TextureArguments {
    py::handle format;
    py::handle kind;
    py::handle mips;
    py::handle layers;
    bool writable = false;
};

/// "2d_array": as call specs name it behind "texture".
std::string kind_word(const TextureShape& shape);

/// What a texture of that shape, which counts neither layers nor channels, is to be.
TextureShape shape_of_texture(const char* owner, py::handle shape, const TextureArguments& arguments);
/// What a texture whose texels an array of those extents holds is to be; its number of dimensions says
/// which kind, where the arguments don't.
TextureShape shape_of_texels(const char* owner, const Dims& extents, const TextureArguments& arguments);

/// The shape of the array that holds the first mip's texels: [layers,] [d,] h, w [, channels].
Dims texel_extents(const TextureShape& shape);

/// Returns the extents, in NumPy's order, of the box of texels that an array of that shape holds, in all of
/// the texture's layers; refuses an array that holds none.
Dims box_of(const TextureShape& shape, const Dims& array, const Where& where);

/// Refuses a dtype that isn't exactly that of the texels.
void check_texel_type(const TextureShape& shape, const py::array& array, const Where& where);

}  // namespace kf::python
