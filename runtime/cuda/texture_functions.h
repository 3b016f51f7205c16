// The CUDA functions for textures.
#pragma once

#include <functional>

#include "cuda/texture_api.h"

// X(name in libcuda, parameters): all return CUresult.
#define KF_CUDA_TEXTURE_FUNCTIONS(X)                                                              \
    X(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* copy, CUstream stream))                           \
    X(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR* description))          \
    X(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * description, CUarray array))          \
    X(cuArrayDestroy, (CUarray array))                                                            \
    X(cuMipmappedArrayCreate,                                                                     \
      (CUmipmappedArray * array, const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels))    \
    X(cuMipmappedArrayGetLevel, (CUarray * array, CUmipmappedArray of, unsigned level))           \
    X(cuMipmappedArrayDestroy, (CUmipmappedArray array))                                          \
    X(cuTexObjectCreate, (CUtexObject * object, const CUDA_RESOURCE_DESC* resource,               \
                          const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view)) \
    X(cuTexObjectDestroy, (CUtexObject object))                                                   \
    X(cuSurfObjectCreate, (CUsurfObject * object, const CUDA_RESOURCE_DESC* resource))            \
    X(cuSurfObjectDestroy, (CUsurfObject object))

namespace kf::cuda {

#define KF_CUDA_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;

/// Functions of textures, which every driver has that is new enough.
struct TextureFunctions {
    KF_CUDA_TEXTURE_FUNCTIONS(KF_CUDA_MEMBER)

    /// Throws kf::DeviceError (no_driver) naming the function that is missing.
    static TextureFunctions load(const std::function<void*(const char*)>& lookup);
};

#undef KF_CUDA_MEMBER

}  // namespace kf::cuda
