// Tests of memory that others own and Vulkan uses where it lies.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "application.h"
#include "runtime/fake_driver/vulkan.h"
#include "testing.h"
#include "vulkan/driver.h"
#include "vulkan/sharing.h"

namespace kf::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Not;

constexpr std::size_t page = 4096;
constexpr std::uint64_t never = ~std::uint64_t{0};

/// Pages of poison.
class Pages {
public:
    explicit Pages(std::size_t count) : words(count * page / sizeof(std::uint32_t), poison) {
        memory_ = static_cast<std::uint32_t*>(std::aligned_alloc(page, count * page));
        std::ranges::copy(words, memory_);
    }
    ~Pages() { std::free(memory_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    [[nodiscard]] std::byte* at(std::size_t word) const {
        return reinterpret_cast<std::byte*>(memory_ + word);
    }
    /// Whether all of it is what `words` says.
    [[nodiscard]] bool is_as_expected() const {
        return std::memcmp(memory_, words.data(), words.size() * sizeof(std::uint32_t)) == 0;
    }

    Words words;  ///< what is expected

private:
    std::uint32_t* memory_ = nullptr;
};

class ImportTest : public ::testing::Test {
protected:
    void SetUp() override {
        device_ = vulkan::open_vulkan(0);
        if (device_->info().least_import == never) GTEST_SKIP() << "the driver imports no host memory";
    }
    void TearDown() override {
        device_->wait();
        EXPECT_THAT(vulkan::validation_messages(*device_), ::testing::IsEmpty());
        device_ = nullptr;
    }
    std::shared_ptr<driver::Allocation> import_words(const Pages& pages, std::size_t first,
                                                     std::size_t count) {
        return device_->import_host({pages.at(first), 4 * count, nullptr});
    }

    std::shared_ptr<driver::Device> device_;
};

TEST_F(ImportTest, KernelsUseTheHostsMemoryWhereItLies) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    struct Case {
        std::size_t pages, first, count;
    };
    for (const Case& one : {Case{1, 0, 1024}, Case{1, 1023, 1}, Case{1, 7, 64}, Case{2, 1000, 48},
                            Case{3, 1, 3000}, Case{600, 1023, 500'000}}) {
        Pages pages(one.pages);
        const auto memory = import_words(pages, one.first, one.count);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(memory->size, 4 * one.count);
        EXPECT_EQ(memory->host, pages.at(one.first));
        EXPECT_EQ(memory->address % page, one.first * 4 % page);
        const auto other = device_->allocate(4 * one.count);
        device_->fill(memory, 0, 4 * one.count, 5);
        add_step(*device_, kernel, other, memory, 1);  // 6
        add_step(*device_, kernel, memory, other, 2);  // 8
        device_->wait_until_idle(memory);
        std::fill_n(pages.words.begin() + static_cast<std::ptrdiff_t>(one.first), one.count, 8);
        EXPECT_TRUE(pages.is_as_expected()) << one.first;
        device_->copy(memory, 0, other, 0, 4);
        EXPECT_EQ(read(*device_, memory).front(), 6U);
        write(*device_, memory, {1});
        pages.words[one.first] = 1;
        device_->wait_until_idle(memory);
        EXPECT_TRUE(pages.is_as_expected()) << one.first;
    }
}

TEST_F(ImportTest, BytesMayBeginAnywhere) {
    Pages pages(3);
    const auto target = device_->allocate(5000);
    std::memset(pages.at(0) + page - 3, 7, 4999);
    const auto memory = device_->import_host({pages.at(0) + page - 3, 4999, nullptr});
    ASSERT_NE(memory, nullptr);
    device_->copy(target, 1, memory, 0, 4999);
    std::vector<std::byte> found(4999);
    device_->read_back(target, 1, found);
    EXPECT_THAT(found, Each(std::byte{7}));
}

TEST_F(ImportTest, ImportsMaySharePages) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    Pages pages(3);
    std::vector<std::shared_ptr<driver::Allocation>> parts;
    for (std::size_t i = 0; i < 10; ++i) {
        parts.push_back(import_words(pages, 300 * i + 10, 200));
        ASSERT_NE(parts.back(), nullptr);
        device_->fill(parts.back(), 0, 800, static_cast<std::uint32_t>(i));
        std::fill_n(pages.words.begin() + static_cast<std::ptrdiff_t>(300 * i + 10), 200,
                    i + (i > 0 ? 8 : 0));
    }
    for (std::size_t i = 1; i < 10; ++i) add_step(*device_, kernel, parts[i], parts[i], 8);
    device_->wait();
    EXPECT_TRUE(pages.is_as_expected());
}

TEST_F(ImportTest, NothingIsImportedOfNoBytesOrTooMany) {
    const Pages pages(1);
    EXPECT_EQ(device_->import_host({pages.at(0), 0, nullptr}), nullptr);
    EXPECT_EQ(device_->import_host({nullptr, 0, nullptr}), nullptr);
    EXPECT_EQ(device_->import_host({pages.at(0), 1ULL << 50, nullptr}), nullptr);
}

TEST_F(ImportTest, MemoryThatIsOnlyReadMayBeReadOnly) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
    const Words words(3000, 41);
    ASSERT_EQ(std::fwrite(words.data(), 4, words.size(), file.get()), words.size());
    std::fflush(file.get());
    for (const int kind : {MAP_PRIVATE, MAP_SHARED}) {
        void* const mapped = mmap(nullptr, 12000, PROT_READ, kind, fileno(file.get()), 0);
        ASSERT_NE(mapped, MAP_FAILED);
        const auto memory = device_->import_host({static_cast<std::byte*>(mapped), 12000, nullptr});
        if (memory != nullptr) {  // drivers may refuse
            const auto target = device_->allocate(12000);
            add_step(*device_, device_->load_kernel(add_step_kernel()), target, memory, 1);
            EXPECT_THAT(read(*device_, target), Each(42U));
        }
        munmap(mapped, 12000);
    }
}

TEST_F(ImportTest, OwnersStayUntilTheCommandsAreDone) {
    const Pages pages(1);
    std::weak_ptr<int> seen;
    {
        auto owner = std::make_shared<int>(1);
        seen = owner;
        const auto memory = device_->import_host({pages.at(0), page, std::move(owner)});
        device_->fill(memory, 0, page, 3);
        EXPECT_FALSE(seen.expired());
        device_->wait_until_idle(memory);
    }
    EXPECT_TRUE(seen.expired());
    EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(pages.at(1023)), 3U);
}

