// Filters a noisy picture: a blur that shares what it reads in groups, a bilateral filter, and mips.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "image_filters.h"
#include "png.h"

namespace {

constexpr int width = 128;
constexpr int height = 96;
constexpr int radius = 8;  ///< of the blur, as the kernel has it
constexpr std::size_t channels = 3;

using Texture = kf::RWTexture2D<kf::float4>;
using Pixels = std::vector<kf::float4>;

void say(const char* what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

/// From -28 to 28.
int noise(int x, int y, std::size_t channel) {
    std::uint32_t state = static_cast<std::uint32_t>(x) * 73856093U ^
                          static_cast<std::uint32_t>(y) * 19349663U ^
                          static_cast<std::uint32_t>(channel) * 83492791U;
    state = (state ^ state >> 15) * 0x2C1B3C6DU;
    state = (state ^ state >> 12) * 0x297A2D39U;
    return static_cast<int>((state >> 16) % 57) - 28;
}

/// A disc and a bar before a slope, under noise.
std::vector<kf::uint8_t4> picture() {
    std::vector<kf::uint8_t4> pixels;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            std::array<int, channels> color{40 + x, 60 + y, 150 - x / 2};
            if ((x - 45) * (x - 45) + (y - 45) * (y - 45) < 30 * 30)
                color = {220, 90, 60};
            else if (x > 85 && x < 105 && y > 15 && y < 80)
                color = {40, 180, 90};
            kf::uint8_t4 pixel{0, 0, 0, 255};
            for (std::size_t c = 0; c < channels; ++c)
                pixel[c] = static_cast<std::uint8_t>(std::clamp(color[c] + noise(x, y, c), 0, 255));
            pixels.push_back(pixel);
        }
    return pixels;
}

Pixels levels_of(const std::vector<kf::uint8_t4>& pixels) {
    Pixels levels;
    for (const kf::uint8_t4& pixel : pixels) {
        kf::float4 level;
        for (std::size_t c = 0; c < 4; ++c) level[c] = static_cast<float>(pixel[c]) / 255;
        levels.push_back(level);
    }
    return levels;
}

std::vector<float> gaussian(double spread) {
    std::vector<double> weights;
    double sum = 0;
    for (int i = -radius; i <= radius; ++i)
        sum += weights.emplace_back(std::exp(-i * i / (2 * spread * spread)));
    std::vector<float> result;
    for (const double weight : weights) result.push_back(static_cast<float>(weight / sum));
    return result;
}

/// Beyond the edges the pixels there go on.
const kf::float4& at(const Pixels& pixels, int x, int y) {
    const auto row = static_cast<std::size_t>(std::clamp(y, 0, height - 1));
    const auto column = static_cast<std::size_t>(std::clamp(x, 0, width - 1));
    return pixels[row * width + column];
}

Pixels plain_blur(const Pixels& pixels, const std::vector<float>& weights, bool is_column) {
    Pixels blurred;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            kf::float4& pixel = blurred.emplace_back();
            for (std::size_t c = 0; c < 4; ++c) {
                double sum = 0;
                int place = -radius;
                for (const float weight : weights) {
                    sum +=
                        double{weight} * (is_column ? at(pixels, x, y + place) : at(pixels, x + place, y))[c];
                    ++place;
                }
                pixel[c] = static_cast<float>(sum);
            }
        }
    return blurred;
}

Pixels plain_bilateral(const Pixels& pixels, int reach, double spread, double color_spread) {
    Pixels smooth;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const kf::float4& middle = at(pixels, x, y);
            std::array<double, channels> sums{};
            double weights = 0;
            for (int j = -reach; j <= reach; ++j)
                for (int i = -reach; i <= reach; ++i) {
                    const kf::float4& color = at(pixels, x + i, y + j);
                    double apart = 0;
                    for (std::size_t c = 0; c < channels; ++c) apart += std::pow(color[c] - middle[c], 2);
                    const double weight = std::exp(-(i * i + j * j) / (2 * spread * spread) -
                                                   apart / (2 * color_spread * color_spread));
                    for (std::size_t c = 0; c < channels; ++c) sums[c] += weight * color[c];
                    weights += weight;
                }
            kf::float4& pixel = smooth.emplace_back(kf::float4{0, 0, 0, 1});
            for (std::size_t c = 0; c < channels; ++c) pixel[c] = static_cast<float>(sums[c] / weights);
        }
    return smooth;
}

