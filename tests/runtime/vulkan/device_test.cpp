// Tests of a Vulkan device: transfers, eager commands and their order, memory, threads.
#include "vulkan/driver.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <numeric>
#include <thread>

#include "testing.h"
#include "vulkan/memory.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Mapping, VulkanTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "direct" : "staged"; });

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>((i * 31 + i / 251) & 0xFF);
    }
    return bytes;
}

/// Another allocation's memory, as if somebody else owned it.
driver::ForeignMemory foreign(const std::shared_ptr<driver::Allocation>& memory) {
    const auto& ours = dynamic_cast<const vulkan::VulkanAllocation&>(*memory);
    return {reinterpret_cast<std::uintptr_t>(ours.buffer()), ours.offset(), ours.size, memory};
}

TEST_P(VulkanTest, DescribesItself) {
    const driver::Info& info = device_->info();
    EXPECT_EQ(info.backend, "vulkan");
    EXPECT_EQ(info.index, 0);
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.driver.empty());
    EXPECT_GT(info.memory, 1U << 20);
    EXPECT_GE(info.max_block_size, 128);
    EXPECT_THAT(info.max_groups, Each(::testing::Ge(65535U)));
    EXPECT_GE(info.subgroup_size, 1);
    EXPECT_GE(info.processors, 1);
    EXPECT_TRUE(std::is_sorted(info.features.begin(), info.features.end()));
    EXPECT_THAT(info.features, ::testing::IsSupersetOf({"buffer_device_address", "scalar_layout"}));
}

TEST_P(VulkanTest, UploadsAndReadsBackEverySize) {
    constexpr std::size_t mib = 1 << 20;
    for (const std::size_t size : {0UL, 1UL, 3UL, 31UL, 33UL, 4097UL, mib, 9 * mib + 13, 70 * mib + 1}) {
        const std::vector<std::byte> bytes = pattern(size);
        const auto allocation = device_->allocate(size);
        EXPECT_EQ(allocation->size, size);
        EXPECT_EQ(allocation->address % 256, 0);
        EXPECT_EQ(allocation->address == 0, size == 0);
        device_->upload(allocation, 0, bytes);
        std::vector<std::byte> back(size);
        device_->read_back(allocation, 0, back);
        EXPECT_TRUE(back == bytes) << size;
    }
}

TEST_P(VulkanTest, KernelsUseTheHostsMemory) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    EXPECT_EQ(device_->allocate_mapped(0), nullptr);
    EXPECT_EQ(device_->allocate_mapped(driver::most_mapped + 1), nullptr);
    for (const std::size_t words : {1UL, 31UL, 64UL, 65UL, 4097UL, 16384UL}) {
        expect_mapped_memory(*device_, kernel, words, [&](const auto& run) {
            const std::uint64_t submitted = vulkan::statistics(*device_).submissions;
            run();
            EXPECT_EQ(vulkan::statistics(*device_).submissions, submitted + 1);
        });
    }
}

TEST_P(VulkanTest, TheHostsMemoryIsUsedAgainOnceTheDeviceIsDone) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto sum = upload(*device_, Words(64, 0));
    for (std::uint32_t i = 1; i <= 400; ++i) {  // more than there is of it
        auto step = device_->allocate_mapped(driver::most_mapped);
        if (step == nullptr) step = device_->allocate(256);
        write(*device_, step, Words(64, i));
        add_step(*device_, kernel, sum, step, 0);
        if (i % 50 == 0) {
            EXPECT_THAT(read(*device_, sum), Each(i));
        }
    }
}

TEST_P(VulkanTest, TransfersPartsAtAnyByte) {
    const auto allocation = device_->allocate(100);
    device_->fill(allocation, 0, 100, 0);
    device_->upload(allocation, 7, pattern(5));
    std::vector<std::byte> back(100);
    device_->read_back(allocation, 0, back);
    std::vector<std::byte> expected(100);
    std::ranges::copy(pattern(5), expected.begin() + 7);
    EXPECT_EQ(back, expected);
    std::vector<std::byte> part(3);
    device_->read_back(allocation, 8, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), expected.begin() + 8));
}

TEST_P(VulkanTest, TheCallerMayReuseWhatItUploaded) {
    Words words(1000, 1);
    const auto a = device_->allocate(4000);
    device_->fill(a, 0, 4000, 9);  // in use, so that even direct mapping stages
    device_->upload(a, 0, std::as_bytes(std::span(words)));
    std::fill(words.begin(), words.end(), 2);
    EXPECT_THAT(read(*device_, a), Each(1U));
}