TEST_F(ImportTest, ThreadsImportSideBySide) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    Pages pages(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        std::fill_n(pages.words.begin() + static_cast<std::ptrdiff_t>(1000 * t), 1000, poison + 50);
        threads.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < 50; ++i) {
                const auto memory = import_words(pages, 1000 * t, 1000);
                add_step(*device_, kernel, memory, memory, 1);
                device_->wait_until_idle(memory);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(pages.is_as_expected());
}

TEST_F(ImportTest, DevicesMayDoWithout) {
    EXPECT_THAT(device_->info().features, Contains("external_memory_host"));
    setenv("KF_VULKAN_WITHOUT", "external_memory_host", 1);
    const auto without = vulkan::open_vulkan(0);
    unsetenv("KF_VULKAN_WITHOUT");
    EXPECT_THAT(without->info().features, Not(Contains("external_memory_host")));
    EXPECT_EQ(without->info().least_import, never);
    const Pages pages(1);
    EXPECT_EQ(without->import_host({pages.at(0), page, nullptr}), nullptr);
}

TEST_F(ImportTest, MemoryIsOfItsDevice) {
    const Pages pages(1);
    const auto memory = import_words(pages, 0, 10);
    const auto other = vulkan::open_vulkan(0);
    EXPECT_THAT(error_of([&] { other->fill(memory, 0, 40, 1); }),
                ::testing::HasSubstr("device-mismatch: vulkan: the memory to fill is not of this device"));
    EXPECT_THAT(error_of([&] { other->wait_until_idle(memory); }), ::testing::HasSubstr("device-mismatch"));
    EXPECT_THAT(error_of([&] { device_->fill(memory, 0, 44, 1); }), ::testing::HasSubstr("index-range"));
}

TEST(Import, AdoptedDevicesImportWhereTheExtensionIsOn) {
    const VulkanApplication application;
    for (const bool says_so : {false, true}) {
        vulkan::AdoptedVulkan adopted;
        adopted.instance = application.instance();
        adopted.physical_device = application.physical_device();
        adopted.device = application.device();
        adopted.queue = application.queue();
        adopted.features = application.features();
        if (says_so) adopted.features.emplace_back("external_memory_host");
        const auto device = vulkan::adopt_vulkan(adopted);
        EXPECT_EQ(device->info().least_import, never) << "it was made without";
        const Pages pages(1);
        EXPECT_EQ(device->import_host({pages.at(0), page, nullptr}), nullptr);
    }
}

