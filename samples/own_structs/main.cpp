// Renders a project's own scene, whose structs kernels read and write as they are.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "own_structs.h"
#include "scene.h"

namespace {

app::Scene make_scene() {
    app::Scene scene{"two spheres", {}, {}};
    scene.camera.position = {0, 0, -4};
    scene.camera.focal_length = 2;
    scene.spheres.push_back({{-0.5F, 0.25F, 0}, 1, {nullptr, {0.25F, 0.5F, 1}, 0}});
    scene.spheres.push_back({{0.75F, 0, -1}, 0.5F, {nullptr, {1, 0.75F, 0.5F}, 0.5F}});
    scene.spheres.push_back({{0, 0, -2}, 1, {}, false});
    return scene;
}

/// From -1 to 1, or back.
std::vector<float> steps(std::size_t count, float first) {
    std::vector<float> all(count);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = first - 2 * first * (static_cast<float>(i) + 0.5F) / static_cast<float>(count);
    return all;
}

void print(const kf::Tensor<float, 2>& picture) {
    const std::string shades = " .:-=+*#%@";
    const std::vector<float> values = picture.to_vector();
    const auto columns = static_cast<std::size_t>(picture.shape()[1]);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float shade = std::clamp(values[i], 0.F, 0.999F) * static_cast<float>(shades.size());
        std::cout << shades[static_cast<std::size_t>(shade)];
        if ((i + 1) % columns == 0) std::cout << '\n';
    }
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const own_structs::Module module(device);
    const app::Scene scene = make_scene();

    const kf::Tensor<app::Sphere, 1> spheres = device.tensor<app::Sphere>(scene.spheres);
    const auto x = device.tensor<float>(steps(40, -1));
    const auto y = device.tensor<float>(steps(20, 1));
    print(module.shade(scene.camera, spheres, x, y));

    module.fall(spheres, 0.25F);
    for (const app::Sphere& sphere : spheres.to_vector())
        std::cout << "y " << sphere.center[1] << ", radius " << sphere.radius << '\n';
    return 0;
}