TEST_P(VulkanTest, FillsRanges) {
    const auto allocation = device_->allocate(40);
    device_->fill(allocation, 0, 40, 7);
    device_->fill(allocation, 8, 12, 0xDEADBEEF);
    device_->fill(allocation, 40, 0, 1);
    EXPECT_EQ(read(*device_, allocation), (Words{7, 7, 0xDEADBEEF, 0xDEADBEEF, 0xDEADBEEF, 7, 7, 7, 7, 7}));
}

TEST_P(VulkanTest, ZerosAreKeptForTheNextCall) {
    auto zeros = device_->zeros(1000);
    ASSERT_NE(zeros, nullptr);
    EXPECT_THAT(read(*device_, zeros), Each(0U));
    const std::uint64_t address = zeros->address;
    zeros = nullptr;
    EXPECT_EQ(device_->zeros(driver::most_zeros)->address, address);
    EXPECT_EQ(device_->zeros(driver::most_zeros + 1), nullptr);
}

TEST_P(VulkanTest, ThreadsThatMeetGetTheSameZeros) {
    // Taking the first memory takes long enough for all of them to be there.
    std::array<std::shared_ptr<driver::Allocation>, 4> zeros;
    std::barrier start(static_cast<std::ptrdiff_t>(zeros.size()));
    std::vector<std::thread> threads;
    for (std::shared_ptr<driver::Allocation>& one : zeros) {
        threads.emplace_back([&] {
            start.arrive_and_wait();
            one = device_->zeros(1000);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(zeros, Each(zeros.front()));
    EXPECT_THAT(read(*device_, zeros.front()), Each(0U));
}

TEST_P(VulkanTest, CopiesBetweenAndWithinAllocations) {
    const auto a = upload(*device_, {1, 2, 3, 4, 5, 6, 7, 8});
    const auto b = upload(*device_, Words(4, 0));
    device_->copy(b, 4, a, 8, 12);
    device_->copy(a, 0, a, 16, 16);
    device_->copy(a, 0, b, 0, 0);
    EXPECT_EQ(read(*device_, b), (Words{0, 3, 4, 5}));
    EXPECT_EQ(read(*device_, a), (Words{5, 6, 7, 8, 5, 6, 7, 8}));
}

TEST_P(VulkanTest, RefusesWhatLiesOutsideAndChangesNothing) {
    const auto a = upload(*device_, {1, 2, 3, 4});
    std::vector<std::byte> bytes(8);
    EXPECT_THAT(error_of([&] { device_->upload(a, 12, bytes); }),
                HasSubstr("index-range: vulkan: bytes to write"));
    EXPECT_THAT(error_of([&] { device_->read_back(a, ~0ULL, bytes); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->fill(a, 0, 20, 0); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->fill(a, 2, 4, 0); }), HasSubstr("layout-mismatch"));
    EXPECT_THAT(error_of([&] { device_->copy(a, 4, a, 0, 8); }), HasSubstr("aliasing"));
    EXPECT_THAT(error_of([&] { device_->copy(a, 12, a, 0, 8); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->fill(nullptr, 0, 4, 0); }), HasSubstr("device-mismatch"));
    EXPECT_EQ(read(*device_, a), (Words{1, 2, 3, 4}));
}

TEST_P(VulkanTest, DispatchesHoweverTheBlockIsPassed) {
    for (const manifest::Passing passing : passings) {
        const auto kernel = device_->load_kernel(add_step_kernel(passing));
        Words words(4097);
        std::iota(words.begin(), words.end(), 0);
        const auto source = upload(*device_, words);
        const auto target = device_->allocate(source->size);
        add_step(*device_, kernel, target, source, 5);
        std::ranges::for_each(words, [](std::uint32_t& word) { word += 5; });
        EXPECT_EQ(read(*device_, target), words);
    }
}

TEST_P(VulkanTest, AThousandDependentDispatchesRunInOrder) {
    for (const manifest::Passing passing : passings) {
        const auto kernel = device_->load_kernel(add_step_kernel(passing));
        const auto data = upload(*device_, Words(513, 3));
        const std::uint64_t before = vulkan::statistics(*device_).submissions;
        for (int i = 0; i < 1000; ++i) {
            add_step(*device_, kernel, data, data, 1);
        }
        EXPECT_THAT(read(*device_, data), Each(1003U));
        EXPECT_LE(vulkan::statistics(*device_).submissions - before, 1000 / 64 + 2) << "batched";
    }
}

TEST_P(VulkanTest, MoreBlocksThanOneChunkHolds) {
    const auto kernel = device_->load_kernel(add_step_kernel(manifest::Passing::uniform));
    const auto data = upload(*device_, Words(65, 3));
    auto recorder = device_->make_recorder();
    for (int i = 0; i < 5000; ++i) {
        add_step(*recorder, kernel, data, data, 1);
    }
    device_->submit(std::move(recorder));
    EXPECT_THAT(read(*device_, data), Each(5003U));
}

TEST_P(VulkanTest, OrdersEveryKindOfHazard) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto a = upload(*device_, Words(5000, 1));
    const auto b = upload(*device_, Words(5000, 0));
    const auto c = device_->allocate(20000);
    const std::uint32_t mark = 77;
    for (std::uint32_t round = 0; round < 100; ++round) {
        add_step(*device_, kernel, b, a, 10);  // reads a
        device_->fill(a, 0, 20000, round);     // write after read
        device_->copy(c, 0, a, 0, 20000);      // read after write
        add_step(*device_, kernel, c, c, 1);   // write after write
        device_->upload(b, 0, std::as_bytes(std::span(&mark, 1)));
        add_step(*device_, kernel, a, c, 0);
    }
    EXPECT_THAT(read(*device_, c), Each(100U));
    EXPECT_THAT(read(*device_, a), Each(100U));
    Words expected(5000, 109);
    expected[0] = 77;
    EXPECT_EQ(read(*device_, b), expected);
}

TEST_P(VulkanTest, ZeroGroupsAndEmptyMemoryAreFine) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto empty = device_->allocate(0);
    add_step(*device_, kernel, empty, empty, 1);
    device_->fill(empty, 0, 0, 1);
    device_->flush();
    device_->wait();
    EXPECT_EQ(vulkan::statistics(*device_).submissions, 0);
}

TEST_P(VulkanTest, ARefusedDispatchLeavesTheBatchAlone) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(64, 1));
    add_step(*device_, kernel, data, data, 1);
    const AddStep block{data->address, data->address, 64, 100};
    const auto bytes = std::as_bytes(std::span(&block, 1));
    const driver::Use uses[] = {{data, true}};
    expect_limited_groups(*device_, kernel, bytes, uses);
    EXPECT_THAT(error_of([&] {
                    device_->dispatch({kernel.get(), {1, 1, 1}, bytes.first(8), uses});
                }),
                HasSubstr("layout-mismatch: vulkan: kernel 'add_step' takes 24 bytes of parameters, not 8"));
    EXPECT_THAT(error_of([&] {
                    device_->dispatch({nullptr, {1, 1, 1}, bytes, uses});
                }),
                HasSubstr("device-mismatch"));
    add_step(*device_, kernel, data, data, 1);
    EXPECT_THAT(read(*device_, data), Each(3U));
}

