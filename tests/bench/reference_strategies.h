// The kernels written by hand for gradients that calls share in other ways. Device pointers all.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace reference {

/// y = x w over rows of `columns` numbers (a multiple of 4, pointers aligned to 16 bytes); w has one for each
/// row, or one for each column, or one for each of both. Adds to grad_x and grad_w.
void backward_by_rows(const float* x, const float* w, const float* grad_y, float* grad_x, float* grad_w,
                      std::int64_t rows, std::int64_t columns, cudaStream_t stream);
void backward_by_columns(const float* x, const float* w, const float* grad_y, float* grad_x, float* grad_w,
                         std::int64_t rows, std::int64_t columns, cudaStream_t stream);
void backward_injective(const float* x, const float* w, const float* grad_y, float* grad_x, float* grad_w,
                        std::int64_t count, cudaStream_t stream);

/// What the blocks of a call add up in; zeros before it and after it.
struct HalfSums {
    float totals[3];
    unsigned done;
};

/// The polynomial in half, its sums in float and rounded once. `count` is a multiple of 8.
void backward_of_halves(const __half* a, const __half* b, const __half* x, const __half* grad_y,
                        HalfSums* sums, __half* grad_a, __half* grad_b, __half* grad_c, __half* grad_x,
                        std::int64_t count, cudaStream_t stream);

struct Ray {
    float origin[3];
    float direction[3];
};

/// y = dot(origin + direction t, (1, 2, 3)).
void backward_of_rays(const Ray* rays, float t, const float* grad_y, Ray* grad_rays, std::int64_t count,
                      cudaStream_t stream);

/// The sum of squares, to a total that it sets to 0 first. `count` is a multiple of 4.
void sum_squares(const float* x, float* total, std::int64_t count, cudaStream_t stream);

/// y = weight x: one atomic addition for each number.
void gather_atomically(const float* x, const float* grad_y, float* grad_weight, std::int64_t count,
                       cudaStream_t stream);

/// y = table[index] x: one atomic addition for each number.
void look_up_atomically(const float* x, const std::int32_t* index, const float* grad_y, float* grad_table,
                        std::int64_t count, cudaStream_t stream);

}  // namespace reference
