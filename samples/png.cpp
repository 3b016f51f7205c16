// Holds stb's code, which is a header.
#include "png.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

void save_png(const std::string& path, int width, int height, int channels,
              std::span<const std::uint8_t> pixels) {
    if (pixels.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                             static_cast<std::size_t>(channels))
        throw std::runtime_error(path + ": the number of pixels isn't the picture's width times its height");
    if (stbi_write_png(path.c_str(), width, height, channels, pixels.data(), width * channels) == 0)
        throw std::runtime_error(path + " can't be written");
}

void save_png(const std::string& path, int width, int height, std::span<const kf::float4> pixels) {
    std::vector<std::uint8_t> levels;
    levels.reserve(3 * pixels.size());
    for (const kf::float4& pixel : pixels)
        for (const float level : {pixel.x, pixel.y, pixel.z})
            levels.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(level, 0.0F, 1.0F) * 255)));
    save_png(path, width, height, 3, levels);
}
