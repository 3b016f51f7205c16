// Fills textures by a function that is called for pixels, and by a kernel; draws with the function.
#include <cstddef>
#include <iostream>
#include <vector>

#include "fill.h"
#include "png.h"

namespace {

constexpr int side = 256;

void say(const char* what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

/// From blue on the left to yellow on the right.
std::vector<kf::float3> color_of_each_column() {
    std::vector<kf::float3> colors;
    for (int x = 0; x < side; ++x) {
        const float share = static_cast<float>(x) / (side - 1);
        colors.push_back({share, 0.25F + 0.5F * share, 1 - share});
    }
    return colors;
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const fill::Module module(device);
    const kf::Grid<2> pixels{{side, side}};
    const kf::float3 red{1, 0, 0};

    const auto texture = kf::RWTexture2D<kf::float3>::empty(device, {side, side});
    module.fill(pixels, red, texture);

    const auto other = kf::RWTexture2D<kf::float3>::empty(device, {side, side});
    fill::Globals globals;
    globals.color = red;
    globals.out = other;
    module.main.set(globals).threads(side, side)();

    const std::vector<kf::float4> filled = texture.to_vector();
    say("all red", filled == std::vector<kf::float4>(filled.size(), {1, 0, 0, 1}));
    say("the same by the kernel", filled == other.to_vector());

    // A row of colors, broadcast to all rows; then a square of 128 × 128 pixels.
    const std::vector<kf::float3> colors = color_of_each_column();
    module.fill(pixels, device.tensor(colors).reshape({1, side}), texture);
    module.fill(kf::Grid<2>{{side / 2, side / 2}, {side / 4, side / 4}}, red, texture);
    const std::vector<kf::float4> drawn = texture.to_vector();
    bool right = true;
    for (std::size_t y = 0; y < side; ++y)
        for (std::size_t x = 0; x < side; ++x) {
            const bool inside = x / (side / 4) % 3 != 0 && y / (side / 4) % 3 != 0;
            const kf::float3 color = inside ? red : colors[x];
            right = right && drawn[y * side + x] == kf::float4{color.x, color.y, color.z, 1};
        }
    say("a square before columns of colors", right);
    save_png("fill.png", side, side, drawn);
}
