// What the tests of all drivers share: a small kernel's parameters, transfers of words, errors as text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kf/error.h>

#include <algorithm>
#include <memory>
#include <span>
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
inline constexpr std::uint32_t poison = 0xA5A5A5A5;

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
    dispatch.groups = {(count + 63) / 64, 1, 1};
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

/// Runs every kind of command on parts of memory that somebody else owns, 400 words of it, and compares all.
inline void expect_foreign_memory(driver::Device& device, const std::shared_ptr<driver::Kernel>& kernel,
                                  const driver::ForeignMemory& foreign) {
    const auto wrapped = [&](std::size_t first, std::size_t count) {
        return device.wrap({foreign.handle, foreign.offset + 4 * first, 4 * count, foreign.owner});
    };
    Words expected(400, poison);
    const auto whole = wrapped(0, 400);
    EXPECT_EQ(whole->size, 1600);
    device.upload(whole, 0, std::as_bytes(std::span(expected)));
    const auto part = wrapped(40, 100);
    EXPECT_EQ(part->address, whole->address + 160);
    EXPECT_EQ(part->size, 400);
    const auto other = device.allocate(400);
    device.fill(part, 0, 400, 7);
    add_step(device, kernel, other, part, 5);  // 12
    add_step(device, kernel, part, other, 1);  // 13
    device.copy(part, 0, other, 0, 40);
    const std::uint32_t last = 99;
    device.upload(part, 396, std::as_bytes(std::span(&last, 1)));
    std::fill_n(expected.begin() + 40, 100, 13);
    std::fill_n(expected.begin() + 40, 10, 12);
    expected[139] = last;
    EXPECT_EQ(read(device, whole), expected);
    EXPECT_TRUE(std::ranges::equal(read(device, part), std::span(expected).subspan(40, 100)));

    for (std::uint32_t i = 0; i < 200; ++i) {  // through another allocation each time
        add_step(device, kernel, wrapped(200, 100), wrapped(200, 100), 1);
    }
    auto recorder = device.make_recorder();
    recorder->copy(whole, 1200, part, 0, 400);
    recorder->fill(part, 4, 8, 3);
    device.submit(std::move(recorder));
    std::fill_n(expected.begin() + 200, 100, poison + 200);
    std::copy_n(expected.begin() + 40, 100, expected.begin() + 300);
    EXPECT_THAT(error_of([&] { device.fill(part, 0, 404, 0); }), ::testing::HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device.copy(whole, 164, part, 0, 8); }), ::testing::HasSubstr("aliasing"));
    const auto odd = device.wrap({foreign.handle, foreign.offset + 162, 8, foreign.owner});
    EXPECT_THAT(error_of([&] { device.fill(odd, 0, 4, 0); }), ::testing::HasSubstr("layout-mismatch"));
    expected[41] = expected[42] = 3;
    EXPECT_EQ(read(device, whole), expected);
}

/// The parameter block of the kernel add_place: adds 1 + x + 1000 y + 1000000 z to target[x + width (y +
/// height z)] in every thread (x, y, z) inside of the extents, in groups of 4 x 2 x 3.
struct AddPlace {
    std::uint64_t target = 0;
    driver::Grid extents{};
    std::uint32_t unused = 0;
};
inline constexpr driver::Grid add_place_threads{4, 2, 3};

/// Runs add_place with `groups` on poisoned memory; every word must have been added to once, and none past
/// the extents.
inline void expect_places(driver::Device& device, const std::shared_ptr<driver::Kernel>& kernel,
                          const driver::Grid& groups, const driver::Grid& extents) {
    const std::size_t count = std::size_t{extents[0]} * extents[1] * extents[2];
    constexpr std::size_t guard = 1000;
    Words expected(count + guard, poison);
    const auto memory = upload(device, expected);
    const AddPlace block{memory->address, extents, 0};
    const driver::Use uses[] = {{memory, true}};
    device.dispatch({kernel, groups, std::as_bytes(std::span(&block, 1)), uses});
    for (std::uint32_t z = 0, i = 0; z < extents[2]; ++z) {
        for (std::uint32_t y = 0; y < extents[1]; ++y) {
            for (std::uint32_t x = 0; x < extents[0]; ++x, ++i) {
                const bool runs = x / add_place_threads[0] < groups[0] &&
                                  y / add_place_threads[1] < groups[1] &&
                                  z / add_place_threads[2] < groups[2];
                expected[i] += runs ? 1 + x + 1000 * y + 1000000 * z : 0;
            }
        }
    }
    EXPECT_TRUE(read(device, memory) == expected) << ::testing::PrintToString(groups) << " groups";
}

/// Grids of three dimensions: odd ones, those of one dimension each way, the largest, and those without
/// groups.
inline void expect_grids(driver::Device& device, const std::shared_ptr<driver::Kernel>& kernel) {
    expect_places(device, kernel, {5, 3, 2}, {19, 5, 5});
    expect_places(device, kernel, {1, 1, 1}, {4, 2, 3});
    expect_places(device, kernel, {3, 7, 5}, {11, 13, 15});
    expect_places(device, kernel, {2, 1, 3}, {19, 5, 11});  // more extents than threads
    for (std::size_t d = 0; d < 3; ++d) {
        driver::Grid groups{1, 1, 1};
        driver::Grid extents = add_place_threads;
        groups[d] = std::min(device.info().max_groups[d], 65535U);
        extents[d] = add_place_threads[d] * groups[d];
        expect_places(device, kernel, groups, extents);
        groups = {3, 3, 3};
        groups[d] = 0;
        expect_places(device, kernel, groups, {12, 6, 9});
        groups[(d + 1) % 3] = 0xFFFFFFFF;  // of no groups there are never too many
        expect_places(device, kernel, groups, {12, 6, 9});
    }
}

/// One group more than there may be, in each dimension, is an error that says which.
inline void expect_limited_groups(driver::Device& device, const std::shared_ptr<driver::Kernel>& kernel,
                                  std::span<const std::byte> block, std::span<const driver::Use> uses) {
    for (std::size_t d = 0; d < 3; ++d) {
        const std::uint32_t most = device.info().max_groups[d];
        driver::Grid groups{1, 1, 1};
        groups[d] = most + 1;
        if (most != 0xFFFFFFFF) {
            EXPECT_THAT(error_of([&] {
                            device.dispatch({kernel, groups, block, uses});
                        }),
                        ::testing::HasSubstr("value-range: " + device.info().backend +
                                             ": kernel 'add_step' is given " + std::to_string(most + 1) +
                                             " groups in " + "xyz"[d] + "; at most " + std::to_string(most) +
                                             " fit"));
        }
    }
}

}  // namespace kf::test
