// The kernels written by hand: float4 loads, sums from registers to warp, block and one atomic a block.
#include "reference.h"

#include "reference_blocks.h"

namespace reference {
namespace {

constexpr int threads = 256;

__device__ float evaluate(float a, float b, float c, float x) { return a * x * x + b * x + c; }

__global__ void __launch_bounds__(threads)
    forward_kernel(float a, float b, float c, const float4* __restrict__ x, float4* __restrict__ y,
                   std::int64_t count) {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride) {
        const float4 v = x[i];
        y[i] = make_float4(evaluate(a, b, c, v.x), evaluate(a, b, c, v.y), evaluate(a, b, c, v.z),
                           evaluate(a, b, c, v.w));
    }
}

__device__ float sum_warp(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffff, value, offset);
    }
    return value;
}

__device__ void sum_block(float value, float* target) {
    __shared__ float partial[threads / 32];
    value = sum_warp(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = sum_warp(threadIdx.x < threads / 32 ? partial[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) atomicAdd(target, value);
    }
}

struct Sums {
    float a = 0;
    float b = 0;
    float c = 0;

    /// Returns x's gradient.
    __device__ float add(float va, float vb, float x, float flow) {
        a += flow * x * x;
        b += flow * x;
        c += flow;
        return flow * (2 * va * x + vb);
    }
};

template <bool with_x>
__global__ void __launch_bounds__(threads)
    backward_kernel(const float* a, const float* b, const float4* __restrict__ x,
                    const float4* __restrict__ flow, float* grad_a, float* grad_b, float* grad_c,
                    float4* __restrict__ grad_x, std::int64_t count) {
    const float va = *a;
    const float vb = *b;
    Sums sums;
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride) {
        const float4 v = x[i];
        const float4 f = flow[i];
        float4 sum = with_x ? grad_x[i] : float4{};
        sum.x += sums.add(va, vb, v.x, f.x);
        sum.y += sums.add(va, vb, v.y, f.y);
        sum.z += sums.add(va, vb, v.z, f.z);
        sum.w += sums.add(va, vb, v.w, f.w);
        if (with_x) grad_x[i] = sum;
    }
    sum_block(sums.a, grad_a);
    sum_block(sums.b, grad_b);
    sum_block(sums.c, grad_c);
}

/// As many as there is work for: measured to be quicker for a pass without sums than as many as run at once.
unsigned all_blocks(std::int64_t count) { return unsigned((count + threads - 1) / threads); }

}  // namespace

void forward(float a, float b, float c, const float* x, float* y, std::int64_t count, cudaStream_t stream) {
    forward_kernel<<<all_blocks(count / 4), threads, 0, stream>>>(a, b, c, reinterpret_cast<const float4*>(x),
                                                                  reinterpret_cast<float4*>(y), count / 4);
}

void backward(const float* a, const float* b, const float* x, const float* grad_y, float* grad_a,
              float* grad_b, float* grad_c, float* grad_x, std::int64_t count, cudaStream_t stream) {
    const auto kernel = grad_x != nullptr ? &backward_kernel<true> : &backward_kernel<false>;
    kernel<<<resident_blocks(reinterpret_cast<const void*>(kernel), threads, count / 4), threads, 0, stream>>>(
        a, b, reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(grad_y), grad_a, grad_b,
        grad_c, reinterpret_cast<float4*>(grad_x), count / 4);
}

}  // namespace reference
