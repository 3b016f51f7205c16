// Traces rays that come as structs, one by one and in tensors, or field by field.
#include <iostream>

#include "print.h"
#include "raytrace_structs.h"

namespace {

using raytrace_structs::Ray;

std::string text(const kf::float3& value) {
    std::ostringstream stream;
    stream << '[' << value.x << ',' << value.y << ',' << value.z << ']';
    return stream.str();
}

std::string text(const kf::Tensor<kf::float3, 1>& vectors) { return to_string(vectors.view<float, 2>()); }

void trace(const raytrace_structs::Module& module, const kf::Tensor<Ray, 1>& rays, int dimensions) {
    const auto colors = module.raytrace(rays);
    module.raytrace.backward(rays, colors);
    std::cout << "array of structs, " << dimensions << "-D: " << text(colors) << '\n';
    // A ray's gradient is a ray: its position's stands first.
    const auto gradient = rays.grad().view<float, 2>();
    std::cout << "  gradients: " << to_string(gradient.slice(1, 0, 3)) << ' '
              << to_string(gradient.slice(1, 3, 6)) << '\n';
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const raytrace_structs::Module module(device);

    const Ray ray{{1, 1, 2}, {1, -1, 0.5F}};
    std::cout << "one ray: " << text(module.raytrace(ray)) << '\n';

    // One memory in three shapes: numbers, a row of six a ray, and two vectors a ray.
    const auto numbers =
        device.tensor<float>({1, 1, 2, 1, -1, 0.5F, 2, 3, 0, 1, -1, 0.5F, 0, 0, 4, 1, -1, 0.5F});
    trace(module, numbers.view<Ray, 1>().with_grads(), 1);
    trace(module, numbers.reshape({3, 6}).view<Ray, 1>().with_grads(), 2);
    trace(module, numbers.reshape({3, 2, 3}).view<Ray, 1>().with_grads(), 3);

    const auto vectors = numbers.view<kf::float3, 1>();
    const auto pos = vectors.slice(0, 0, 6, 2).with_grads();
    const auto dir = vectors.slice(0, 1, 6, 2).with_grads();
    const raytrace_structs::RayFields fields{pos, dir};
    const auto colors = module.raytrace(fields);
    module.raytrace.backward(fields, colors);
    std::cout << "structure of arrays: " << text(colors) << '\n';
    std::cout << "  gradients: " << text(pos.grad()) << ' ' << text(dir.grad()) << '\n';

    // The rays are parallel: one direction does for all, and its gradient is their sum.
    const auto start = pos.with_grads();
    kf::Diff<kf::float3> sun{{1, -1, 0.5F}, {}};
    const auto parallel = module.raytrace(raytrace_structs::RayFields{start, sun.value});
    module.raytrace.backward({start, sun}, parallel);
    std::cout << "mixed: " << text(parallel) << '\n';
    std::cout << "  gradients: " << text(start.grad()) << ' ' << text(sun.grad) << '\n';
}
