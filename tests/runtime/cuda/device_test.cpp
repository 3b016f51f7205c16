// Tests of a CUDA device: transfers, commands and their order, lists, memory, threads.
#include <algorithm>
#include <numeric>
#include <thread>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

using DeviceTest = CudaTest;
INSTANTIATE_TEST_SUITE_P(Cuda, DeviceTest, ::testing::Values(Driver::fake, Driver::real), driver_name);

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>((i * 31 + i / 251) & 0xFF);
    }
    return bytes;
}

TEST_P(DeviceTest, DescribesItself) {
    const driver::Info& info = device_->info();
    EXPECT_EQ(info.backend, "cuda");
    EXPECT_EQ(info.index, 0);
    EXPECT_FALSE(info.name.empty());
    EXPECT_THAT(info.driver, HasSubstr("CUDA 1"));
    EXPECT_FALSE(info.is_cpu);
    EXPECT_GT(info.memory, 1U << 20);
    EXPECT_EQ(info.max_block_size, 4096);
    EXPECT_EQ(info.max_groups, (driver::Grid{0x7FFFFFFF, 65535, 65535}));
    EXPECT_EQ(info.subgroup_size, 32);
    EXPECT_GE(info.processors, 1);
    EXPECT_TRUE(std::is_sorted(info.features.begin(), info.features.end()));
    EXPECT_THAT(info.features,
                ::testing::IsSupersetOf({"float16", "float64", "int64", "subgroup_arithmetic"}));
}

TEST_P(DeviceTest, UploadsAndReadsBackEverySize) {
    constexpr std::size_t mib = 1 << 20;
    for (const std::size_t size : {0UL, 1UL, 3UL, 31UL, 33UL, 4097UL, mib, 9 * mib + 13, 37 * mib + 1}) {
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

TEST_P(DeviceTest, KernelsUseTheHostsMemory) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    EXPECT_EQ(device_->allocate_mapped(0), nullptr);
    EXPECT_EQ(device_->allocate_mapped(driver::most_mapped + 1), nullptr);
    for (const std::size_t words : {1UL, 31UL, 64UL, 65UL, 4097UL, 16384UL}) {
        const auto memory = device_->allocate_mapped(4 * words);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(memory->address % 256, 0);
        expect_mapped_memory(*device_, kernel, words, [](const auto& run) { run(); });
    }
}

TEST_P(DeviceTest, TheHostsMemoryIsUsedAgainOnceTheDeviceIsDone) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto sum = upload(*device_, Words(64, 0));
    for (std::uint32_t i = 1; i <= 3000; ++i) {  // more than the pool has
        auto step = device_->allocate_mapped(256);
        if (step == nullptr) step = device_->allocate(256);
        write(*device_, step, Words(64, i));
        add_step(*device_, kernel, sum, step, 0);
        if (i % 100 == 0) {
            EXPECT_THAT(read(*device_, sum), Each(i));
        }
    }
    const auto big = device_->allocate_mapped(driver::most_mapped);
    const std::byte* const first = device_->allocate_mapped(256)->host;
    device_->wait();
    EXPECT_NE(device_->allocate_mapped(256)->host, nullptr);
    EXPECT_NE(big->host, first);
}

TEST_P(DeviceTest, LittleIsReadThroughPinnedMemory) {
    const auto data = upload(*device_, Words(16385, 7));
    Words words(16384);
    for (int i = 0; i < 3; ++i) {
        device_->read_back(data, 4, std::as_writable_bytes(std::span(words)));
        EXPECT_THAT(words, Each(7U));
    }
    if (fake_) {
        EXPECT_LE(fake_->calls["cuMemHostAlloc"], 2U);
    }
    EXPECT_THAT(read(*device_, data), Each(7U));
}

