// Kernels by hand, of test_device_headers.py. Operators of float3 like these are in most CUDA programs, and must
// not meet those of the header.
__host__ __device__ inline float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__host__ __device__ inline float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }
__device__ inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <class T>
__device__ T in(T value) { return value; }

#include "device_header.cuh"
#include "spheres.cuh"

using namespace device_header;

#define THREAD                                            \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= count) return

extern "C" __global__ void distances(const Ball* balls, const float3* points, float* result, Ball* ball_grads,
                                     float3* point_grads, int count) {
    THREAD;
    const float3 p = points[i] + 0.5f * points[i];
    result[i] = distance_to(balls[i], p);
    Ball ball_grad{};
    ball_grad.id = -1;
    float3 point_grad;
    distance_to_bwd(balls[i], p, ball_grad, point_grad, 2.0f);
    ball_grads[i] = ball_grad;
    point_grads[i] = point_grad + 0.5f * point_grad;
}

extern "C" __global__ void blends(const Scene* scene, const float3* points, float2* both, float* nearest, float* result,
                                  Scene* scene_grads, float3* point_grads, float2* both_grads, int count) {
    THREAD;
    const float2 before = both[i];
    result[i] = blend(scene[0], 0.25f, points[i], nearest[i], both[i]);
    Scene scene_grad{};
    float2 both_grad = make_float2(1.0f, -2.0f);
    blend_bwd(scene[0], 0.25f, points[i], before, scene_grad, point_grads[i], 3.0f, both_grad, 0.5f);
    scene_grads[i] = scene_grad;
    both_grads[i] = both_grad;
}

/// Forward derivatives, along tangents that are given: what they write, then its tangents.
extern "C" __global__ void forwards(const Scene* scene, const float3* points, const float2* both, const Scene* scene_tangents,
                                    const float3* point_tangents, const float2* both_tangents, float* values,
                                    float* tangents, int count) {
    THREAD;
    float nearest = 0, nearest_tangent = 0, result_tangent = 0;
    float2 after = both[i], after_tangent = both_tangents[i];
    const float result = blend_fwd(scene[0], 0.25f, points[i], nearest, after, scene_tangents[i], point_tangents[i],
                                   nearest_tangent, after_tangent, result_tangent);
    float distance_tangent = 0;
    const float distance = distance_to_fwd(scene->balls[0], points[i], scene_tangents[i].balls[0], point_tangents[i],
                                           distance_tangent);
    const float all[] = {nearest, after.x, after.y, result, distance};
    const float all_tangents[] = {nearest_tangent, after_tangent.x, after_tangent.y, result_tangent, distance_tangent};
    for (int k = 0; k < 5; ++k) {
        values[5 * i + k] = all[k];
        tangents[5 * i + k] = all_tangents[k];
    }
}

/// Halves: the value, its gradients, and its forward derivative along a tangent.
extern "C" __global__ void tints(const Tint* tints, const __half2* places, const __half* both, __half* results, Tint* grads,
                                 __half2* place_grads, const Tint* tangents, __half* along, int count) {
    THREAD;
    half3 after{both[3 * i], both[3 * i + 1], both[3 * i + 2]};
    const half3 before = after;
    results[4 * i] = tinted(tints[i], places[i], after);
    results[4 * i + 1] = after.x;
    results[4 * i + 2] = after.y;
    results[4 * i + 3] = after.z;
    half3 both_grad{__half(1), __half(0), __half(-2)};
    Tint grad = grads[i];
    tinted_bwd(tints[i], places[i], before, grad, place_grads[i], both_grad, __half(0.5f));
    grads[i] = grad;
    half3 both_tangent{__half(0), __half(1), __half(0)};
    __half2 place_tangent = __half2(__half(0.25f), __half(0));
    half3 written = before;
    __half result_tangent;
    (void)tinted_fwd(tints[i], places[i], written, tangents[i], place_tangent, both_tangent, result_tangent);
    along[4 * i] = result_tangent;
    along[4 * i + 1] = both_tangent.x;
    along[4 * i + 2] = both_tangent.y;
    along[4 * i + 3] = both_tangent.z;
}

extern "C" __global__ void squares(const __half* values, __half* result, int count) {
    THREAD;
    const half2x2 m{{{values[8 * i], values[8 * i + 1]}, {values[8 * i + 2], values[8 * i + 3]}}};
    const half4 v{values[8 * i + 4], values[8 * i + 5], values[8 * i + 6], values[8 * i + 7]};
    __half two[] = {values[0], __half(0.5f)};
    const half2x2 made = squared(m, v, two);
    for (int k = 0; k < 4; ++k) result[4 * i + k] = k % 2 == 0 ? made[k / 2].x : made[k / 2].y;
}

extern "C" __global__ void many_halves(const __half* x, __half* result, int count) {
    THREAD;
    result[i] = of_half(x[i]);
}

/// The parts of a Wide, one after another.
extern "C" __global__ void widened_parts(double* parts, int count) {
    THREAD;
    Wide w{{1, 2, 3, 4}, {true, false, true}, 1ll << 40, 0, 10, -7, {{1, 2}, {3, 4}}};
    w = widened(w, 3, make_double3(0.5, 0.25, i));
    const double all[] = {w.d.x, w.d.y, w.d.z, w.d.w, double(w.b.x), double(w.b.y), double(w.b.z), double(w.n),
                          double(w.mode), double(w.small), double(w.c), double(w.m[0].x), double(w.m[0].y),
                          double(w.m[1].x), double(w.m[1].y)};
    for (int k = 0; k < 15; ++k) parts[15 * i + k] = all[k];
}