bool is_close(const Pixels& found, const Pixels& expected, float tolerance) {
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                      [tolerance](const kf::float4& a, const kf::float4& b) {
                          bool close = true;
                          for (std::size_t c = 0; c < 4; ++c)
                              close = close && std::abs(a[c] - b[c]) <= tolerance;
                          return close;
                      });
}

/// Mips, each made from the one before; and whether generate_mips() makes the same.
std::vector<Pixels> check_mips(const kf::Device& device, const image_filters::Module& module,
                               const Pixels& pixels) {
    const auto chain = Texture::from(device, {height, width}, pixels, {.mips = 0});
    const auto generated = Texture::from(device, {height, width}, pixels, {.mips = 0});
    generated.generate_mips();
    const kf::Sampler linear({.filter = kf::Filter::linear, .address = kf::AddressMode::clamp});
    std::vector<Pixels> levels{pixels};
    bool same = true;
    for (std::int64_t i = 1; i < chain.mips(); ++i) {
        const Texture coarser = chain.mip(i);
        const auto [rows, columns] = coarser.shape();
        module.halve(kf::Grid<2>{{rows, columns}},
                     kf::int2{static_cast<std::int32_t>(columns), static_cast<std::int32_t>(rows)},
                     chain.mip(i - 1), linear, kf::out(coarser));
        levels.push_back(coarser.to_vector());
        same = same && is_close(generated.mip(i).to_vector(), levels.back(), 1e-3F);
    }
    say("mips as generate_mips() makes them", same);

    Pixels means;
    for (int y = 0; y < height; y += 2)
        for (int x = 0; x < width; x += 2) {
            kf::float4& mean = means.emplace_back();
            for (std::size_t c = 0; c < 4; ++c)
                mean[c] = (at(pixels, x, y)[c] + at(pixels, x + 1, y)[c] + at(pixels, x, y + 1)[c] +
                           at(pixels, x + 1, y + 1)[c]) /
                          4;
        }
    say("the first one has means of four", is_close(levels[1], means, 1e-3F));
    return levels;
}

/// Copies pixels that lie `columns` a row into a larger picture.
void draw(Pixels& page, int page_width, int left, int top, const Pixels& pixels, int columns) {
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto row = i / static_cast<std::size_t>(columns);
        const auto column = i % static_cast<std::size_t>(columns);

        page[(static_cast<std::size_t>(top) + row) * static_cast<std::size_t>(page_width) +
             static_cast<std::size_t>(left) + column] = pixels[i];
    }
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const image_filters::Module module(device);
    const std::vector<kf::uint8_t4> given = picture();
    const Pixels pixels = levels_of(given);
    const auto source =
        kf::Texture2D<kf::float4>::from(device, {height, width}, given, {.format = kf::TextureFormat::rgba8});

    // Blurred along rows, then along columns.
    const Texture rows = Texture::empty(device, {height, width});
    const Texture blurred = Texture::empty(device, {height, width});
    const std::vector<float> weights = gaussian(2.5);
    const kf::Buffer<float> given_weights(device, weights);
    const auto blur = module.blur.threads(width, height);
    blur(source, rows, given_weights, false);
    blur(rows, blurred, given_weights, true);
    const Pixels found = blurred.to_vector();
    say("a blur as by plain code",
        is_close(found, plain_blur(plain_blur(pixels, weights, false), weights, true), 1e-5F));

    // Without noise, but with edges.
    const Texture smooth = Texture::empty(device, {height, width});
    module.bilateral(kf::Grid<2>{{height, width}}, source, 5, 3.0F, 0.25F, kf::out(smooth));
    const Pixels smoothed = smooth.to_vector();
    say("a bilateral filter as by plain code",
        is_close(smoothed, plain_bilateral(pixels, 5, 3.0, 0.25), 1e-4F));

    const std::vector<Pixels> levels = check_mips(device, module, pixels);

    // Beside each other: the picture, both filters, and the mips one below the other.
    constexpr int page_width = 3 * width + width / 2;
    Pixels page(static_cast<std::size_t>(page_width) * height);
    draw(page, page_width, 0, 0, pixels, width);
    draw(page, page_width, width, 0, found, width);
    draw(page, page_width, 2 * width, 0, smoothed, width);
    int top = 0;
    for (std::size_t i = 1; i < levels.size(); ++i) {
        const int columns = std::max(1, width >> i);
        draw(page, page_width, 3 * width, top, levels[i], columns);
        top += static_cast<int>(levels[i].size()) / columns;
    }
    save_png("image_filters.png", page_width, height, page);
}