TEST_P(DeviceTest, TransfersPartsAtAnyByte) {
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

TEST_P(DeviceTest, TheCallerMayReuseWhatItUploaded) {
    Words words(1000, 1);
    const auto a = device_->allocate(4000);
    device_->upload(a, 0, std::as_bytes(std::span(words)));
    std::fill(words.begin(), words.end(), 2);
    EXPECT_THAT(read(*device_, a), Each(1U));
}

TEST_P(DeviceTest, ManyUploadsDontOvertakeEachOther) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto a = device_->allocate(400'000);
    const auto sum = upload(*device_, Words(100'000, 0));
    for (std::uint32_t i = 1; i <= 100; ++i) {  // 40 MB, more than waits in pinned memory
        const Words words(100'000, i);
        device_->upload(a, 0, std::as_bytes(std::span(words)));
        add_step(*device_, kernel, sum, a, 1000);
    }
    EXPECT_THAT(read(*device_, sum), Each(1100U));
}

TEST_P(DeviceTest, FillsRanges) {
    const auto allocation = device_->allocate(40);
    device_->fill(allocation, 0, 40, 7);
    device_->fill(allocation, 8, 12, 0xDEADBEEF);
    device_->fill(allocation, 40, 0, 1);
    EXPECT_EQ(read(*device_, allocation), (Words{7, 7, 0xDEADBEEF, 0xDEADBEEF, 0xDEADBEEF, 7, 7, 7, 7, 7}));
}

TEST_P(DeviceTest, CopiesBetweenAndWithinAllocations) {
    const auto a = upload(*device_, {1, 2, 3, 4, 5, 6, 7, 8});
    const auto b = upload(*device_, Words(4, 0));
    device_->copy(b, 4, a, 8, 12);
    device_->copy(a, 0, a, 16, 16);
    device_->copy(a, 0, b, 0, 0);
    EXPECT_EQ(read(*device_, b), (Words{0, 3, 4, 5}));
    EXPECT_EQ(read(*device_, a), (Words{5, 6, 7, 8, 5, 6, 7, 8}));
}

TEST_P(DeviceTest, RefusesWhatLiesOutsideAndChangesNothing) {
    const auto a = upload(*device_, {1, 2, 3, 4});
    std::vector<std::byte> bytes(8);
    EXPECT_THAT(error_of([&] { device_->upload(a, 12, bytes); }),
                HasSubstr("index-range: cuda: bytes to write"));
    EXPECT_THAT(error_of([&] { device_->read_back(a, ~0ULL, bytes); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->fill(a, 0, 20, 0); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->fill(a, 2, 4, 0); }), HasSubstr("layout-mismatch"));
    EXPECT_THAT(error_of([&] { device_->copy(a, 4, a, 0, 8); }), HasSubstr("aliasing"));
    EXPECT_THAT(error_of([&] { device_->copy(a, 12, a, 0, 8); }), HasSubstr("index-range"));
    EXPECT_THAT(error_of([&] { device_->fill(nullptr, 0, 4, 0); }), HasSubstr("device-mismatch"));
    EXPECT_EQ(read(*device_, a), (Words{1, 2, 3, 4}));
}

TEST_P(DeviceTest, AThousandDependentDispatchesRunInOrder) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(513, 3));
    for (int i = 0; i < 1000; ++i) {
        add_step(*device_, kernel, data, data, 1);
    }
    EXPECT_THAT(read(*device_, data), Each(1003U));
}

TEST_P(DeviceTest, ZeroGroupsAndEmptyMemoryAreFine) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto empty = device_->allocate(0);
    add_step(*device_, kernel, empty, empty, 1);
    device_->fill(empty, 0, 0, 1);
    device_->flush();
    device_->wait();
}

TEST_P(DeviceTest, ARefusedDispatchDoesNothing) {
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
                HasSubstr("layout-mismatch: cuda: kernel 'add_step' takes 24 bytes of parameters, not 8"));
    EXPECT_THAT(error_of([&] {
                    device_->dispatch({nullptr, {1, 1, 1}, bytes, uses});
                }),
                HasSubstr("device-mismatch"));
    add_step(*device_, kernel, data, data, 1);
    EXPECT_THAT(read(*device_, data), Each(3U));
}

TEST_P(DeviceTest, RunsGridsOfThreeDimensions) {
    expect_grids(*device_, device_->load_kernel(add_place_kernel()));
}

TEST_P(DeviceTest, BindsBuffers) {
    const auto steps = device_->load_kernel(add_step_kernel());
    expect_buffers(*device_, 40, device_->load_kernel(add_buffers_kernel()), steps);
}

TEST_P(DeviceTest, RefusesResourcesThatItDoesNotBind) {
    expect_refused_resources(*device_, add_buffers_kernel(),
                             {manifest::ResourceKind::acceleration_structure});
}

TEST_P(DeviceTest, RefusesGroupsThatAreTooLongInOneDimension) {
    manifest::Kernel kernel = add_step_kernel();
    kernel.group_size = {1, 1, 65};
    EXPECT_THAT(error_of([&] { device_->load_kernel(kernel); }),
                HasSubstr("which lacks: groups of 65 threads along dimension 2 (at most 64)"));
}

TEST_P(DeviceTest, RecordsNowAndRunsAtSubmit) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto a = upload(*device_, Words(1000, 1));
    auto b = device_->allocate(4000);
    const auto recorder = [&] {
        auto made = device_->make_recorder();
        made->fill(b, 0, 4000, 5);
        add_step(*made, kernel, a, b, 10);
        made->copy(a, 0, b, 0, 400);
        EXPECT_THAT(error_of([&] { made->fill(b, 4000, 4, 0); }), HasSubstr("index-range"));
        EXPECT_THAT(error_of([&] { made->copy(b, 0, b, 4, 8); }), HasSubstr("aliasing"));
        return made;
    };
    auto first = recorder();
    auto dropped = recorder();
    b = nullptr;  // the recorder keeps it
    dropped = nullptr;
    EXPECT_THAT(read(*device_, a), Each(1U));
    add_step(*device_, kernel, a, a, 100);
    device_->submit(std::move(first));
    Words expected(1000, 15);
    std::fill(expected.begin(), expected.begin() + 100, 5);
    EXPECT_EQ(read(*device_, a), expected);
    EXPECT_THAT(error_of([&] { device_->submit(nullptr); }), HasSubstr("device-mismatch"));
}