TEST_P(VulkanTest, DispatchesUpToMaxGroups) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(100, 1));
    const AddStep block{data->address, data->address, 100, 1};
    const driver::Use uses[] = {{data, true}};
    const std::uint32_t groups = std::min(device_->info().max_groups[0], 65535U);
    device_->dispatch({kernel.get(), {groups, 1, 1}, std::as_bytes(std::span(&block, 1)), uses});
    EXPECT_THAT(read(*device_, data), Each(2U));
}

TEST_P(VulkanTest, RunsGridsOfThreeDimensions) {
    expect_grids(*device_, device_->load_kernel(add_place_kernel()));
}

TEST_P(VulkanTest, BindsBuffers) {
    const auto steps = device_->load_kernel(add_step_kernel());
    for (const manifest::Passing passing : {manifest::Passing::value, manifest::Passing::uniform}) {
        expect_buffers(*device_, 8, device_->load_kernel(add_buffers_kernel(passing)), steps);
    }
}

TEST_P(VulkanTest, RefusesBuffersThatAreTooLarge) {
    const auto kernel = device_->load_kernel(add_buffers_kernel());
    const auto small = device_->allocate(64);
    const auto large = device_->allocate((128U << 20) + 16);
    const std::string error = error_of([&] {
        add_buffers(*device_, 8, kernel, {range(large), range(small)}, 1);
    });
    if (!error.empty()) {  // llvmpipe's are smaller than GPUs'
        EXPECT_THAT(error,
                    HasSubstr("value-range: vulkan: kernel 'add_buffers': buffer 'source' has 134217744 "
                              "bytes; at most "));
    }
}

