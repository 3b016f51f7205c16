// kf.Texture: an AnyTexture that keeps its device's context.
#pragma once

#include <kf/any_texture.h>

#include <string>

#include "python/context.h"

namespace kf::python {

struct Texture {
    using PythonClass = Texture;

    AnyTexture any;  ///< perhaps with a sampler
    ContextPtr context;
};

/// The texture in `value`, or null when it isn't one.
const Texture* as_texture(py::handle value);

/// "2D rgba8 texture of shape [3, 4], 2 mips".
std::string describe(const Texture& texture);

}  // namespace kf::python
