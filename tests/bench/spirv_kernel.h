// Kernels written by hand for Vulkan, as the driver loads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/manifest.h"

namespace bench_support {

/// Returns the kernel in a .spv file, which takes `block` bytes of push constants in groups of `group`
/// threads.
inline kf::manifest::Kernel spirv_kernel(const std::filesystem::path& path, std::uint32_t group,
                                         std::int64_t block, std::vector<std::string> features) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.empty()) throw std::runtime_error("can't read " + path.string());
    const auto words = std::as_bytes(std::span(bytes));
    kf::manifest::Image image;
    image.format = "spirv";
    image.entry_point = "main";
    image.features = std::move(features);
    image.bytes = std::vector<std::byte>(words.begin(), words.end());
    kf::manifest::Kernel kernel;
    kernel.name = path.stem().string();
    kernel.group_size = {group, 1, 1};
    kernel.layouts["vulkan"] = {.size = block, .offsets = {}, .passing = kf::manifest::Passing::value};
    kernel.images.push_back(std::move(image));
    return kernel;
}

}  // namespace bench_support
