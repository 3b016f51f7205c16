// What the tests of all drivers share: a small kernel's parameters, transfers of words, errors as text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kf/error.h>

#include <algorithm>
#include <memory>
#include <numeric>
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

inline void write(driver::Device& device, const std::shared_ptr<driver::Allocation>& allocation,
                  const Words& words) {
    device.upload(allocation, 0, std::as_bytes(std::span(words)));
}

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
    dispatch.kernel = kernel.get();
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

/// Replays graphs that alone own memory which they use, and that go while they run.
inline void expect_graphs_keep_memory(driver::Device& device, const std::shared_ptr<driver::Kernel>& kernel) {
    const auto sum = upload(device, Words(1000, 0));
    for (std::uint32_t i = 0; i < 10; ++i) {
        const auto graph = device.make_graph();
        {
            const auto source = upload(device, Words(1000, i));
            const auto temporary = device.allocate(4000);
            add_step(*graph, kernel, temporary, source, 1);
            add_step(*graph, kernel, sum, temporary, 1);
        }
        const auto other = upload(device, Words(1000, 99));
        device.replay(*graph);
        device.replay(*graph);
    }
    EXPECT_THAT(read(device, sum), ::testing::Each(11U));
}

/// Uses memory that the host has, too, `words` of it, and compares all. `first_read`: what is to be checked
/// around the first command and the wait for it.
template <class FirstRead>
void expect_mapped_memory(driver::Device& device, const std::shared_ptr<driver::Kernel>& kernel,
                          std::size_t words, FirstRead first_read) {
    const auto source = device.allocate_mapped(4 * words);
    const auto target = device.allocate_mapped(4 * words);
    ASSERT_TRUE(source != nullptr && target != nullptr);
    ASSERT_TRUE(source->host != nullptr && target->host != nullptr);
    EXPECT_EQ(source->size, 4 * words);
    write(device, source, Words(words, 7));
    std::fill_n(target->host, 4 * words, std::byte{0xA5});
    first_read([&] {
        add_step(device, kernel, target, source, 3);
        EXPECT_THAT(read(device, target), ::testing::Each(10U));
    });
    EXPECT_EQ(reinterpret_cast<const std::uint32_t*>(target->host)[words - 1], 10U);
    // In use from now on: what is written comes after it.
    add_step(device, kernel, target, target, 1);
    write(device, target, Words(1, 100));
    add_step(device, kernel, target, target, 1);
    const Words found = read(device, target);
    EXPECT_EQ(found[0], 101U);
    EXPECT_TRUE(words == 1 || found[words - 1] == 12U);
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
                          const driver::Grid& groups, const driver::Grid& extents, bool recorded = false) {
    const std::size_t count = std::size_t{extents[0]} * extents[1] * extents[2];
    constexpr std::size_t guard = 1000;
    Words expected(count + guard, poison);
    const auto memory = upload(device, expected);
    const AddPlace block{memory->address, extents, 0};
    const driver::Use uses[] = {{memory, true}};
    const driver::Dispatch dispatch{kernel.get(), groups, std::as_bytes(std::span(&block, 1)), uses};
    if (recorded) {
        auto recorder = device.make_recorder();
        recorder->dispatch(dispatch);
        device.submit(std::move(recorder));
    } else {
        device.dispatch(dispatch);
    }
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
    expect_places(device, kernel, {3, 7, 5}, {11, 13, 15}, true);
    expect_places(device, kernel, {3, 0, 5}, {11, 13, 15}, true);
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
                            device.dispatch({kernel.get(), groups, block, uses});
                        }),
                        ::testing::HasSubstr("value-range: " + device.info().backend +
                                             ": kernel 'add_step' is given " + std::to_string(most + 1) +
                                             " groups in " + "xyz"[d] + "; at most " + std::to_string(most) +
                                             " fit"));
        }
    }
}

/// The resources of the kernel add_buffers: target[i] = source[i] + step where both have an i, groups of 64.
inline std::vector<manifest::ResourceSlot> add_buffers_resources() {
    return {{"source", manifest::ResourceKind::buffer, false, 4},
            {"target", manifest::ResourceKind::buffer, true, 4}};
}

/// Dispatches add_buffers on a driver::Device or a driver::Recorder; its block has `size` bytes.
template <class Commands>
void add_buffers(Commands& commands, std::size_t size, const std::shared_ptr<driver::Kernel>& kernel,
                 const std::vector<driver::Resource>& resources, std::uint32_t step,
                 std::uint32_t groups = 16) {
    Words block(size / 4, 0);
    block[0] = step;
    commands.dispatch({kernel.get(), {groups, 1, 1}, std::as_bytes(std::span(block)), {}, resources});
}

inline driver::BufferRange range(const std::shared_ptr<driver::Allocation>& memory) {
    return {memory, 0, memory->size};
}

