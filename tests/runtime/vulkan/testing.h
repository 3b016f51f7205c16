// What the tests of the Vulkan driver share: a device that must stay silent, and two small kernels.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kf/error.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "vulkan/driver.h"

namespace kf::test {

/// The parameter block of add_step_by_*.spvasm: target[i] = source[i] + step for i < count, groups of 64.
struct AddStep {
    std::uint64_t target = 0;
    std::uint64_t source = 0;
    std::uint32_t count = 0;
    std::uint32_t step = 1;
};

inline constexpr manifest::Passing passings[] = {manifest::Passing::value, manifest::Passing::uniform,
                                                 manifest::Passing::address};

inline manifest::Kernel add_step_kernel(manifest::Passing passing = manifest::Passing::value) {
    const std::string file_name =
        std::string("add_step_by_") + manifest::passing_names.at(static_cast<std::size_t>(passing));
    std::ifstream file(std::string(KF_TEST_KERNELS) + "/" + file_name + ".spv", std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    manifest::Image image;
    image.format = "spirv";
    image.entry_point = "main";
    image.features = {"int64", "buffer_device_address"};
    const auto words = std::as_bytes(std::span(bytes));
    image.bytes = std::vector<std::byte>(words.begin(), words.end());
    manifest::Kernel kernel;
    kernel.name = "add_step";
    kernel.group_size = {64, 1, 1};
    kernel.layouts["vulkan"] = {sizeof(AddStep), {}, passing};
    kernel.images.push_back(std::move(image));
    return kernel;
}

using Words = std::vector<std::uint32_t>;

inline std::shared_ptr<driver::Allocation> upload(driver::Device& device, const Words& words) {
    auto allocation = device.allocate(words.size() * 4);
    device.upload(allocation, 0, std::as_bytes(std::span(words)));
    return allocation;
}

inline Words read(driver::Device& device, const std::shared_ptr<driver::Allocation>& allocation) {
    Words words(allocation->size / 4);
    device.read_back(allocation, 0, std::as_writable_bytes(std::span(words)));
    return words;
}

/// Dispatches add_step on a driver::Device or a driver::Recorder.
template <class Commands>
void add_step(Commands& commands, const std::shared_ptr<driver::Kernel>& kernel,
              const std::shared_ptr<driver::Allocation>& target,
              const std::shared_ptr<driver::Allocation>& source, std::uint32_t step) {
    const auto count = static_cast<std::uint32_t>(target->size / 4);
    const AddStep block{target->address, source->address, count, step};
    const driver::Use uses[] = {{target, true}, {source, false}};
    driver::Dispatch dispatch;
    dispatch.kernel = kernel;
    dispatch.groups = (count + 63) / 64;
    dispatch.block = std::as_bytes(std::span(&block, 1));
    dispatch.uses = uses;
    commands.dispatch(dispatch);
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

/// "code: message" of the kf::Error that `function` throws, or "" when it doesn't.
template <class Function>
std::string error_of(Function&& function) {
    try {
        function();
    } catch (const Error& error) {
        return std::string(error_id(error.code())) + ": " + error.what();
    }
    return "";
}

}  // namespace kf::test