TEST_P(VulkanTest, BindsMemoryOfOthers) {
    const auto memory = device_->allocate(4096);
    const auto kernel = device_->load_kernel(add_buffers_kernel());
    const auto ones = upload(*device_, Words(1000, 1));
    for (std::uint32_t i = 0; i < 100; ++i) {  // another allocation each time
        const auto wrapped = device_->wrap(foreign(memory));
        add_buffers(*device_, 8, kernel, {range(ones), driver::BufferRange{wrapped, 0, 4000}}, i);
        add_buffers(*device_, 8, kernel,
                    {driver::BufferRange{device_->wrap(foreign(memory)), 0, 4000}, range(ones)}, 0);
    }
    EXPECT_THAT(read(*device_, ones), Each(1 + 99U * 100 / 2));
}

TEST_P(VulkanTest, RefusesResourcesThatItDoesNotBind) {
    expect_refused_resources(*device_, add_buffers_kernel(),
                             {manifest::ResourceKind::acceleration_structure});
    manifest::Kernel kernel = add_buffers_kernel();
    kernel.layouts["vulkan"].resource_places = {1, 1};
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("takes other resources than the kernel"));
    kernel.resources.clear();
    kernel.layouts["vulkan"].resource_places.clear();
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("takes other resources than the kernel"));
}

TEST_P(VulkanTest, RefusesGroupsThatAreTooLongInOneDimension) {
    manifest::Kernel kernel = add_step_kernel();
    kernel.group_size = {1, 1, 1U << 20};
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("which lacks: groups of 1048576 threads along dimension 2 (at most "));
}

TEST_P(VulkanTest, WhatACommandUsesLivesUntilItIsDone) {
    const auto result = upload(*device_, Words(64, 0));
    {
        const auto kernel = device_->load_kernel(add_step_kernel(manifest::Passing::address));
        for (std::uint32_t i = 0; i < 300; ++i) {
            const auto temporary = device_->allocate(256);
            device_->fill(temporary, 0, 256, i);
            add_step(*device_, kernel, result, temporary, 1);
        }
    }
    EXPECT_THAT(read(*device_, result), Each(300U));
    device_->wait();
    EXPECT_EQ(vulkan::statistics(*device_).used, 256) << "only `result` is left";
}

TEST_P(VulkanTest, MemoryOfOthersIsUsedInPlace) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto memory = device_->allocate(1600);
    expect_foreign_memory(*device_, kernel, foreign(memory));
}

TEST_P(VulkanTest, OwnersOfMemoryStayUntilItsCommandsAreDone) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto sum = device_->allocate(4000);
    auto recorder = device_->make_recorder();
    const std::uint64_t used = vulkan::statistics(*device_).used;
    std::weak_ptr<driver::Allocation> owner;
    {
        const auto memory = device_->allocate(4000);
        owner = memory;
        const auto wrapped = device_->wrap(foreign(memory));
        device_->fill(wrapped, 0, 4000, 5);
        add_step(*device_, kernel, sum, wrapped, 1);
        add_step(*recorder, kernel, sum, wrapped, 2);
    }
    EXPECT_FALSE(owner.expired());
    device_->wait();
    EXPECT_THAT(read(*device_, sum), Each(6U));
    EXPECT_FALSE(owner.expired()) << "the recorder needs it";
    device_->submit(std::move(recorder));
    EXPECT_THAT(read(*device_, sum), Each(7U));
    device_->wait();
    EXPECT_TRUE(owner.expired());
    EXPECT_EQ(vulkan::statistics(*device_).used, used);
}

TEST_P(VulkanTest, OwnersOfMemoryMayCallTheDevice) {
    const auto memory = device_->allocate(4000);
    int gone = 0;
    for (int i = 0; i < 100; ++i) {
        driver::ForeignMemory others = foreign(memory);
        others.owner = std::shared_ptr<void>(nullptr, [&](void*) {
            device_->flush();
            ++gone;
        });
        device_->fill(device_->wrap(std::move(others)), 0, 4000, 5);
    }
    device_->wait();
    EXPECT_EQ(gone, 100);
    EXPECT_THAT(read(*device_, memory), Each(5U));
}

