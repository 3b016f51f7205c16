// Using what the application has on a CUDA device.
#pragma once

#include <memory>

#include <kf/any_texture.h>
#include <kf/device.h>

struct CUarray_st;
struct CUmipmappedArray_st;

namespace kf {

/// An array of the caller's (cudaArray_t or cudaMipmappedArray_t, too): one of both, in the device's primary
/// context. It must outlive the texture and the commands that use it, or `owner` must keep it alive. It was
/// made with what the texture is used for: CUDA_ARRAY3D_SURFACE_LDST where the shape is writable,
/// CUDA_ARRAY3D_LAYERED and CUDA_ARRAY3D_CUBEMAP as the shape is, and of one dimension with a Height of 1.
struct CudaArray {
    CUarray_st* array = nullptr;
    CUmipmappedArray_st* mipmapped_array = nullptr;
    TextureShape shape = {};  ///< as it was made; of `array` with one mip
    std::shared_ptr<void> owner = {};
};

/// Makes a texture of it: `kf::Texture2D<kf::float4>(kf::adopt(device, array))`. What others do to the array
/// must be done, or come before on the device's stream. Throws ArgumentError: missing_argument for null, for
/// both, or for mips of an array without, device_mismatch for a device that isn't CUDA's, and what
/// AnyTexture::empty() throws.
[[nodiscard]] AnyTexture adopt(const Device& device, const CudaArray& array);

}  // namespace kf
