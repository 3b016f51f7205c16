// Layers and slices of textures that kernels write to: out of range, however far.
#pragma once

#include "vulkan/spirv_adapt.h"

namespace kf::vulkan {

/// The module with no layer above 65,535 in what it reads from and writes to storage images: NVIDIA's GPUs
/// take 16 bits of it, and so would read and write a layer that is there. No array has as many layers.
Words bounding_layers(const Words& module);

/// The module with x out of range too, wherever the layer or the slice of a 3D image is in what it reads from
/// and writes to storage images: llvmpipe since Mesa 25 ignores both where a view has one of them.
Words comparing_layers(const Words& module);

}  // namespace kf::vulkan