TEST_P(VulkanTest, MemoryThatLiesOutsideOfItsBufferIsNotWrapped) {
    const auto memory = device_->allocate(1000);
    driver::ForeignMemory wrong = foreign(memory);
    wrong.offset = ~0ULL;
    EXPECT_THAT(error_of([&] { device_->wrap(wrong); }),
                HasSubstr("index-range: vulkan: bytes to wrap: 1000"));
    wrong.offset = 256;
    wrong.size = 1ULL << 50;
    EXPECT_THAT(error_of([&] { device_->wrap(wrong); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] {
                    device_->wrap({0, 0, 4, memory});
                }),
                HasSubstr("missing-argument: vulkan: memory to wrap has no buffer"));
    EXPECT_EQ(memory.use_count(), 2);
}

TEST_P(VulkanTest, MemoryAndKernelsOutliveTheDevice) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(64, 0));
    auto recorder = device_->make_recorder();
    add_step(*recorder, kernel, data, data, 1);
    add_step(*device_, kernel, data, data, 1);
    EXPECT_THAT(vulkan::validation_messages(*device_), ::testing::IsEmpty());
    device_ = nullptr;
    EXPECT_NE(data->address, 0);
}

TEST_P(VulkanTest, TenThousandAllocationsTakeFewBlocks) {
    std::vector<std::shared_ptr<driver::Allocation>> allocations;
    for (std::uint32_t i = 0; i < 10000; ++i) {
        allocations.push_back(device_->allocate(1 + i % 5000));
        EXPECT_EQ(allocations.back()->address % 256, 0);
    }
    EXPECT_LE(vulkan::statistics(*device_).blocks, 2);
    std::vector<std::uint64_t> addresses;
    for (const auto& allocation : allocations) {
        addresses.push_back(allocation->address);
    }
    std::ranges::sort(addresses);
    EXPECT_EQ(std::ranges::adjacent_find(addresses), addresses.end());
    const std::uint64_t reserved = vulkan::statistics(*device_).reserved;
    allocations.clear();
    EXPECT_EQ(vulkan::statistics(*device_).used, 0);
    for (std::uint32_t i = 0; i < 10000; ++i) {
        allocations.push_back(device_->allocate(1 + i % 5000));
    }
    EXPECT_EQ(vulkan::statistics(*device_).reserved, reserved) << "the same memory again";
}

TEST_P(VulkanTest, MemoryOfDoneWorkIsUsedAgain) {
    for (int i = 0; i < 100; ++i) {
        const auto big = device_->allocate(48 << 20);
        device_->fill(big, 0, 64, 1);
        device_->wait();
    }
    EXPECT_LE(vulkan::statistics(*device_).reserved, 2 * (64ULL << 20));
}

TEST_P(VulkanTest, AskingForTooMuchSaysHowMuchAndLeavesTheDeviceUsable) {
    const auto a = upload(*device_, Words(10, 4));
    for (const std::uint64_t size : {1ULL << 50, ~0ULL}) {
        const std::string error = error_of([&] { device_->allocate(size); });
        EXPECT_THAT(error, HasSubstr("out-of-memory: vulkan: out of memory on " + device_->info().name));
        EXPECT_THAT(error, HasSubstr(std::to_string(size) + " bytes wanted, 256 in use"));
    }
    EXPECT_THAT(read(*device_, a), Each(4U));
}

TEST_P(VulkanTest, RecordersRunWhenSubmittedAfterWhatWasIssued) {
    const auto kernel = device_->load_kernel(add_step_kernel(manifest::Passing::uniform));
    const auto data = upload(*device_, Words(1000, 1));
    const auto other = device_->allocate(4000);
    auto recorder = device_->make_recorder();
    for (int i = 0; i < 200; ++i) {
        add_step(*recorder, kernel, data, data, 1);
    }
    recorder->copy(other, 0, data, 0, 4000);
    recorder->fill(data, 0, 400, 5);
    EXPECT_THAT(read(*device_, data), Each(1U)) << "not run yet";
    add_step(*device_, kernel, data, data, 1000);
    device_->submit(std::move(recorder));
    add_step(*device_, kernel, other, other, 1);
    Words expected(1000, 1201);
    std::fill_n(expected.begin(), 100, 5);
    EXPECT_EQ(read(*device_, data), expected);
    EXPECT_THAT(read(*device_, other), Each(1202U));
}

