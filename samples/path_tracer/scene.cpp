// Makes scenes; scene.py makes the same.
#include "scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numbers>

namespace scenes {

namespace {

using kf::float3;
using Quad = std::array<float3, 4>;

float3 operator+(const float3& a, const float3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
float3 operator-(const float3& a, const float3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
float3 operator*(const float3& a, float k) { return {a.x * k, a.y * k, a.z * k}; }
float3 cross(const float3& a, const float3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
float3 normalized(const float3& a) { return a * (1 / std::hypot(a.x, a.y, a.z)); }

enum Surface : std::uint32_t { floor_light, floor_dark, lamp, gold, clay, mirror, crystal };

const std::array<Material, 7> all_materials{{
    {.color = {0.75F, 0.73F, 0.7F}, .kind = diffuse},
    {.color = {0.2F, 0.24F, 0.3F}, .kind = diffuse},
    {.color = {0, 0, 0}, .kind = diffuse, .emission = {14, 12.5F, 10}},
    {.color = {1, 0.71F, 0.29F}, .kind = metal, .parameter = 0.15F},
    {.color = {0.75F, 0.2F, 0.12F}, .kind = diffuse},
    {.color = {0.92F, 0.94F, 0.96F}, .kind = metal},
    {.color = {0.98F, 1, 0.99F}, .kind = glass, .parameter = 1.5F},
}};

void add_quad(std::vector<Triangle>& triangles, const Quad& corners, std::uint32_t material) {
    for (const std::size_t second : {std::size_t{1}, std::size_t{2}})
        triangles.push_back({.corner = corners[0],
                             .edge1 = corners[second] - corners[0],
                             .edge2 = corners[second + 1] - corners[0],
                             .material = material});
}

/// A chessboard at height 0, 8 wide.
void add_floor(std::vector<Triangle>& triangles, int tiles) {
    const float step = 8.0F / static_cast<float>(tiles);
    const auto place = [&](int x, int z) {
        return float3{step * static_cast<float>(x) - 4, 0, step * static_cast<float>(z) - 4};
    };
    for (int z = 0; z < tiles; ++z)
        for (int x = 0; x < tiles; ++x)
            add_quad(triangles, {place(x, z), place(x, z + 1), place(x + 1, z + 1), place(x + 1, z)},
                     (x + z) % 2 == 0 ? floor_light : floor_dark);
}

/// A ring that stands on the floor, turned about the vertical.
void add_torus(std::vector<Triangle>& triangles) {
    constexpr int around = 40;
    constexpr int across = 20;
    const auto place = [&](int i, int j) {
        const double u = 2 * std::numbers::pi * i / around;
        const double v = 2 * std::numbers::pi * j / across;
        const double radius = 0.8 + 0.27 * std::cos(v);
        const double x = radius * std::cos(u);
        const double z = 0.27 * std::sin(v);
        return float3{static_cast<float>(0.8 * x - 0.6 * z - 0.7),
                      static_cast<float>(radius * std::sin(u) + 1.07),
                      static_cast<float>(0.6 * x + 0.8 * z - 1.1)};
    };
    for (int i = 0; i < around; ++i)
        for (int j = 0; j < across; ++j)
            add_quad(triangles, {place(i, j), place(i + 1, j), place(i + 1, j + 1), place(i, j + 1)}, gold);
}

/// Splits the triangles into halves, and these again, along the longest side of what their middles fill.
class TreeOfBoxes {
public:
    explicit TreeOfBoxes(std::vector<Triangle> triangles) : triangles_(std::move(triangles)) {
        add(0, triangles_.size());
    }

    void put_into(Scene& scene) {
        scene.nodes = std::move(nodes_);
        scene.triangles = std::move(triangles_);
    }

private:
    static constexpr std::size_t leaf = 4;  ///< triangles at most

    struct Box {
        float3 low{HUGE_VALF, HUGE_VALF, HUGE_VALF};
        float3 high{-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};

        void take(const float3& point) {
            for (std::size_t k = 0; k < 3; ++k) {
                low[k] = std::min(low[k], point[k]);
                high[k] = std::max(high[k], point[k]);
            }
        }
    };

    static Box box_of(const Triangle& triangle) {
        Box box;
        for (const float3& edge : {float3{}, triangle.edge1, triangle.edge2})
            box.take(triangle.corner + edge);
        return box;
    }

    /// Twice as far from the origin, which is all the same for their order.
    static float3 middle_of(const Triangle& triangle) {
        const Box box = box_of(triangle);
        return box.low + box.high;
    }

    void add(std::size_t first, std::size_t count) {
        Box box;
        Box middles;
        for (std::size_t i = first; i < first + count; ++i) {
            const Box one = box_of(triangles_[i]);
            box.take(one.low);
            box.take(one.high);
            middles.take(middle_of(triangles_[i]));
        }
        const std::size_t index = nodes_.size();
        nodes_.push_back({box.low, static_cast<std::uint32_t>(first), box.high, 0});
        if (count <= leaf) {
            nodes_[index].count = static_cast<std::uint32_t>(count);
            return;
        }
        const float3 sides = middles.high - middles.low;
        const std::size_t along = sides.x >= std::max(sides.y, sides.z) ? 0 : sides.y >= sides.z ? 1 : 2;
        const auto begin = std::next(triangles_.begin(), static_cast<std::ptrdiff_t>(first));
        std::sort(begin, std::next(begin, static_cast<std::ptrdiff_t>(count)),
                  [along](const Triangle& a, const Triangle& b) {
                      return middle_of(a)[along] < middle_of(b)[along];
                  });
        add(first, count / 2);
        nodes_[index].first = static_cast<std::uint32_t>(nodes_.size());
        add(first + count / 2, count - count / 2);
    }

    std::vector<Triangle> triangles_;
    std::vector<Node> nodes_;
};

void add_lamp(std::vector<Triangle>& triangles, Light& light) {
    light = {.corner = {-1, 5, -1}, .edge1 = {2, 0, 0}, .edge2 = {0, 0, 2}};
    const float3 beside = light.corner + light.edge1;
    add_quad(triangles, {light.corner, beside, beside + light.edge2, light.corner + light.edge2}, lamp);
}

}  // namespace

Scene make_scene() {
    Scene scene;
    scene.sky = {0.5F, 0.62F, 0.8F};
    scene.ground = {0.3F, 0.27F, 0.25F};
    scene.materials.assign(all_materials.begin(), all_materials.end());
    scene.spheres = {{.center = {1.25F, 1, -0.9F}, .radius = 1, .material = mirror},
                     {.center = {-1.3F, 0.75F, 0.75F}, .radius = 0.75F, .material = crystal},
                     {.center = {0.75F, 0.5F, 1.15F}, .radius = 0.5F, .material = clay}};
    std::vector<Triangle> triangles;
    add_floor(triangles, 8);
    add_torus(triangles);
    add_lamp(triangles, scene.light);
    scene.light.emission = all_materials[lamp].emission;
    TreeOfBoxes(std::move(triangles)).put_into(scene);
    return scene;
}

Scene make_lamp_and_floor(float color, float emission) {
    Scene scene;
    scene.materials.assign(all_materials.begin(), all_materials.end());
    scene.materials[floor_light].color = {color, color, color};
    scene.materials[lamp].emission = {emission, emission, emission};
    scene.spheres = {{.center = {0, -100, 0}, .radius = 1}};
    std::vector<Triangle> triangles;
    add_floor(triangles, 1);
    add_lamp(triangles, scene.light);
    scene.light.emission = scene.materials[lamp].emission;
    TreeOfBoxes(std::move(triangles)).put_into(scene);
    return scene;
}

Scene make_ball(const Material& material) {
    Scene scene;
    scene.sky = scene.ground = {1, 1, 1};
    scene.materials = {material};
    scene.spheres = {{.center = {0, 0, 0}, .radius = 1, .material = 0}};
    // A triangle that is no larger than a point: rays meet none, but there must be a tree.
    TreeOfBoxes({Triangle{.corner = {0, -100, 0}}}).put_into(scene);
    return scene;
}

Camera make_camera(const float3& position, const float3& target, double angle, const kf::uint2& size) {
    const float3 forward = normalized(target - position);
    // Someone who looks straight down has the north, -z, above.
    const float3 above = std::abs(forward.y) > 0.999F ? float3{0, 0, -1} : float3{0, 1, 0};
    const float3 right = normalized(cross(forward, above));
    const auto half = static_cast<float>(std::tan(angle * std::numbers::pi / 360));
    const float aspect = static_cast<float>(size.x) / static_cast<float>(size.y);
    return {.position = position,
            .forward = forward,
            .right = right * (half * aspect),
            .up = cross(right, forward) * half,
            .size = size};
}

Camera orbit(double turn, const kf::uint2& size) {
    const double angle = 2 * std::numbers::pi * turn;
    const float3 position{static_cast<float>(7 * std::sin(angle)), 3,
                          static_cast<float>(7 * std::cos(angle))};
    return make_camera(position, {0, 0.8F, 0}, 38, size);
}

path_tracer::Globals globals_of(const kf::Device& device, const Scene& scene, const Camera& camera) {
    path_tracer::Globals globals;
    globals.g_scene_camera = camera;
    globals.g_scene_light = scene.light;
    globals.g_scene_sky = scene.sky;
    globals.g_scene_ground = scene.ground;
    globals.g_scene_sphere_count = static_cast<std::uint32_t>(scene.spheres.size());
    globals.g_scene_spheres = kf::Buffer<Sphere>(device, scene.spheres);
    globals.g_scene_triangles = kf::Buffer<Triangle>(device, scene.triangles);
    globals.g_scene_nodes = kf::Buffer<Node>(device, scene.nodes);
    globals.g_scene_materials = kf::Buffer<Material>(device, scene.materials);
    return globals;
}

}  // namespace scenes
