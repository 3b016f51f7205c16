// CUDA's declarations of textures, written anew: see api.h.
#pragma once

#include "cuda/api.h"

namespace kf::cuda {

using CUmipmappedArray = struct CUmipmappedArray_st*;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;

inline constexpr int CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45;  // HEIGHT follows
inline constexpr int CU_AD_FORMAT_UNSIGNED_INT8 = 0x01;
inline constexpr int CU_AD_FORMAT_UNSIGNED_INT16 = 0x02;
inline constexpr int CU_AD_FORMAT_UNSIGNED_INT32 = 0x03;
inline constexpr int CU_AD_FORMAT_SIGNED_INT8 = 0x08;
inline constexpr int CU_AD_FORMAT_SIGNED_INT16 = 0x09;
inline constexpr int CU_AD_FORMAT_SIGNED_INT32 = 0x0a;
inline constexpr int CU_AD_FORMAT_HALF = 0x10;
inline constexpr int CU_AD_FORMAT_FLOAT = 0x20;
// Formats of one component; those of two and four come next.
inline constexpr int CU_RES_VIEW_FORMAT_UINT_1X8 = 0x01;
inline constexpr int CU_RES_VIEW_FORMAT_SINT_1X8 = 0x04;
inline constexpr int CU_RES_VIEW_FORMAT_UINT_1X16 = 0x07;
inline constexpr int CU_RES_VIEW_FORMAT_SINT_1X16 = 0x0a;
inline constexpr int CU_RES_VIEW_FORMAT_UINT_1X32 = 0x0d;
inline constexpr int CU_RES_VIEW_FORMAT_SINT_1X32 = 0x10;
inline constexpr int CU_RES_VIEW_FORMAT_FLOAT_1X16 = 0x13;
inline constexpr int CU_RES_VIEW_FORMAT_FLOAT_1X32 = 0x16;
inline constexpr int CU_RESOURCE_TYPE_ARRAY = 0;
inline constexpr int CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1;
inline constexpr int CU_TR_ADDRESS_MODE_WRAP = 0;
inline constexpr int CU_TR_ADDRESS_MODE_CLAMP = 1;
inline constexpr int CU_TR_ADDRESS_MODE_MIRROR = 2;
inline constexpr int CU_TR_ADDRESS_MODE_BORDER = 3;
inline constexpr int CU_TR_FILTER_MODE_POINT = 0;
inline constexpr int CU_TR_FILTER_MODE_LINEAR = 1;
// Flags of arrays and of texture objects, which are macros there.
inline constexpr unsigned array_layered = 0x01;             // CUDA_ARRAY3D_LAYERED
inline constexpr unsigned array_surface = 0x02;             // CUDA_ARRAY3D_SURFACE_LDST
inline constexpr unsigned array_cubemap = 0x04;             // CUDA_ARRAY3D_CUBEMAP
inline constexpr unsigned array_gather = 0x08;              // CUDA_ARRAY3D_TEXTURE_GATHER
inline constexpr unsigned texture_integers = 0x01;          // CU_TRSF_READ_AS_INTEGER
inline constexpr unsigned texture_normalized = 0x02;        // CU_TRSF_NORMALIZED_COORDINATES
inline constexpr unsigned texture_srgb = 0x10;              // CU_TRSF_SRGB
inline constexpr unsigned texture_exact_trilinear = 0x20;   // CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
inline constexpr unsigned texture_seamless_cubemap = 0x40;  // CU_TRSF_SEAMLESS_CUBEMAP

/// Version 2 of the struct.
struct CUDA_ARRAY3D_DESCRIPTOR {
    std::size_t Width = 0;
    std::size_t Height = 0;  ///< 0 of one dimension
    std::size_t Depth = 0;   ///< or layers; 0 of fewer dimensions without
    int Format = 0;
    unsigned NumChannels = 0;
    unsigned Flags = 0;
};

struct CUDA_RESOURCE_DESC {
    int resType = 0;
    union {
        CUarray hArray;
        CUmipmappedArray hMipmappedArray;
        int reserved[32];
    } res{};
    unsigned flags = 0;
};

struct CUDA_TEXTURE_DESC {
    int addressMode[3] = {};
    int filterMode = 0;
    unsigned flags = 0;
    unsigned maxAnisotropy = 0;
    int mipmapFilterMode = 0;
    float mipmapLevelBias = 0;
    float minMipmapLevelClamp = 0;
    float maxMipmapLevelClamp = 0;
    float borderColor[4] = {};
    int reserved[12] = {};
};

struct CUDA_RESOURCE_VIEW_DESC {
    int format = 0;
    std::size_t width = 0;
    std::size_t height = 0;
    std::size_t depth = 0;
    unsigned firstMipmapLevel = 0;
    unsigned lastMipmapLevel = 0;
    unsigned firstLayer = 0;
    unsigned lastLayer = 0;
    unsigned reserved[16] = {};
};

}  // namespace kf::cuda
