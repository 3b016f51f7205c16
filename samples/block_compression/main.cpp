// Compresses a picture as BC1, quickly and thoroughly: link-time constants, variants and globals.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <vector>

#include "block_compression.h"

namespace {

using block_compression::Block;
using Color = std::array<int, 3>;
using Palette = std::array<Color, 4>;

constexpr int side = 64;
constexpr int blocks_a_side = side / 4;
constexpr int block_count = blocks_a_side * blocks_a_side;
constexpr Color weights{2, 4, 1};

/// A color of 5, 6 and 5 bits as three of 8.
Color expand(std::uint32_t bits) {
    const auto red = static_cast<int>(bits >> 11);
    const auto green = static_cast<int>(bits >> 5 & 63);
    const auto blue = static_cast<int>(bits & 31);
    return {red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2};
}

std::uint32_t shrink(const Color& color) {
    const auto bits = [](int value, int most) {
        return static_cast<std::uint32_t>((value * most + 127) / 255);
    };
    return bits(color[0], 31) << 11 | bits(color[1], 63) << 5 | bits(color[2], 31);
}

Palette palette_of(std::uint32_t colors) {
    Palette result{expand(colors & 0xFFFF), expand(colors >> 16)};
    for (std::size_t c = 0; c < 3; ++c) {
        result[2][c] = (2 * result[0][c] + result[1][c]) / 3;
        result[3][c] = (result[0][c] + 2 * result[1][c]) / 3;
    }
    return result;
}

int distance(const Color& a, const Color& b) {
    int sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]) * weights[c];
    return sum;
}

/// A picture of rings.
Color picture(int x, int y) {
    const int ring = (x * x + y * y) / 16;
    return {ring % 256, (255 - 3 * x + 256) % 256, (ring / 2 + 2 * y) % 256};
}

std::array<Color, 16> pixels_of(int block) {
    std::array<Color, 16> pixels{};
    for (int i = 0; i < 16; ++i)
        pixels[i] = picture(4 * (block % blocks_a_side) + i % 4, 4 * (block / blocks_a_side) + i / 4);
    return pixels;
}

Block by_plain_code(const std::array<Color, 16>& pixels, int tries) {
    Color low{255, 255, 255};
    Color high{};
    for (const Color& pixel : pixels)
        for (std::size_t c = 0; c < 3; ++c) {
            low[c] = std::min(low[c], pixel[c]);
            high[c] = std::max(high[c], pixel[c]);
        }
    Block best{};
    int least = std::numeric_limits<int>::max();
    for (int k = 0; k < tries; ++k) {
        Color a{};
        Color b{};
        for (std::size_t c = 0; c < 3; ++c) {
            const int inset = (high[c] - low[c]) * k / 16;
            a[c] = high[c] - inset;
            b[c] = low[c] + inset;
        }
        const auto [smaller, greater] = std::minmax({shrink(a), shrink(b)});
        Block block{greater | smaller << 16, 0};
        const Palette palette = palette_of(block.colors);
        int error = 0;
        for (std::size_t i = 0; i < 16; ++i) {
            const auto nearer = [&](const Color& one, const Color& other) {
                return distance(pixels[i], one) < distance(pixels[i], other);
            };
            const auto nearest = std::min_element(palette.begin(), palette.end(), nearer);
            block.indices |= static_cast<std::uint32_t>(nearest - palette.begin()) << (2 * i);
            error += distance(pixels[i], *nearest);
        }
        if (error < least) {
            least = error;
            best = block;
        }
    }
    return best;
}

/// How far the compressed blocks are from the picture.
int error_of(const std::vector<Block>& blocks) {
    int sum = 0;
    for (int block = 0; block < block_count; ++block) {
        const std::array<Color, 16> pixels = pixels_of(block);
        const Palette palette = palette_of(blocks[block].colors);
        for (int i = 0; i < 16; ++i)
            sum += distance(pixels[i], palette[blocks[block].indices >> (2 * i) & 3]);
    }
    return sum;
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const block_compression::Module module(device);
    std::vector<std::uint32_t> pixels;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const Color color = picture(x, y);
            pixels.push_back(static_cast<std::uint32_t>(color[0] | color[1] << 8 | color[2] << 16));
        }
    const kf::Buffer<std::uint32_t> given(device, pixels);

    block_compression::Globals globals;
    globals.image = block_compression::Image{.blocks = {blocks_a_side, blocks_a_side},
                                             .weights = {weights[0], weights[1], weights[2]}};
    const auto ready = module.compress.set(globals);
    const auto report = [&](const char* name, const auto& function, int tries) {
        const kf::RWBuffer<Block> compressed = device.empty<Block>({block_count});
        function.threads(blocks_a_side, blocks_a_side)(given, compressed);
        const std::vector<Block> found = compressed.to_vector();
        bool same = true;
        for (std::size_t i = 0; i < found.size(); ++i)
            same = same && found[i] == by_plain_code(pixels_of(static_cast<int>(i)), tries);
        std::cout << name << ": the same bits as by plain code: " << (same ? "yes" : "no") << ", error "
                  << error_of(found) << '\n';
    };
    report("quick", ready, 1);
    report("thorough", ready.options({.variant = "thorough"}), 5);
}
