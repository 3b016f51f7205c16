// Tests that run once on each device that has kernels here; a device is named by its id, "cuda:0".
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kf/device.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "devices.h"

namespace kf::test {

/// Whether the artifact holds kernels for it: a build without CUDA's compiler makes none for CUDA.
inline bool is_served(const DeviceInfo& info) {
    const auto module = devices::Module::try_load(Device::open(info.id));
    return module.ok() || module.error().code() != ErrorCode::artifact_no_image;
}

/// Found once: every suite asks, and each answer takes a module's loading.
inline const std::vector<DeviceInfo>& served_devices() {
    static const std::vector<DeviceInfo> served = [] {
        std::vector<DeviceInfo> found = kf::devices();
        std::erase_if(found, [](const DeviceInfo& info) { return !is_served(info); });
        return found;
    }();
    return served;
}

/// "cuda", "vulkan", or "" for both.
inline std::vector<std::string> device_ids(const std::string& backend = "") {
    std::vector<std::string> ids;
    for (const DeviceInfo& info : served_devices()) {
        if (backend.empty() || info.backend == backend) {
            ids.push_back(info.id);
        }
    }
    return ids;
}

/// All ordered pairs of two devices.
inline std::vector<std::pair<std::string, std::string>> device_pairs() {
    std::vector<std::pair<std::string, std::string>> pairs;
    const std::vector<std::string> ids = device_ids();
    for (const std::string& a : ids) {
        for (const std::string& b : ids) {
            if (a != b) pairs.emplace_back(a, b);
        }
    }
    return pairs;
}

/// "cuda:0" as a part of a test's name: "cuda_0".
inline std::string test_name(std::string id) {
    std::replace_if(
        id.begin(), id.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return id;
}

/// 0, 1/8 … 7/8 again and again: small sums of products of these are exact in float.
inline std::vector<float> eighths(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i % 8) / 8;
    }
    return values;
}

}  // namespace kf::test
