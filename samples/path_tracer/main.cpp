// Traces paths through a scene, by a kernel that was written without kernelfunctions and by a function that
// is called for pixels; a hook moves its camera. usage: path_tracer_demo [WIDTH HEIGHT FRAMES], which then
// says how many paths it traces in a second, too.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "path_tracer.h"
#include "png.h"
#include "scene.h"

namespace {

using namespace scenes;

using Texture = kf::RWTexture2D<kf::float4>;
using Pixels = std::vector<kf::float4>;

constexpr double paths_a_pixel = 4;

void say(const char* what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

class Renderer {
public:
    Renderer(const kf::Device& device, const path_tracer::Module& module, const Scene& scene,
             const Camera& camera)
        : device_(device),
          module_(module),
          size_(camera.size),
          globals_(globals_of(device, scene, camera)),
          frame_(make_texture()) {}

    /// The mean of frames that `trace(frame)` puts into frame(); and how many paths were traced in a second.
    template <class Trace>
    Texture mean(std::uint32_t frames, double& paths_a_second, Trace&& trace) const {
        trace(0);  // A driver may compile at the first call.
        device_.wait();
        Texture mean = make_texture();
        const auto start = std::chrono::steady_clock::now();
        for (std::uint32_t frame = 0; frame < frames; ++frame) {
            trace(frame);
            module_.accumulate(frame, frame_, mean);
        }
        device_.wait();
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        paths_a_second = frames * paths_a_pixel * size_.x * size_.y / time.count();
        return mean;
    }

    Texture by_kernel(std::uint32_t frames, double& paths_a_second) const {
        return mean(frames, paths_a_second, [&](std::uint32_t frame) {
            path_tracer::Globals globals = globals_;
            globals.g_output = frame_;
            globals.g_frame = frame;
            module_.main.set(globals).threads(size_.x, size_.y)();
        });
    }

    Texture by_function(std::uint32_t frames, double& paths_a_second) const {
        const auto raytrace = module_.raytrace.set(globals_);
        return mean(frames, paths_a_second,
                    [&](std::uint32_t frame) { raytrace(frame, pixels(), kf::out(frame_)); });
    }

    Pixels by_function(std::uint32_t frames) const {
        double paths_a_second = 0;
        return by_function(frames, paths_a_second).to_vector();
    }

    [[nodiscard]] const path_tracer::Globals& globals() const { return globals_; }
    [[nodiscard]] kf::Grid<2> pixels() const { return {{size_.y, size_.x}}; }

    /// Bytes as a screen takes them, red, green, blue and alpha.
    std::vector<std::uint8_t> developed(const Texture& color) const {
        const Texture shown = make_texture(kf::TextureFormat::rgba8);
        module_.develop(color, 1.0F, kf::out(shown));
        std::vector<std::uint8_t> bytes;
        for (const kf::uint8_t4& pixel : shown.to_vector<kf::uint8_t4>())
            bytes.insert(bytes.end(), {pixel.x, pixel.y, pixel.z, pixel.w});
        return bytes;
    }

    [[nodiscard]] Texture make_texture(kf::TextureFormat format = kf::TextureFormat::rgba32f) const {
        return Texture::empty(device_, {size_.y, size_.x}, {.format = format});
    }

private:
    const kf::Device& device_;
    const path_tracer::Module& module_;
    kf::uint2 size_;
    path_tracer::Globals globals_;
    Texture frame_;
};

using Vector = std::array<double, 3>;

Vector wide(const kf::float3& a) { return {a.x, a.y, a.z}; }
Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector operator*(const Vector& a, double k) { return {a[0] * k, a[1] * k, a[2] * k}; }
Vector operator-(const Vector& a, const Vector& b) { return a + b * -1; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross_product(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

constexpr double far_away = 1e30;

/// How far a ray gets in the scene, looked for without the tree.
double plain_depth(const Scene& scene, const Vector& origin, const Vector& direction) {
    double nearest = far_away;
    for (const Sphere& sphere : scene.spheres) {
        const Vector way = origin - wide(sphere.center);
        const double half_b = dot(way, direction);
        const double root = half_b * half_b - dot(way, way) + sphere.radius * sphere.radius;
        if (root >= 0) nearest = std::min(nearest, -half_b - std::sqrt(root));
    }
    for (const Triangle& triangle : scene.triangles) {
        const Vector across = cross_product(direction, wide(triangle.edge2));
        const double inverse = 1 / dot(wide(triangle.edge1), across);
        const Vector way = origin - wide(triangle.corner);
        const double u = dot(way, across) * inverse;
        const Vector other = cross_product(way, wide(triangle.edge1));
        const double v = dot(direction, other) * inverse;
        if (u >= 0 && v >= 0 && u + v <= 1)
            nearest = std::min(nearest, dot(wide(triangle.edge2), other) * inverse);
    }
    return nearest;
}

void check_depths(const kf::Device& device, const path_tracer::Module& module) {
    const Scene scene = make_scene();
    const Camera camera = orbit(0.04, {40, 30});
    const Renderer renderer(device, module, scene, camera);
    const std::vector<float> depths = module.depth.set(renderer.globals())(renderer.pixels()).to_vector();
    int different = 0;
    for (std::size_t i = 0; i < depths.size(); ++i) {
        const auto [row, column] = std::div(static_cast<int>(i), 40);
        const double x = (column + 0.5) / 20 - 1;
        const double y = 1 - (row + 0.5) / 15;
        const Vector way = wide(camera.forward) + wide(camera.right) * x + wide(camera.up) * y;
        const double depth = plain_depth(scene, wide(camera.position), way * (1 / std::sqrt(dot(way, way))));
        different += std::abs(depths[i] - depth) > 1e-3 * depth ? 1 : 0;
    }
    // Rays that meet an edge may pass it.
    say("rays meet what they meet without the tree", different <= 2);
}

double mean_of(const Pixels& pixels) {
    double sum = 0;
    for (const kf::float4& pixel : pixels) sum += pixel.x;
    return sum / static_cast<double>(pixels.size());
}

/// What takes no light away can't be seen under a sky that is white everywhere.
void check_balls(const kf::Device& device, const path_tracer::Module& module) {
    const Camera camera = make_camera({0, 0, 4}, {0, 0, 0}, 35, {24, 24});
    bool white = true;
    for (const MaterialKind kind : {diffuse, metal, glass}) {
        const Material material{.color = {1, 1, 1}, .kind = kind, .parameter = kind == glass ? 1.5F : 0.0F};
        const Renderer renderer(device, module, make_ball(material), camera);
        white = white && std::abs(mean_of(renderer.by_function(1)) - 1) < 1e-3;
    }
    say("white balls can't be seen under a white sky", white);
}

/// The lamp's light on the floor below it is an integral over the lamp.
void check_lamp(const kf::Device& device, const path_tracer::Module& module) {
    constexpr float color = 0.5F;
    constexpr float emission = 10;
    const Camera camera = make_camera({0, 4, 0}, {0, 0, 0}, 2, {16, 16});
    const Renderer renderer(device, module, make_lamp_and_floor(color, emission), camera);
    constexpr int steps = 100;
    double light = 0;
    for (int i = 0; i < steps; ++i)
        for (int j = 0; j < steps; ++j) {
            const double x = (i + 0.5) * 2 / steps - 1;
            const double z = (j + 0.5) * 2 / steps - 1;
            light += emission * 25 / std::pow(x * x + z * z + 25, 2) * 4 / (steps * steps);
        }
    const double expected = light * color / std::numbers::pi;
    say("the lamp's light on the floor", std::abs(mean_of(renderer.by_function(4)) / expected - 1) < 0.01);
}

/// A hook moves the camera before each frame. The frames lie beside each other.
void turn_camera(const kf::Device& device, const path_tracer::Module& module) {
    constexpr int frames = 4;
    const kf::uint2 size{80, 60};
    const Renderer renderer(device, module, make_scene(), orbit(0, size));
    double turn = 0;
    const auto raytrace = module.raytrace.set(renderer.globals()).hook([&](auto& context) {
        path_tracer::Globals moved;
        moved.g_scene_camera = orbit(turn, size);
        context.set(moved);
        turn += 1.0 / frames;
    });
    const Texture color = renderer.make_texture();
    std::vector<std::uint8_t> strip(static_cast<std::size_t>(4) * frames * size.x * size.y);
    bool right = true;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        raytrace(7, renderer.pixels(), kf::out(color));
        const std::vector<std::uint8_t> shown = renderer.developed(color);
        const std::size_t row = std::size_t{4} * size.x;
        for (std::size_t y = 0; y < size.y; ++y)
            std::copy_n(shown.begin() + static_cast<std::ptrdiff_t>(y * row), row,
                        strip.begin() + static_cast<std::ptrdiff_t>((y * frames + frame) * row));
        // The same as where the camera was set before.
        path_tracer::Globals there = renderer.globals();
        there.g_scene_camera = orbit(static_cast<double>(frame) / frames, size);
        const Texture other = renderer.make_texture();
        module.raytrace.set(there)(7, renderer.pixels(), kf::out(other));
        right = right && color.to_vector() == other.to_vector();
    }
    say("a hook moves the camera", right);
    save_png("path_tracer_orbit.png", frames * static_cast<int>(size.x), static_cast<int>(size.y), 4, strip);
}

}  // namespace

int main(int argc, char** argv) {
    const bool is_timed = argc == 4;
    const kf::uint2 size{is_timed ? static_cast<std::uint32_t>(std::stoul(argv[1])) : 160,
                         is_timed ? static_cast<std::uint32_t>(std::stoul(argv[2])) : 120};
    const std::uint32_t frames = is_timed ? static_cast<std::uint32_t>(std::stoul(argv[3])) : 4;
    const kf::Device device = kf::Device::open();
    const path_tracer::Module module(device);

    const Renderer renderer(device, module, make_scene(), orbit(0.04, size));
    std::array<double, 2> speeds{};
    const Texture by_kernel = renderer.by_kernel(frames, speeds[0]);
    const Texture by_function = renderer.by_function(frames, speeds[1]);
    say("the same picture by the kernel and by the function",
        by_kernel.to_vector() == by_function.to_vector());
    save_png("path_tracer.png", static_cast<int>(size.x), static_cast<int>(size.y), 4,
             renderer.developed(by_function));
    if (is_timed) {
        std::cout << "million paths a second: " << speeds[0] / 1e6 << " by the kernel, " << speeds[1] / 1e6
                  << " by the function\n";
    }

    check_depths(device, module);
    check_balls(device, module);
    check_lamp(device, module);
    turn_camera(device, module);
}
