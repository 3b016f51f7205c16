// The kernels written by hand: float4 loads, registers along what is shared, then the warp, the block and one
// atomic.
#include "reference_strategies.h"

#include "reference_blocks.h"

namespace reference {
namespace {

constexpr int threads = 256;

__device__ float sum_block(float value) {
    __shared__ float partial[threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < threads / 32; ++i) sum += partial[i];
    }
    return sum;
}

__device__ float dot4(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__device__ void add4(float4* target, float4 a, float4 b) {
    float4 sum = *target;
    sum.x += a.x * b.x;
    sum.y += a.y * b.y;
    sum.z += a.z * b.z;
    sum.w += a.w * b.w;
    *target = sum;
}

/// A block for each row.
__global__ void __launch_bounds__(threads)
    rows_kernel(const float4* __restrict__ x, const float* __restrict__ w, const float4* __restrict__ flow,
                float4* __restrict__ grad_x, float* grad_w, std::int64_t columns) {
    const std::int64_t row = blockIdx.x;
    const float scale = w[row];
    float sum = 0;
    for (std::int64_t i = threadIdx.x; i < columns; i += threads) {
        const std::int64_t at = row * columns + i;
        const float4 f = flow[at];
        sum += dot4(f, x[at]);
        add4(grad_x + at, f, make_float4(scale, scale, scale, scale));
    }
    sum = sum_block(sum);
    if (threadIdx.x == 0) atomicAdd(grad_w + row, sum);
}

constexpr int rows_each = 16;
constexpr int threads_along = 64;

/// Blocks of 4 by 64 threads: each thread goes down four columns.
__global__ void __launch_bounds__(threads)
    columns_kernel(const float4* __restrict__ x, const float4* __restrict__ w, const float4* __restrict__ flow,
                   float4* __restrict__ grad_x, float* grad_w, std::int64_t rows, std::int64_t columns) {
    const int along = threadIdx.x % threads_along;
    const std::int64_t column = std::int64_t(blockIdx.x) * threads_along + along;
    const std::int64_t first = (std::int64_t(blockIdx.y) * (threads / threads_along) + threadIdx.x / threads_along) * rows_each;
    float4 sum{};
    if (column < columns) {
        const float4 scale = w[column];
        const std::int64_t end = min(rows, first + rows_each);
        for (std::int64_t row = first; row < end; ++row) {
            const std::int64_t at = row * columns + column;
            const float4 f = flow[at];
            const float4 v = x[at];
            sum.x += f.x * v.x;
            sum.y += f.y * v.y;
            sum.z += f.z * v.z;
            sum.w += f.w * v.w;
            add4(grad_x + at, f, scale);
        }
    }
    __shared__ float4 partial[threads];
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= threads_along || column >= columns) return;
    for (int i = 1; i < threads / threads_along; ++i) {
        const float4 other = partial[threadIdx.x + i * threads_along];
        sum.x += other.x;
        sum.y += other.y;
        sum.z += other.z;
        sum.w += other.w;
    }
    atomicAdd(grad_w + 4 * column, sum.x);
    atomicAdd(grad_w + 4 * column + 1, sum.y);
    atomicAdd(grad_w + 4 * column + 2, sum.z);
    atomicAdd(grad_w + 4 * column + 3, sum.w);
}

__global__ void __launch_bounds__(threads)
    injective_kernel(const float4* __restrict__ x, const float4* __restrict__ w, const float4* __restrict__ flow,
                     float4* __restrict__ grad_x, float4* __restrict__ grad_w, std::int64_t count) {
    const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (i >= count) return;
    const float4 f = flow[i];
    const float4 v = x[i];
    const float4 s = w[i];
    add4(grad_x + i, f, s);
    add4(grad_w + i, f, v);
}

struct alignas(16) Halves {
    __half2 pairs[4];
};

/// The last block rounds the sums into the gradients and leaves sums and counter at 0 for the next call.
__global__ void __launch_bounds__(threads)
    halves_kernel(const __half* a, const __half* b, const Halves* __restrict__ x,
                  const Halves* __restrict__ flow, HalfSums* sums, __half* grad_a, __half* grad_b, __half* grad_c,
                  Halves* __restrict__ grad_x, std::int64_t count) {
    const float va = __half2float(*a);
    const float vb = __half2float(*b);
    float3 sum{};
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride) {
        const Halves xs = x[i];
        const Halves flows = flow[i];
        Halves grads = grad_x[i];
        for (int k = 0; k < 4; ++k) {
            const float2 v = __half22float2(xs.pairs[k]);
            const float2 f = __half22float2(flows.pairs[k]);
            float2 g = __half22float2(grads.pairs[k]);
            sum.x += f.x * v.x * v.x + f.y * v.y * v.y;
            sum.y += f.x * v.x + f.y * v.y;
            sum.z += f.x + f.y;
            g.x += f.x * (2 * va * v.x + vb);
            g.y += f.y * (2 * va * v.y + vb);
            grads.pairs[k] = __float22half2_rn(g);
        }
        grad_x[i] = grads;
    }
    const float values[] = {sum.x, sum.y, sum.z};
    for (int k = 0; k < 3; ++k) {
        const float total = sum_block(values[k]);
        if (threadIdx.x == 0) atomicAdd(sums->totals + k, total);
    }
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&sums->done, 1U) + 1 != gridDim.x) return;
    __half* const grads[] = {grad_a, grad_b, grad_c};
    for (int k = 0; k < 3; ++k) {
        *grads[k] = __float2half(__half2float(*grads[k]) + atomicExch(sums->totals + k, 0.0F));
    }
    sums->done = 0;
}