TEST_P(VulkanTest, RecordersMayBeEmptyDroppedOrMany) {
    const auto kernel = device_->load_kernel(add_step_kernel(manifest::Passing::address));
    const auto data = upload(*device_, Words(64, 0));
    device_->submit(device_->make_recorder());
    {
        auto dropped = device_->make_recorder();
        add_step(*dropped, kernel, data, data, 100);
    }
    std::vector<std::unique_ptr<driver::Recorder>> recorders;
    for (int i = 0; i < 50; ++i) {
        recorders.push_back(device_->make_recorder());
        add_step(*recorders.back(), kernel, data, data, 1);
    }
    for (auto& recorder : recorders) {
        device_->submit(std::move(recorder));
    }
    EXPECT_THAT(read(*device_, data), Each(50U));
    EXPECT_THAT(error_of([&] { device_->submit(nullptr); }), HasSubstr("device-mismatch"));
}

TEST_P(VulkanTest, TwoDevicesDontMix) {
    const auto second = vulkan::open_vulkan(0, options_);
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto mine = upload(*device_, Words(64, 1));
    const auto theirs = upload(*second, Words(64, 2));
    add_step(*device_, kernel, mine, mine, 10);
    add_step(*second, second->load_kernel(add_step_kernel()), theirs, theirs, 20);
    EXPECT_THAT(read(*device_, mine), Each(11U));
    EXPECT_THAT(read(*second, theirs), Each(22U));
    EXPECT_THAT(error_of([&] { add_step(*second, kernel, theirs, theirs, 1); }),
                HasSubstr("device-mismatch: vulkan: the kernel to dispatch is not of this device"));
    EXPECT_THAT(error_of([&] { add_step(*device_, kernel, mine, theirs, 1); }), HasSubstr("device-mismatch"));
    EXPECT_THAT(error_of([&] { second->submit(device_->make_recorder()); }), HasSubstr("device-mismatch"));
    second->wait();
    EXPECT_THAT(vulkan::validation_messages(*second), ::testing::IsEmpty());
}

TEST_P(VulkanTest, FourThreadsIssueAtOnce) {
    const auto shared = device_->load_kernel(add_step_kernel(manifest::Passing::uniform));
    std::vector<std::thread> threads;
    std::vector<Words> results(4);
    for (std::uint32_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const auto kernel = device_->load_kernel(add_step_kernel());
            const auto data = upload(*device_, Words(1000, t));
            auto recorder = device_->make_recorder();
            for (int i = 0; i < 100; ++i) {
                const auto temporary = device_->allocate(4000);
                add_step(*device_, kernel, temporary, data, 1);
                add_step(*device_, shared, data, temporary, 1);
                add_step(*recorder, shared, data, data, 1);
                if (i % 25 == 0) {
                    read(*device_, temporary);
                }
            }
            device_->submit(std::move(recorder));
            results[t] = read(*device_, data);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::uint32_t t = 0; t < 4; ++t) {
        EXPECT_THAT(results[t], Each(300 + t));
    }
}

TEST_P(VulkanTest, RefusesKernelsItCantRun) {
    manifest::Kernel kernel = add_step_kernel();
    kernel.images[0].features = {"int64", "telepathy", "warp_drive"};
    EXPECT_EQ(error_of([&] { device_->load_kernel(kernel); }),
              "missing-feature: vulkan: kernel 'add_step' can't run on " + device_->info().name +
                  ", which lacks: telepathy, warp_drive");
    kernel = add_step_kernel();
    kernel.group_size = {1 << 20, 1, 1};
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("lacks: groups of 1048576 threads along dimension 0"));
    kernel = add_step_kernel();
    kernel.layouts["vulkan"].size = 4096;
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("missing-feature: vulkan: kernel 'add_step' passes 4096 bytes"));
    kernel = add_step_kernel(manifest::Passing::uniform);
    kernel.layouts["vulkan"].size = manifest::max_uniform_block + 4;
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("artifact-corrupt: vulkan: kernel 'add_step' has a parameter layout too large"));
    kernel.layouts.clear();
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }), HasSubstr("artifact-corrupt"));
    kernel = add_step_kernel();
    std::vector<std::byte> altered = kernel.images[0].bytes.copy();
    altered.resize(40, std::byte{0});
    altered[0] = std::byte{1};
    kernel.images[0].bytes = altered;
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }), HasSubstr("artifact-corrupt"));
    kernel.images[0].format = "ptx";
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }), HasSubstr("artifact-no-image"));
}

}  // namespace
}  // namespace kf::test
