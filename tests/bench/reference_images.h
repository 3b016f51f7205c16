// Kernels on images written by hand for CUDA, compiled by nvcc.
#pragma once

#include <cuda_runtime_api.h>

namespace reference {

/// A square of float4, to be read and written.
struct Image {
    explicit Image(int side);
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image();

    cudaArray_t array = nullptr;
    cudaSurfaceObject_t surface = 0;
    cudaTextureObject_t texture = 0;
};

void fill(const Image& image, int side, const float (&color)[4], cudaStream_t stream);

/// Along rows from `image` to `between`, then along columns to `blurred`. `weights`: 17, on the device.
void blur(const Image& image, const Image& between, const Image& blurred, const float* weights, int side,
          cudaStream_t stream);

}  // namespace reference
