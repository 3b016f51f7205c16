// What the tests of the Vulkan driver share: a device that must stay silent, and two small kernels.
#pragma once

#include <fstream>
#include <iterator>

#include "runtime/driver_testing.h"
#include "vulkan/driver.h"

namespace kf::test {

inline constexpr manifest::Passing passings[] = {manifest::Passing::value, manifest::Passing::uniform,
                                                 manifest::Passing::address};

/// kernels/FILE.spvasm, with the layout of its block.
inline manifest::Kernel spirv_kernel(const std::string& file_name, const std::string& name,
                                     const driver::Grid& group_size, manifest::BlockLayout layout) {
    std::ifstream file(std::string(KF_TEST_KERNELS) + "/" + file_name + ".spv", std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    manifest::Image image;
    image.format = "spirv";
    image.entry_point = "main";
    image.features = {"int64", "buffer_device_address"};
    const auto words = std::as_bytes(std::span(bytes));
    image.bytes = std::vector<std::byte>(words.begin(), words.end());
    manifest::Kernel kernel;
    kernel.name = name;
    kernel.group_size = group_size;
    kernel.layouts["vulkan"] = std::move(layout);
    kernel.images.push_back(std::move(image));
    return kernel;
}

inline manifest::Kernel add_step_kernel(manifest::Passing passing = manifest::Passing::value) {
    const std::string way = manifest::passing_names.at(static_cast<std::size_t>(passing));
    return spirv_kernel("add_step_by_" + way, "add_step", {64, 1, 1}, {sizeof(AddStep), {}, passing});
}

inline manifest::Kernel add_place_kernel() {
    return spirv_kernel("add_place", "add_place", add_place_threads,
                        {sizeof(AddPlace), {}, manifest::Passing::value});
}

inline manifest::Kernel add_buffers_kernel(manifest::Passing passing = manifest::Passing::value) {
    const std::string way = manifest::passing_names.at(static_cast<std::size_t>(passing));
    manifest::Kernel kernel =
        spirv_kernel("add_buffers_by_" + way, "add_buffers", {64, 1, 1}, {8, {}, passing, {1, 3}});
    kernel.resources = add_buffers_resources();
    return kernel;
}

/// With and without direct mapping, so that a driver that could always map also runs the staging path.
class VulkanTest : public ::testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        options_.direct_mapping = GetParam();
        device_ = vulkan::open_vulkan(0, options_);
    }
    void TearDown() override {
        if (device_ != nullptr) {
            device_->wait();
            EXPECT_THAT(vulkan::validation_messages(*device_), ::testing::IsEmpty());
        }
    }

    vulkan::OpenOptions options_;
    std::shared_ptr<driver::Device> device_;
};

}  // namespace kf::test
