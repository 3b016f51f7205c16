// What our kernels are compared with: CUDA kernels written by hand, compiled by nvcc. Device pointers all.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace reference {

/// y = a x² + b x + c. `count` is a multiple of 4 and the pointers are aligned to 16 bytes.
void forward(float a, float b, float c, const float* x, float* y, std::int64_t count, cudaStream_t stream);

/// Adds the gradients of a, b, c (one float each) and, unless grad_x is null, of x.
void backward(const float* a, const float* b, const float* x, const float* grad_y, float* grad_a,
              float* grad_b, float* grad_c, float* grad_x, std::int64_t count, cudaStream_t stream);

}  // namespace reference
