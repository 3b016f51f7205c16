// A renderer's scene as it was before there were kernels: nothing here knows of them.
#pragma once

#include <string>
#include <vector>

namespace app {

/// A vector like many projects have one.
class Vec3 {
public:
    constexpr Vec3() = default;
    constexpr Vec3(float x, float y, float z) : e_{x, y, z} {}
    constexpr float& operator[](int i) { return e_[i]; }
    constexpr float operator[](int i) const { return e_[i]; }

private:
    float e_[3]{};
};

struct Material {
    const int* texture = nullptr;  ///< of the editor's; no kernel knows of it
    Vec3 color;
    float shine = 0;
};

struct alignas(32) Sphere {
    Vec3 center;
    float radius = 1;
    Material material;
    bool is_visible = true;
};

struct Camera {
    double exposure_time = 0.01;
    Vec3 position;
    float focal_length = 1;
};

struct Scene {
    std::string name;
    Camera camera;
    std::vector<Sphere> spheres;
};

}  // namespace app
