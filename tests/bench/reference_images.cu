// Kernels on images written by hand for CUDA, and their launches, compiled by nvcc.
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "reference_images.h"

namespace reference {

namespace {

constexpr int group = 16;
constexpr int radius = 8;
constexpr int row = group + 2 * radius + 1;

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
}

__global__ void __launch_bounds__(group* group) fill_kernel(cudaSurfaceObject_t surface, int side, float4 color) {
    const int x = blockIdx.x * group + threadIdx.x;
    const int y = blockIdx.y * group + threadIdx.y;
    if (x < side && y < side) surf2Dwrite(color, surface, x * int(sizeof(float4)), y);
}

/// The texture clamps coordinates.
template <bool is_column>
__global__ void __launch_bounds__(group* group)
    blur_kernel(cudaTextureObject_t image, cudaSurfaceObject_t blurred, const float* __restrict__ weights, int side) {
    __shared__ float4 tile[group * row];
    const int along = is_column ? threadIdx.y : threadIdx.x;
    const int beside = is_column ? threadIdx.x : threadIdx.y;
    const int first_x = blockIdx.x * group + (is_column ? beside : 0);
    const int first_y = blockIdx.y * group + (is_column ? 0 : beside);
    for (int i = along; i < group + 2 * radius; i += group) {
        const int x = first_x + (is_column ? 0 : i - radius);
        const int y = first_y + (is_column ? i - radius : 0);
        tile[beside * row + i] = tex2D<float4>(image, float(x) + 0.5f, float(y) + 0.5f);
    }
    __syncthreads();

    const int x = first_x + (is_column ? 0 : along);
    const int y = first_y + (is_column ? along : 0);
    if (x >= side || y >= side) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int i = 0; i <= 2 * radius; ++i) {
        const float4 texel = tile[beside * row + along + i];
        sum.x += weights[i] * texel.x;
        sum.y += weights[i] * texel.y;
        sum.z += weights[i] * texel.z;
        sum.w += weights[i] * texel.w;
    }
    surf2Dwrite(sum, blurred, x * int(sizeof(float4)), y);
}

}  // namespace

Image::Image(int side) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
    check(cudaMallocArray(&array, &format, side, side, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    check(cudaCreateSurfaceObject(&surface, &resource));
    cudaTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModePoint;
    description.readMode = cudaReadModeElementType;
    check(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
}

Image::~Image() {
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
}

void fill(const Image& image, int side, const float (&color)[4], cudaStream_t stream) {
    const unsigned groups = unsigned(side + group - 1) / group;
    fill_kernel<<<dim3(groups, groups), dim3(group, group), 0, stream>>>(
        image.surface, side, make_float4(color[0], color[1], color[2], color[3]));
    check(cudaGetLastError());
}

void blur(const Image& image, const Image& between, const Image& blurred, const float* weights, int side,
          cudaStream_t stream) {
    const unsigned groups = unsigned(side + group - 1) / group;
    blur_kernel<false><<<dim3(groups, groups), dim3(group, group), 0, stream>>>(image.texture, between.surface,
                                                                                weights, side);
    blur_kernel<true><<<dim3(groups, groups), dim3(group, group), 0, stream>>>(between.texture, blurred.surface,
                                                                               weights, side);
    check(cudaGetLastError());
}

}  // namespace reference
