// Holds stb's code, which is a header.
#include "png.h"

#include <cstddef>
#include <stdexcept>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

void save_png(const std::string& path, int width, int height, int channels,
              std::span<const std::uint8_t> pixels) {
    if (pixels.size() != static_cast<std::size_t>(width) * height * channels)
        throw std::runtime_error(path + ": the number of pixels isn't the picture's width times its height");
    if (stbi_write_png(path.c_str(), width, height, channels, pixels.data(), width * channels) == 0)
        throw std::runtime_error(path + " can't be written");
}