__global__ void __launch_bounds__(threads) rays_kernel(float t, const float* __restrict__ flow,
                                                       Ray* __restrict__ grad_rays, std::int64_t count) {
    const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (i >= count) return;
    const float f = flow[i];
    Ray sum = grad_rays[i];
    for (int k = 0; k < 3; ++k) {
        sum.origin[k] += f * float(k + 1);
        sum.direction[k] += f * float(k + 1) * t;
    }
    grad_rays[i] = sum;
}

__global__ void __launch_bounds__(threads)
    squares_kernel(const float4* __restrict__ x, float* total, std::int64_t count) {
    float sum = 0;
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < count; i += stride) {
        const float4 v = x[i];
        sum += dot4(v, v);
    }
    sum = sum_block(sum);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

__global__ void __launch_bounds__(threads)
    gather_kernel(const float* __restrict__ x, const float* __restrict__ flow, float* grad_weight,
                  std::int64_t count) {
    const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (i < count) atomicAdd(grad_weight, flow[i] * x[i]);
}

__global__ void __launch_bounds__(threads)
    lookup_kernel(const float* __restrict__ x, const std::int32_t* __restrict__ index,
                  const float* __restrict__ flow, float* grad_table, std::int64_t count) {
    const std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (i < count) atomicAdd(grad_table + index[i], flow[i] * x[i]);
}

unsigned blocks(std::int64_t count) { return unsigned((count + threads - 1) / threads); }

template <class T, class U>
T* as(U* pointer) {
    return reinterpret_cast<T*>(pointer);
}

}  // namespace

void backward_by_rows(const float* x, const float* w, const float* grad_y, float* grad_x, float* grad_w,
                      std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
    rows_kernel<<<unsigned(rows), threads, 0, stream>>>(as<const float4>(x), w, as<const float4>(grad_y),
                                                        as<float4>(grad_x), grad_w, columns / 4);
}

void backward_by_columns(const float* x, const float* w, const float* grad_y, float* grad_x, float* grad_w,
                         std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
    const std::int64_t wide = columns / 4;
    constexpr std::int64_t tall = rows_each * (threads / threads_along);
    const dim3 grid(unsigned((wide + threads_along - 1) / threads_along), unsigned((rows + tall - 1) / tall));
    columns_kernel<<<grid, threads, 0, stream>>>(as<const float4>(x), as<const float4>(w),
                                                 as<const float4>(grad_y), as<float4>(grad_x), grad_w, rows,
                                                 wide);
}

void backward_injective(const float* x, const float* w, const float* grad_y, float* grad_x, float* grad_w,
                        std::int64_t count, cudaStream_t stream) {
    injective_kernel<<<blocks(count / 4), threads, 0, stream>>>(as<const float4>(x), as<const float4>(w),
                                                                as<const float4>(grad_y), as<float4>(grad_x),
                                                                as<float4>(grad_w), count / 4);
}

void backward_of_halves(const __half* a, const __half* b, const __half* x, const __half* grad_y, HalfSums* sums,
                        __half* grad_a, __half* grad_b, __half* grad_c, __half* grad_x, std::int64_t count,
                        cudaStream_t stream) {
    halves_kernel<<<resident_blocks(reinterpret_cast<const void*>(halves_kernel), threads, count / 8), threads, 0, stream>>>(
        a, b, as<const Halves>(x), as<const Halves>(grad_y), sums, grad_a, grad_b, grad_c, as<Halves>(grad_x),
        count / 8);
}

void backward_of_rays(const Ray*, float t, const float* grad_y, Ray* grad_rays, std::int64_t count,
                      cudaStream_t stream) {
    rays_kernel<<<blocks(count), threads, 0, stream>>>(t, grad_y, grad_rays, count);
}

void sum_squares(const float* x, float* total, std::int64_t count, cudaStream_t stream) {
    cudaMemsetAsync(total, 0, sizeof(float), stream);
    const unsigned blocks = resident_blocks(reinterpret_cast<const void*>(squares_kernel), threads, count / 4);
    squares_kernel<<<blocks, threads, 0, stream>>>(as<const float4>(x), total, count / 4);
}

void gather_atomically(const float* x, const float* grad_y, float* grad_weight, std::int64_t count,
                       cudaStream_t stream) {
    gather_kernel<<<blocks(count), threads, 0, stream>>>(x, grad_y, grad_weight, count);
}

void look_up_atomically(const float* x, const std::int32_t* index, const float* grad_y, float* grad_table,
                        std::int64_t count, cudaStream_t stream) {
    lookup_kernel<<<blocks(count), threads, 0, stream>>>(x, index, grad_y, grad_table, count);
}

}  // namespace reference