TEST_P(DeviceTest, MemoryThatWentIsReusedOnlyWhenItsWorkIsDone) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto sum = upload(*device_, Words(1000, 0));
    for (std::uint32_t i = 0; i < 50; ++i) {
        const auto temporary = device_->allocate(4000);
        device_->fill(temporary, 0, 4000, i);
        add_step(*device_, kernel, temporary, temporary, 1);
        add_step(*device_, kernel, sum, temporary, 1);
    }
    EXPECT_THAT(read(*device_, sum), Each(51U));
}

TEST_P(DeviceTest, ScratchIsForOneOwnerAndComesBack) {
    auto first = device_->allocate_scratch(1000);
    auto second = device_->allocate_scratch(1000);
    EXPECT_NE(first->address, second->address);
    const std::uint64_t address = first->address;
    first = nullptr;
    first = device_->allocate_scratch(600);
    EXPECT_EQ(first->address, address) << "what one call used is kept for the next";
    first = nullptr;
    EXPECT_GE(device_->allocate_scratch(5000)->size, 5000);
    second = nullptr;
    device_->wait();
    EXPECT_EQ(cuda::statistics(*device_).used > 0, true) << "one is kept";
}

TEST_P(DeviceTest, ZerosAreKeptForTheNextCall) {
    auto zeros = device_->zeros(1000);
    ASSERT_NE(zeros, nullptr);
    EXPECT_THAT(read(*device_, zeros), Each(0U));
    const std::uint64_t address = zeros->address;
    zeros = nullptr;
    EXPECT_EQ(device_->zeros(driver::most_zeros)->address, address);
    EXPECT_EQ(device_->zeros(driver::most_zeros + 1), nullptr);
}

TEST_P(DeviceTest, MemoryIsForTheNextWhoTakesAsMuch) {
    std::vector<std::shared_ptr<driver::Allocation>> held;
    for (std::uint64_t i = 0; i < 40; ++i) held.push_back(device_->allocate(1000 + i % 20));
    const std::uint64_t address = held.back()->address;
    held.back() = nullptr;
    EXPECT_NE(device_->allocate(1000)->address, address);
    held.back() = device_->allocate(1019);
    EXPECT_EQ(held.back()->address, address);
    EXPECT_NE(device_->allocate(1019)->address, address);
    // More than are kept, some of them; data is as new memory's: whatever was written to it.
    held.clear();
    for (std::uint64_t i = 0; i < 20; ++i) held.push_back(upload(*device_, Words(300 + i, 7)));
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_THAT(read(*device_, held[i]), Each(7U));
    held.clear();
    device_->wait();
    EXPECT_EQ(cuda::statistics(*device_).used, 0);
}

TEST_P(DeviceTest, MemoryGoesBackToThePoolAndStaysThere) {
    auto data = upload(*device_, Words(1 << 20, 1));
    device_->wait();
    EXPECT_GE(cuda::statistics(*device_).used, 4U << 20);
    data = nullptr;
    device_->wait();
    EXPECT_EQ(cuda::statistics(*device_).used, 0);
    EXPECT_GE(cuda::statistics(*device_).reserved, 4U << 20);
}

TEST_P(DeviceTest, TensorsOutliveTheDevice) {
    const auto data = upload(*device_, Words(100, 1));
    const auto kernel = device_->load_kernel(add_step_kernel());
    add_step(*device_, kernel, data, data, 1);
    device_ = nullptr;
    EXPECT_NE(data->address, 0);
}

TEST_P(DeviceTest, ThreadsShareADevice) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    std::vector<std::thread> threads;
    std::vector<Words> results(4);
    for (std::uint32_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const auto mine = device_->load_kernel(add_step_kernel());
            const auto data = upload(*device_, Words(1000, t));
            for (int i = 0; i < 100; ++i) {
                add_step(*device_, i % 2 == 0 ? kernel : mine, data, data, 1);
                const auto scratch = device_->allocate_scratch(100);
                device_->fill(scratch, 0, 100, t);
            }
            results[t] = read(*device_, data);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::uint32_t t = 0; t < 4; ++t) {
        EXPECT_THAT(results[t], Each(t + 100));
    }
}

}  // namespace
}  // namespace kf::test
