// Pictures as PNG files, written by stb.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <kf/types.h>

/// Writes rows of pixels of `channels` bytes each: 3 for red, green and blue, 4 with alpha. Throws
/// std::runtime_error where the file can't be written.
void save_png(const std::string& path, int width, int height, int channels,
              std::span<const std::uint8_t> pixels);

/// The same for levels from 0 to 1, without alpha; others are clamped.
void save_png(const std::string& path, int width, int height, std::span<const kf::float4> pixels);