extern "C" __global__ void products(const float* a, const float* b, float* result, int count) {
    THREAD;
    float3x3 left, right;
    for (int row = 0; row < 3; ++row) {
        left[row] = {a[9 * i + 3 * row], a[9 * i + 3 * row + 1], a[9 * i + 3 * row + 2]};
        right[row] = {b[9 * i + 3 * row], b[9 * i + 3 * row + 1], b[9 * i + 3 * row + 2]};
    }
    const float3x3 made = product(left, right);
    for (int row = 0; row < 3; ++row) {
        result[9 * i + 3 * row] = made[row].x;
        result[9 * i + 3 * row + 1] = made[row].y;
        result[9 * i + 3 * row + 2] = made[row].z;
    }
}

extern "C" __global__ void totals(float* values, float* result, int count) {
    THREAD;
    result[i] = total(values, i);
}

extern "C" __global__ void many(const float* x, float* result, int count) {
    THREAD;
    result[i] = of_many(x[i]);
}

extern "C" __global__ void advances(const Mixed* old, Mixed* next, int count) {
    THREAD;
    advance(Buffer<const Mixed>{old, size_t(count)}, {next, size_t(count)}, i);
}

extern "C" __global__ void words(const unsigned int* from, unsigned int* to, int count) {
    THREAD;
    moved_words({from, size_t(4 * count)}, {to, size_t(4 * count)}, i);
}

extern "C" __global__ void pointers(float3* points, Mixed* all, const float4* weights, float3* before, int count) {
    THREAD;
    before[i] = through(points, all, weights, i);
}

extern "C" __global__ void counts(float* sums, int* counts, const float* x, int* before, int count) {
    THREAD;
    before[i] = counted(sums, counts, x[i]);
}

/// Rows that are padded, of three vectors; gradients of all threads go to the same row of every third.
extern "C" __global__ void harmonics(const float3* data, float3* grad, const float3* tangents, const float3* dirs,
                                     float3* result, float3* dir_grads, float3* along, int count) {
    THREAD;
    DiffTensor<const float3, 2> sh{data, {unsigned(count), 3}, {4 * sizeof(float3), sizeof(float3)}, grad};
    result[i] = eval_sh(sh, dirs[i], i % 3);
    eval_sh_bwd(sh, dirs[i], i % 3, dir_grads[i], make_float3(1, 2, 3));
    sh.grad = const_cast<float3*>(tangents);
    float3 tangent;
    (void)eval_sh_fwd(sh, dirs[i], i % 3, make_float3(0.5f, 0, 0), tangent);
    along[i] = tangent;
}

extern "C" __global__ void views(float* data, float* grad, float3* weights, float* result, int count) {
    THREAD;
    // A column after the other.
    const DiffTensor<float, 2> x{data, {unsigned(count), 2}, {4, 4 * count}, grad};
    const Tensor<float3, 1> of{weights, {unsigned(count)}, {12}};
    result[i] = viewed(x, of, i);
    viewed_bwd(x, of, i, 2.0f);
    viewed_bwd({data, {unsigned(count), 2}, {4, 4 * count}, nullptr}, of, i, 2.0f);  // nobody wants it
}

extern "C" __global__ void stores(const float* x, float* y, float* z, float* x_grad, float* y_grad, float* z_grad_in,
                                  float* z_grad_out, int count) {
    THREAD;
    const DiffTensor<const float, 1> given{x, {unsigned(count)}, {4}, x_grad};
    stored_bwd(given, {y, {unsigned(count)}, {4}, y_grad}, {z, {unsigned(count)}, {4}, z_grad_in, z_grad_out}, i);
    stored(given, {y, {unsigned(count)}, {4}, nullptr}, {z, {unsigned(count)}, {4}, nullptr, nullptr}, i);
}

extern "C" __global__ void spreads(const __half* x, float* rows, float2* sums, int count) {
    THREAD;
    spread({x, {unsigned(count), 3}, {6, 2}}, {rows, {unsigned(count)}, {4}}, {sums, {3}, {8}}, i);
}

extern "C" __global__ void arrays(const float* x, float* result, float* grads, float* tangents, int count) {
    THREAD;
    const Array<float2, 2> made = powers(x[i]);
    result[4 * i] = made[0].x, result[4 * i + 1] = made[0].y, result[4 * i + 2] = made[1].x, result[4 * i + 3] = made[1].y;
    const float2 flow[] = {make_float2(1, 2), make_float2(3, 4)};
    powers_bwd(x[i], grads[i], flow);
    float2 along[2];
    (void)powers_fwd(x[i], 0.5f, along);
    tangents[2 * i] = along[1].x, tangents[2 * i + 1] = along[1].y;
}

/// Functions of another header, whose names are the first one's.
extern "C" __global__ void others(const float* radii, float* result, int count) {
    THREAD;
    const spheres::Sphere sphere{make_float3(0, 3, 0), radii[i]};
    result[i] = spheres::distance_to(sphere, make_float3(4, 0, 0));
}