TEST(Import, MemoryAndSemaphoresAreSharedWhereTheDeviceCan) {
    const auto device = vulkan::open_vulkan(0);
    if (!vulkan::can_share(*device)) {
        EXPECT_THAT(error_of([&] { (void)vulkan::make_shared_memory(*device, page); }),
                    ::testing::HasSubstr("lacks external_files, without which no memory is shared"));
        EXPECT_THAT(error_of([&] { const vulkan::SharedTimeline timeline(*device); }),
                    ::testing::HasSubstr("missing-feature"));
        EXPECT_THAT(device->info().features, Not(Contains("external_files")));
        return;
    }
    const vulkan::SharedMemory shared = vulkan::make_shared_memory(*device, 1 << 20);
    const auto imported = vulkan::import_memory(*device, shared.file, 1 << 20);
    ASSERT_NE(imported, nullptr);
    vulkan::SharedTimeline timeline(*device);
    device->fill(shared.memory, 0, 1 << 20, 5);
    timeline.signal(1);
    timeline.wait(1);
    const auto part = vulkan::part_of(*device, imported, 4096, 8192);
    EXPECT_THAT(read(*device, part), Each(5U));
    const int file = timeline.file();
    EXPECT_GE(file, 0);
    close(file);
    device->wait();
    EXPECT_THAT(vulkan::validation_messages(*device), ::testing::IsEmpty());
}

class FakeImportTest : public ImportTest {
protected:
    void SetUp() override {
        vulkan::OpenOptions options;
        options.get_instance_proc_addr = fake_.entry_point();
        device_ = vulkan::open_vulkan(0, options);
        if (device_->info().least_import == never) GTEST_SKIP() << "the driver imports no host memory";
    }

    FakeVulkan fake_;
};

TEST_F(FakeImportTest, WhatTheDriverDoesNotTakeIsCopied) {
    const Pages pages(1);
    const std::size_t live = fake_.live_memory;
    auto owner = std::make_shared<int>(1);
    fake_.memory_limit = fake_.live_bytes;
    EXPECT_EQ(device_->import_host({pages.at(0), page, owner}), nullptr);
    fake_.memory_limit = ~0ULL;
    EXPECT_EQ(fake_.live_memory, live);
    EXPECT_EQ(owner.use_count(), 1);
    {
        const auto memory = import_words(pages, 0, 100);
        device_->fill(memory, 0, 400, 1);
        EXPECT_EQ(fake_.live_memory, live + 1);
        device_->wait_until_idle(memory);
    }
    EXPECT_EQ(fake_.live_memory, live);
}

TEST_F(FakeImportTest, TheHostWaitsForListsAndGraphs) {
    for (const bool is_graph : {false, true}) {
        Pages pages(1);
        const auto memory = import_words(pages, 0, 1024);
        const auto wait_in_vain = [&](const auto& access) {
            device_->while_waiting = [] { throw std::runtime_error("enough"); };
            fake_.wait_semaphores = VK_TIMEOUT;
            EXPECT_THROW(access(), std::runtime_error) << is_graph;
            fake_.wait_semaphores = VK_SUCCESS;
            device_->while_waiting = nullptr;
        };
        const auto graph = device_->make_graph();
        auto recorder = device_->make_recorder();
        graph->fill(memory, 0, page, 9);
        recorder->fill(memory, 0, page, 9);
        fake_.stuck = true;
        is_graph ? device_->replay(*graph) : device_->submit(std::move(recorder));
        wait_in_vain([&] { read(*device_, memory); });
        wait_in_vain([&] { device_->wait_until_idle(memory); });
        const std::uint64_t before = vulkan::statistics(*device_).submissions;
        write(*device_, memory, {1});
        device_->flush();
        EXPECT_EQ(vulkan::statistics(*device_).submissions, before + 1) << "what was written waits behind";
        fake_.stuck = false;
        EXPECT_EQ(read(*device_, memory).front(), 1U);
        std::ranges::fill(pages.words, 9U);
        pages.words.front() = 1;
        EXPECT_TRUE(pages.is_as_expected());
    }
}

TEST_F(FakeImportTest, WhatIsImportedTwiceIsInOrder) {
    const Pages pages(1);
    const auto one = import_words(pages, 0, 1000);
    const auto other = import_words(pages, 500, 500);
    device_->wait();
    const std::size_t before = fake_.barriers;
    device_->fill(one, 0, 4000, 1);
    device_->fill(other, 0, 2000, 2);
    device_->wait();
    EXPECT_EQ(fake_.barriers - before, 3U) << "one opens the command buffer, one closes it";
}

TEST_F(FakeImportTest, OwnersStayWhereAWaitIsGivenUp) {
    const Pages pages(1);
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> seen = owner;
    device_->while_waiting = [] { throw std::runtime_error("enough"); };
    {
        const auto memory = device_->import_host({pages.at(0), page, std::move(owner)});
        device_->fill(memory, 0, page, 9);
        fake_.stuck = true;
        fake_.wait_semaphores = VK_TIMEOUT;
        EXPECT_THROW(device_->wait_until_idle(memory), std::runtime_error);
    }
    EXPECT_FALSE(seen.expired());
    fake_.stuck = false;
    fake_.wait_semaphores = VK_SUCCESS;
    device_->wait();
    EXPECT_TRUE(seen.expired());
    EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(pages.at(0)), 9U);
}

}  // namespace
}  // namespace kf::test
