// Fits the colors of materials, of a lamp and of a floor's texture to a picture, by gradients through a path
// tracer. differentiable_rendering_start.png, _target.png and _fitted.png show the pictures, _loss.png how
// the error fell.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "differentiable_rendering.h"
#include "png.h"

namespace {

namespace dr = differentiable_rendering;

using kf::float3;
using Colors = dr::ColorsFields<kf::Tensor<float3, 1>, kf::Tensor<float3, 2>>;
using Scene = dr::SceneFields<dr::Camera, dr::Light, float3, float3, std::uint32_t, kf::Buffer<dr::Sphere>,
                              kf::Buffer<dr::Triangle>, kf::Buffer<dr::Node>, kf::Buffer<dr::Material>>;

constexpr int width = 72;
constexpr int height = 54;
constexpr int side = 16;  // the floor's texture
constexpr int steps = 80;
constexpr float rate = 0.08F;
constexpr std::uint32_t paths = 4;  // a pixel, for a step
// And for pictures that are kept; llvmpipe ends threads whose loops take many more.
constexpr std::uint32_t fine_paths = 32;

enum Kind : std::uint32_t { diffuse, metal };
enum Surface : std::uint32_t { ground_floor, lamp, clay, gold, blue, material_count };

/// A picture's pixels, and the scene as it is seen in it.
struct Seen {
    kf::Grid<2> pixels;
    Scene scene;
};

Seen seen(const kf::Device& device, int zoom) {
    const std::vector<dr::Sphere> spheres{
        {{-1.3F, 1, -0.3F}, 1, clay}, {{1, 0.9F, -0.8F}, 0.9F, gold}, {{0.3F, 0.5F, 1.2F}, 0.5F, blue}};
    const std::vector<dr::Triangle> triangles{{{-4, 0, -4}, {0, 0, 8}, {8, 0, 8}, ground_floor},
                                              {{-4, 0, -4}, {8, 0, 8}, {8, 0, 0}, ground_floor},
                                              {{-1.5F, 5, -1.5F}, {3, 0, 0}, {3, 0, 3}, lamp},
                                              {{-1.5F, 5, -1.5F}, {3, 0, 3}, {0, 0, 3}, lamp}};
    // The tree is a leaf with all of them.
    const std::vector<dr::Node> nodes{{{-4, 0, -4}, 0, {4, 5, 4}, 4}};
    std::vector<dr::Material> materials(material_count);
    materials[gold] = {.kind = metal, .parameter = 0.1F};
    const kf::uint2 size{static_cast<std::uint32_t>(width * zoom), static_cast<std::uint32_t>(height * zoom)};
    return {{{std::int64_t{height} * zoom, std::int64_t{width} * zoom}},
            {{{0, 2.6F, 6.4F}, {0, -0.28F, -0.96F}, {0.48F, 0, 0}, {0, 0.3456F, -0.1008F}, size},
             {{-1.5F, 5, -1.5F}, {3, 0, 0}, {0, 0, 3}, {}},
             {0.5F, 0.62F, 0.8F},
             {0.3F, 0.27F, 0.25F},
             static_cast<std::uint32_t>(spheres.size()),
             kf::Buffer<dr::Sphere>(device, spheres),
             kf::Buffer<dr::Triangle>(device, triangles),
             kf::Buffer<dr::Node>(device, nodes),
             kf::Buffer<dr::Material>(device, materials)}};
}

/// All that is learned lies in one tensor: the materials' colors, then the floor's texels.
Colors colors(const kf::Tensor<float3, 1>& values) {
    return {values.slice(0, 0, material_count),
            values.slice(0, material_count, material_count + side * side).reshape<2>({side, side})};
}

Colors colors(const kf::Tensor<float3, 1>& values, const kf::Tensor<float3, 1>& gradients) {
    const Colors value = colors(values);
    const Colors gradient = colors(gradients);
    return {value.materials.with_grads({}, gradient.materials), value.floor.with_grads({}, gradient.floor)};
}

/// What is looked for.
std::vector<float3> wanted_colors() {
    std::vector<float3> all{
        {0, 0, 0}, {0.8F, 0.7F, 0.55F}, {0.75F, 0.2F, 0.12F}, {1, 0.71F, 0.29F}, {0.1F, 0.3F, 0.65F}};
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            all.push_back((x / 2 + y / 2) % 2 == 0 ? float3{0.75F, 0.73F, 0.7F} : float3{0.2F, 0.24F, 0.3F});
    return all;
}

std::array<float, 3> parts(const float3& color) { return {color.x, color.y, color.z}; }

double mean_of(const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Draws every pixel as zoom x zoom pixels.
void save_enlarged(const std::string& name, int across, const std::vector<kf::uint8_t3>& pixels, int zoom) {
    const int down = static_cast<int>(pixels.size()) / across;
    std::vector<std::uint8_t> bytes;
    for (int y = 0; y < down * zoom; ++y) {
        for (int x = 0; x < across * zoom; ++x) {
            const kf::uint8_t3& pixel =
                pixels[static_cast<std::size_t>(y / zoom) * static_cast<std::size_t>(across) +
                       static_cast<std::size_t>(x / zoom)];
            bytes.insert(bytes.end(), {pixel.x, pixel.y, pixel.z});
        }
    }
    save_png("differentiable_rendering_" + name + ".png", across * zoom, down * zoom, 3, bytes);
}

class Gallery {
public:
    Gallery(const kf::Device& device, const dr::Module& module) : module_(module), seen_(::seen(device, 2)) {}

    /// Draws a larger picture with these colors; returns its pixels.
    [[nodiscard]] std::vector<float3> save(const std::string& name,
                                           const kf::Tensor<float3, 1>& values) const {
        const auto picture = module_.render(seen_.pixels, 0, fine_paths, seen_.scene, colors(values));
        save_enlarged(name, 2 * width, module_.shown(picture).to_vector(), 3);
        return picture.to_vector();
    }

private:
    const dr::Module& module_;
    Seen seen_;
};

/// The losses from the first down to a thousandth, by their logarithms.
void save_curve(const std::vector<double>& losses) {
    std::vector<kf::uint8_t3> curve(static_cast<std::size_t>(height) * steps, {255, 255, 255});
    for (int step = 0; step < steps; ++step) {
        const double loss = std::max(losses[static_cast<std::size_t>(step)] / losses[0], 1e-3);
        const int high = std::clamp(static_cast<int>((1 + std::log10(loss) / 3) * height), 1, height);
        for (int y = height - high; y < height; ++y)
            curve[static_cast<std::size_t>(y) * steps + static_cast<std::size_t>(step)] = {80, 80, 80};
    }
    save_enlarged("loss", steps, curve, 5);
}

double difference(const std::vector<float3>& a, const std::vector<float3>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t c = 0; c < 3; ++c) sum += std::pow(parts(a[i])[c] - parts(b[i])[c], 2);
    return sum;
}

void say(const char* what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const dr::Module module(device);
    const std::vector<float3> wanted = wanted_colors();
    const auto count = static_cast<std::int64_t>(wanted.size());
    const auto learned = device.tensor<float3>(std::vector<float3>(wanted.size(), {0.5F, 0.5F, 0.5F}));
    const Gallery gallery(device, module);
    const std::vector<float3> start_picture = gallery.save("start", learned);
    const std::vector<float3> target_picture = gallery.save("target", device.tensor<float3>(wanted));

    const auto [pixels, scene] = seen(device, 1);
    const Colors right = colors(device.tensor<float3>(wanted));
    const auto target = module.render(pixels, 0, fine_paths, scene, right);
    const auto reference = module.render(pixels, 0, paths, scene, right);
    const auto gradients = device.zeros<float3>({count});
    const auto mean = device.zeros<float3>({count});
    const auto variance = device.zeros<float3>({count});
    const Colors given = colors(learned, gradients);
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
        // By the same paths as the reference's, so that there is no noise in it.
        const auto now = module.compare(module.render(pixels, 0, paths, scene, given), reference);
        losses.push_back(mean_of(now.error.to_vector()));
        // The derivative is by other paths than the error: what both had in common would pull the fit aside.
        const auto seed = static_cast<std::uint32_t>(2 * step);
        const auto picture = module.render(pixels, seed + 1, paths, scene, given);
        const auto flow = module.compare(picture, target).gradient;
        module.render.backward(pixels, seed + 2, paths, scene, given, picture.with_grads(flow, {}));
        const float share = 1 - static_cast<float>(step) / steps;
        module.adam(learned, mean, variance, gradients, rate * share, step + 1);
    }
    const std::vector<float3> fitted_picture = gallery.save("fitted", learned);
    save_curve(losses);

    say("the picture's error fell to less than a hundredth",
        difference(fitted_picture, target_picture) < difference(start_picture, target_picture) / 100);
    const std::vector<float3> found = learned.to_vector();
    float largest = 0;
    for (std::size_t i = lamp; i < material_count; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            largest = std::max(largest, std::abs(parts(found[i])[c] - parts(wanted[i])[c]));
    say("the colors of the lamp and the balls are found", largest < 0.06F);
    std::cout << "the pictures and how the loss fell: differentiable_rendering_*.png\n";
}
