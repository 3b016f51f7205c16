// What the tests of all drivers share: a small kernel's parameters, transfers of words, errors as text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kf/error.h>

#include <memory>
#include <string>
#include <vector>

#include "core/driver.h"

namespace kf::test {

/// The parameter block of the kernel add_step: target[i] = source[i] + step for i < count, groups of 64.
struct AddStep {
    std::uint64_t target = 0;
    std::uint64_t source = 0;
    std::uint32_t count = 0;
    std::uint32_t step = 1;
};

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
