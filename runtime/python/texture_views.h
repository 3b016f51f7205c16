// The views of kf.Texture: mips, layers and cubes, and the texture with a sampler.
#pragma once

#include "python/texture.h"

namespace kf::python {

void bind_texture_views(py::class_<Texture>& type);

}  // namespace kf::python