/// Buffers are their ranges and no more, whatever is bound is in order with all else and lives as long as it
/// must, and what is no buffer is refused by name.
inline void expect_buffers(driver::Device& device, std::size_t size,
                           const std::shared_ptr<driver::Kernel>& kernel,
                           const std::shared_ptr<driver::Kernel>& add_step_kernel) {
    Words numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto source = upload(device, numbers);
    Words expected(1000, poison);
    const auto target = upload(device, expected);
    add_buffers(device, size, kernel,
                {driver::BufferRange{source, 256, 400}, driver::BufferRange{target, 512, 280}}, 7);
    add_buffers(device, size, kernel,
                {driver::BufferRange{source, 0, 8}, driver::BufferRange{target, 2048, 1000}}, 9);
    add_buffers(device, size, kernel, {range(source), range(target)}, 9, 0);
    for (std::uint32_t i = 0; i < 70; ++i) expected[128 + i] = 64 + i + 7;
    for (std::uint32_t i = 0; i < 2; ++i) expected[512 + i] = i + 9;
    EXPECT_EQ(read(device, target), expected);
    EXPECT_EQ(read(device, source), numbers);

    auto sum = upload(device, Words(1000, 1));
    for (std::uint32_t i = 0; i < 200; ++i) {
        const auto between = device.allocate(4000);
        add_buffers(device, size, kernel, {range(sum), range(between)}, 1);  // waits for the last round
        add_step(device, add_step_kernel, sum, between, 1);                  // through addresses
        device.copy(between, 0, sum, 0, 4000);
        add_buffers(device, size, kernel, {range(between), range(sum)}, 1);
        device.fill(between, 0, 4000, 0);
    }
    EXPECT_THAT(read(device, sum), ::testing::Each(601U));
    auto recorder = device.make_recorder();
    for (int i = 0; i < 100; ++i) {
        const auto between = device.allocate(4000);
        add_buffers(*recorder, size, kernel, {range(sum), range(between)}, 1);
        add_buffers(*recorder, size, kernel, {range(between), range(sum)}, 0);
    }
    add_buffers(device, size, kernel, {range(source), range(sum)}, 0);
    device.submit(std::move(recorder));
    std::ranges::for_each(numbers, [](std::uint32_t& number) { number += 100; });
    EXPECT_EQ(read(device, sum), numbers);

    const std::string who = device.info().backend + ": kernel 'add_buffers'";
    const auto refusal = [&](const std::vector<driver::Resource>& resources) {
        return error_of([&] { add_buffers(device, size, kernel, resources, 1); });
    };
    EXPECT_EQ(refusal({}), "layout-mismatch: " + who + " takes 2 resources, not 0");
    EXPECT_EQ(refusal({range(sum), range(sum), range(sum)}),
              "layout-mismatch: " + who + " takes 2 resources, not 3");
    EXPECT_EQ(refusal({range(sum), driver::BufferRange{}}),
              "missing-argument: " + who + " is given no memory for its buffer 'target'");
    EXPECT_EQ(refusal({driver::BufferRange{sum, 16, 0}, range(sum)}),
              "missing-argument: " + who + " is given no memory for its buffer 'source'");
    EXPECT_EQ(refusal({range(sum), driver::BufferRange{sum, 256, 3752}}),
              "index-range: " + who + " is given 3752 bytes at 256 of 4000 for its buffer 'target'");
    EXPECT_EQ(
        refusal({range(sum), driver::BufferRange{sum, ~0ULL, 4}}),
        "index-range: " + who + " is given 4 bytes at 18446744073709551615 of 4000 for its buffer 'target'");
    EXPECT_THAT(
        refusal({driver::BufferRange{sum, 4, 8}, range(sum)}),
        ::testing::HasSubstr("layout-mismatch: " + who + ": buffer 'source' must begin at a multiple of "));
    const driver::Resource one[] = {range(sum)};
    EXPECT_THAT(
        error_of([&] {
            const AddStep block{sum->address, sum->address, 1000, 1};
            device.dispatch({add_step_kernel.get(), {1, 1, 1}, std::as_bytes(std::span(&block, 1)), {}, one});
        }),
        ::testing::HasSubstr("takes 0 resources, not 1"));
    EXPECT_EQ(read(device, sum), numbers);
}

/// Resources of `unbound` kinds, which the driver doesn't bind, are refused when the kernel is loaded, and
/// layouts without a place for each.
inline void expect_refused_resources(driver::Device& device, const manifest::Kernel& good,
                                     const std::vector<manifest::ResourceKind>& unbound) {
    for (const auto kind : unbound) {
        manifest::Kernel kernel = good;
        kernel.resources[1].kind = kind;
        EXPECT_EQ(error_of([&] { device.load_kernel(kernel); }),
                  "missing-feature: " + device.info().backend +
                      ": kernel 'add_buffers' takes 'target' of the kind '" +
                      manifest::resource_kind_names.at(static_cast<std::size_t>(kind)) +
                      "', which this driver doesn't bind");
    }
    manifest::Kernel kernel = good;
    kernel.layouts.begin()->second.resource_places.pop_back();
    EXPECT_THAT(error_of([&] { device.load_kernel(kernel); }), ::testing::HasSubstr("artifact-corrupt"));
    kernel = good;
    kernel.resources[0].stride = 0;
    EXPECT_THAT(error_of([&] { device.load_kernel(kernel); }), ::testing::HasSubstr("artifact-corrupt"));
    kernel = good;
    for (const std::int64_t place : {-1LL, 2LL, 100LL, 1LL << 40}) {
        kernel.layouts.begin()->second.resource_places[1] = place;
        EXPECT_THAT(error_of([&] { device.load_kernel(kernel); }), ::testing::HasSubstr("artifact-corrupt"))
            << place;
    }
}

}  // namespace kf::test
