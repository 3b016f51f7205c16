// A picture in memory that can be drawn into and written as a PPM file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <kf/types.h>

class Picture {
public:
    Picture(int width, int height)
        : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height) {}

    kf::float3& at(int x, int y) { return pixels_[static_cast<std::size_t>(y) * width_ + x]; }

    /// Draws a picture given row by row, every pixel as zoom × zoom pixels.
    void draw(int left, int top, int width, int zoom, const std::vector<kf::float3>& pixels) {
        const int height = static_cast<int>(pixels.size()) / width * zoom;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width * zoom; ++x)
                at(left + x, top + y) = pixels[static_cast<std::size_t>(y / zoom) * width + x / zoom];
    }

    void save(const std::string& path) const {
        std::ofstream file(path, std::ios::binary);
        file << "P6 " << width_ << ' ' << height_ << " 255\n";
        for (const kf::float3& color : pixels_)
            for (const float level : {color.x, color.y, color.z})
                file.put(static_cast<char>(std::lround(std::clamp(level, 0.0F, 1.0F) * 255)));
    }

private:
    int width_, height_;
    std::vector<kf::float3> pixels_;
};
