// Tests of what goes wrong between us and the driver, with one that misbehaves, and of adopted devices.
#include "vulkan/driver.h"

#include <dlfcn.h>

#include <barrier>
#include <chrono>
#include <latch>
#include <mutex>
#include <thread>

#include "application.h"
#include "runtime/fake_driver/vulkan.h"
#include "testing.h"
#include "vulkan/memory.h"

namespace kf::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

class FakeDriverTest : public ::testing::Test {
protected:
    FakeDriverTest() { options_.get_instance_proc_addr = fake_.entry_point(); }

    std::shared_ptr<driver::Device> open() { return vulkan::open_vulkan(0, options_); }
    /// Both ways to ask must agree on why there is no device.
    std::string why_not() {
        std::string reason;
        EXPECT_THAT(vulkan::enumerate_vulkan(&reason, options_), IsEmpty());
        EXPECT_THAT(error_of([&] { open(); }), HasSubstr(reason));
        return error_of([&] { open(); });
    }

    FakeVulkan fake_;
    vulkan::OpenOptions options_;
};

TEST(Driver, NoLibrary) {
    vulkan::OpenOptions options;
    options.library = "libvulkan-that-is-not-there.so.1";
    std::string reason;
    EXPECT_THAT(vulkan::enumerate_vulkan(&reason, options), IsEmpty());
    EXPECT_THAT(reason, HasSubstr("vulkan: can't open libvulkan-that-is-not-there.so.1"));
    EXPECT_EQ(reason.find('\n'), std::string::npos);
    EXPECT_THAT(error_of([&] { vulkan::open_vulkan(0, options); }), HasSubstr("no-driver: " + reason));
    options.library = "libdl.so.2";
    EXPECT_THAT(error_of([&] { vulkan::open_vulkan(0, options); }),
                HasSubstr("no-driver: vulkan: libdl.so.2 has no vkGetInstanceProcAddr"));
}

TEST(Driver, Enumerates) {
    std::string reason = "left over";
    const std::vector<driver::Info> devices = vulkan::enumerate_vulkan(&reason);
    ASSERT_FALSE(devices.empty()) << reason;
    EXPECT_EQ(reason, "");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        EXPECT_EQ(devices[i].index, static_cast<int>(i));
        EXPECT_EQ(vulkan::open_vulkan(static_cast<int>(i))->info().name, devices[i].name);
    }
    for (const int index : {-1, static_cast<int>(devices.size())}) {
        EXPECT_THAT(error_of([&] { vulkan::open_vulkan(index); }),
                    HasSubstr("no-device: vulkan: there is no device " + std::to_string(index)));
    }
}

/// What a thread that waits asks; the second time it has enough.
void give_up() {
    static int asked = 0;
    if (++asked % 2 == 0) {
        throw std::runtime_error("enough");
    }
}

TEST_F(FakeDriverTest, AWaitThatIsGivenUpKeepsTheWork) {
    for (const bool mapped : {false, true}) {
        options_.direct_mapping = mapped;
        const auto device = open();
        const auto data = upload(*device, Words(100, 1));
        device->while_waiting = &give_up;
        fake_.wait_semaphores = VK_TIMEOUT;
        fake_.stuck = true;                       // a GPU is done before anyone waits
        for (std::uint32_t i = 0; i < 64; ++i) {  // one batch
            device->fill(data, 4 * i, 4, i);
        }
        EXPECT_THROW(device->wait(), std::runtime_error);
        EXPECT_THROW(read(*device, data), std::runtime_error);
        fake_.wait_semaphores = VK_SUCCESS;
        fake_.stuck = false;
        const Words found = read(*device, data);
        for (std::uint32_t i = 0; i < 100; ++i) {
            EXPECT_EQ(found[i], i < 64 ? i : 1U);
        }
    }
}

TEST_F(FakeDriverTest, GpusAreAskedBeforeAThreadSleeps) {
    fake_.discrete = true;
    const auto device = open();
    const auto data = upload(*device, Words(100, 1));
    device->wait();
    const std::size_t waits = fake_.waits;
    device->wait();
    EXPECT_EQ(fake_.waits, waits);
    fake_.stuck = true;
    device->wait();
    EXPECT_EQ(fake_.waits, waits + 1);
    fake_.stuck = false;
    const auto mapped = device->allocate_mapped(400);
    ASSERT_NE(mapped, nullptr) << "host memory, as discrete GPUs have it";
    write(*device, mapped, Words(100, 6));
    EXPECT_THAT(read(*device, mapped), Each(6U));
    EXPECT_THAT(read(*device, data), Each(1U));
}

TEST_F(FakeDriverTest, OnlyCpusAreAskedToKeepLoops) {
    const manifest::Kernel kernel =
        spirv_kernel("atomic_loops", "main", {64, 1, 1}, {8, {}, manifest::Passing::value});
    for (const bool discrete : {false, true}) {
        fake_.discrete = discrete;
        const auto device = open();
        (void)device->load_kernel(kernel);
        const std::span<const std::byte> given = std::as_bytes(std::span(fake_.shader_code));
        EXPECT_EQ(std::ranges::equal(given, kernel.images.front().bytes.span()), !device->info().is_cpu);
        EXPECT_FALSE(discrete && device->info().is_cpu);
    }
}

TEST_F(FakeDriverTest, OwnersOfMemoryStayWhileTheGpuIsBusy) {
    const auto device = open();
    const auto memory = device->allocate(400);
    const auto& ours = dynamic_cast<const vulkan::VulkanAllocation&>(*memory);
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> seen = owner;
    auto wrapped =
        device->wrap({reinterpret_cast<std::uintptr_t>(ours.buffer()), ours.offset(), 400, std::move(owner)});
    device->fill(wrapped, 0, 400, 7);
    wrapped = nullptr;
    fake_.stuck = true;
    const auto other = device->allocate(400);
    for (int i = 0; i < 3; ++i) {
        device->fill(other, 0, 4, 7);
        device->flush();
    }
    EXPECT_FALSE(seen.expired());
    fake_.stuck = false;
    device->wait();
    EXPECT_TRUE(seen.expired());
    EXPECT_THAT(read(*device, memory), Each(7U));
}

TEST_F(FakeDriverTest, ManyCallsWaitForRoomBeforeTheyBegin) {
    const auto device = open();
    const auto data = upload(*device, Words(100, 1));
    device->wait();
    device->while_waiting = [] { throw std::runtime_error("busy"); };
    device->admit();
    fake_.stuck = true;
    std::size_t calls = 0;
    fake_.wait_semaphores = VK_TIMEOUT;
    EXPECT_THROW(
        {
            for (; calls < 10'000; ++calls) {
                device->admit();
                device->fill(data, 0, 400, 7);
            }
        },
        std::runtime_error);
    EXPECT_EQ(calls, 16U * 64);
    fake_.stuck = false;
    fake_.wait_semaphores = VK_SUCCESS;
    device->while_waiting = nullptr;
    device->admit(400);
    EXPECT_THAT(read(*device, data), Each(7U));
}

TEST_F(FakeDriverTest, GraphsThatChangeGiveBackTheirBlocks) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel(manifest::Passing::uniform));
    const auto data = upload(*device, Words(10, 0));
    std::vector<std::unique_ptr<driver::Graph>> graphs;
    for (int i = 0; i < 40; ++i) {  // in all more runs than there are chunks of blocks
        graphs.push_back(device->make_graph());
        add_step(*graphs.back(), kernel, data, data, 0);
        fake_.stuck = true;
        for (std::uint32_t run = 1; run <= 30; ++run) {
            const AddStep block{data->address, data->address, 10, run};
            graphs.back()->set_block(0, std::as_bytes(std::span(&block, 1)));
            device->replay(*graphs.back());
        }
        fake_.stuck = false;
        device->wait();
    }
    EXPECT_THAT(read(*device, data), Each(40U * 30 * 31 / 2));
}

TEST_F(FakeDriverTest, NoDriver) {
    fake_.create_instance = VK_ERROR_INCOMPATIBLE_DRIVER;
    EXPECT_EQ(why_not(), "no-driver: vulkan: no Vulkan driver is installed: VK_ERROR_INCOMPATIBLE_DRIVER");
}

TEST_F(FakeDriverTest, NoDevice) {
    fake_.no_devices = true;
    EXPECT_EQ(why_not(), "no-device: vulkan: the drivers find no device");
}

TEST_F(FakeDriverTest, DevicesWithoutWhatIsNeeded) {
    for (const char* feature : {"bufferDeviceAddress", "scalarBlockLayout", "timelineSemaphore"}) {
        fake_.missing_feature = feature;
        EXPECT_THAT(why_not(),
                    ::testing::MatchesRegex(std::string("no-device: vulkan: .* lacks ") + feature));
    }
    fake_.api_version = VK_API_VERSION_1_1;
    EXPECT_THAT(why_not(), HasSubstr("lacks Vulkan 1.2 (it has 1.1.0)"));
}

TEST_F(FakeDriverTest, ADeviceThatCantBeCreated) {
    fake_.create_device = VK_ERROR_INITIALIZATION_FAILED;
    EXPECT_THAT(error_of([&] { open(); }),
                ::testing::MatchesRegex("no-driver: vulkan: can't create a device on .*: "
                                        "VK_ERROR_INITIALIZATION_FAILED"));
}

TEST_F(FakeDriverTest, AFunctionThatIsMissing) {
    fake_.missing_function = "vkWaitSemaphores";
    EXPECT_THAT(error_of([&] { open(); }),
                HasSubstr("no-driver: vulkan: the driver has no vkWaitSemaphores"));
}

TEST_F(FakeDriverTest, OutOfMemoryFreesUnusedBlocksAndTriesAgain) {
    const auto device = open();
    fake_.memory_limit = 100ULL << 20;
    const auto small = upload(*device, Words(10, 3));
    { const auto large = device->allocate(60 << 20); }
    const auto other = device->allocate(80 << 20);
    EXPECT_NE(other->address, 0) << "the 60 MiB were given back";
    const std::string error = error_of([&] { device->allocate(30 << 20); });
    EXPECT_THAT(error, HasSubstr("out-of-memory: vulkan: out of memory on "));
    EXPECT_THAT(error, HasSubstr("31457280 bytes wanted, 83886336 in use, 92274688 reserved"));
    EXPECT_THAT(read(*device, small), Each(3U));
}

TEST_F(FakeDriverTest, OutOfMemoryWaitsForBatchesThatHoldMemory) {
    const auto device = open();
    fake_.memory_limit = 100ULL << 20;
    for (std::uint32_t i = 0; i < 10; ++i) {
        const auto temporary = device->allocate(60 << 20);
        device->fill(temporary, 0, 60 << 20, i);
    }
    device->wait();
    EXPECT_EQ(vulkan::statistics(*device).used, 0);
}

TEST_F(FakeDriverTest, SmallerBlocksWhenALargeOneDoesntFit) {
    const auto device = open();
    fake_.memory_limit = 20ULL << 20;
    std::vector<std::shared_ptr<driver::Allocation>> held;
    for (int i = 0; i < 4; ++i) {
        held.push_back(device->allocate(4 << 20));
    }
    EXPECT_EQ(held.size(), 4);
}

TEST_F(FakeDriverTest, AFailedSubmitLosesItsBatchOnly) {
    const auto device = open();
    const auto a = upload(*device, Words(16, 1));
    device->wait();
    device->fill(a, 0, 32, 2);
    device->fill(a, 32, 32, 2);
    fake_.queue_submit = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_EQ(
        error_of([&] { device->flush(); }),
        "out-of-memory: vulkan: vkQueueSubmit failed, 2 commands were not run: VK_ERROR_OUT_OF_HOST_MEMORY");
    fake_.queue_submit = VK_SUCCESS;
    EXPECT_THAT(read(*device, a), Each(1U));
    device->fill(a, 0, 64, 3);
    EXPECT_THAT(read(*device, a), Each(3U));
}

TEST_F(FakeDriverTest, AFailedSubmitLosesItsZerosToo) {
    const auto device = open();
    {
        const auto used = device->allocate(driver::most_zeros);
        device->fill(used, 0, driver::most_zeros, 7);
        device->wait();
    }
    EXPECT_NE(device->zeros(64), nullptr);
    fake_.queue_submit = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_THAT(error_of([&] { device->flush(); }), HasSubstr("commands were not run"));
    fake_.queue_submit = VK_SUCCESS;
    EXPECT_THAT(read(*device, device->zeros(64)), Each(0U));
}

TEST_F(FakeDriverTest, ACommandThatFailsIsNotHalfRecorded) {
    const auto device = open();
    const auto a = upload(*device, Words(16, 1));
    device->wait();
    fake_.begin_command_buffer = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_EQ(error_of([&] { device->fill(a, 0, 64, 2); }),
              "out-of-memory: vulkan: vkBeginCommandBuffer failed: VK_ERROR_OUT_OF_HOST_MEMORY");
    fake_.begin_command_buffer = VK_SUCCESS;
    EXPECT_THAT(read(*device, a), Each(1U));
    device->fill(a, 0, 64, 2);
    EXPECT_THAT(read(*device, a), Each(2U));
}

TEST_F(FakeDriverTest, DeviceLostOnSubmitIsForGood) {
    const auto device = open();
    const auto a = upload(*device, Words(16, 1));
    device->wait();
    device->fill(a, 0, 64, 2);
    fake_.queue_submit = VK_ERROR_DEVICE_LOST;
    EXPECT_THAT(error_of([&] { device->wait(); }),
                HasSubstr("device-lost: vulkan: vkQueueSubmit failed, 1 commands were not run: "
                          "VK_ERROR_DEVICE_LOST"));
    fake_.queue_submit = VK_SUCCESS;
    EXPECT_THAT(error_of([&] { device->fill(a, 0, 64, 2); }), HasSubstr("was lost earlier; open it again"));
    EXPECT_THAT(error_of([&] { read(*device, a); }), HasSubstr("device-lost"));
    EXPECT_THAT(error_of([&] { device->wait(); }), HasSubstr("device-lost"));
}

TEST_F(FakeDriverTest, DeviceLostWhileWaiting) {
    const auto device = open();
    const auto a = upload(*device, Words(16, 1));
    device->fill(a, 0, 64, 2);
    fake_.stuck = true;  // a GPU is done before anyone waits
    fake_.wait_semaphores = VK_ERROR_DEVICE_LOST;
    try {
        device->wait();
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::device_lost);
        EXPECT_EQ(error.native_code(), VK_ERROR_DEVICE_LOST);
        EXPECT_STREQ(error.what(), "vulkan: vkWaitSemaphores failed: VK_ERROR_DEVICE_LOST");
    }
    EXPECT_THAT(error_of([&] { device->make_recorder(); }), HasSubstr("device-lost"));
}

TEST_F(FakeDriverTest, PipelinesThatFailNameTheirKernel) {
    const auto device = open();
    fake_.create_pipeline = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    EXPECT_EQ(error_of([&] { device->load_kernel(add_step_kernel()); }),
              "out-of-memory: vulkan: vkCreateComputePipelines failed for kernel 'add_step': "
              "VK_ERROR_OUT_OF_DEVICE_MEMORY");
    fake_.create_pipeline = VK_SUCCESS;
    EXPECT_NE(device->load_kernel(add_step_kernel()), nullptr);
}

TEST_F(FakeDriverTest, FeaturesAreCheckedBeforeVulkanIsTouched) {
    const auto device = open();
    manifest::Kernel kernel = add_step_kernel();
    kernel.images[0].features.emplace_back("telepathy");
    EXPECT_THAT(error_of([&] { device->load_kernel(kernel); }), HasSubstr("missing-feature"));
    EXPECT_EQ(fake_.shader_modules, 0);
}

TEST_F(FakeDriverTest, AllocatesRarelyAndFreesAll) {
    {
        const auto device = open();
        std::vector<std::shared_ptr<driver::Allocation>> held;
        for (int i = 0; i < 10000; ++i) {
            held.push_back(device->allocate(1000));
        }
        EXPECT_LE(fake_.allocations, 2);
        read(*device, upload(*device, Words(100, 1)));
    }
    EXPECT_EQ(fake_.live_memory, 0);
}

TEST_F(FakeDriverTest, BarriersOnlyWhereHazardsAre) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto source = upload(*device, Words(64, 1));
    std::vector<std::shared_ptr<driver::Allocation>> targets;
    for (int i = 0; i < 30; ++i) {
        targets.push_back(device->allocate(256));
    }
    device->wait();
    const auto barriers_of = [&](const auto& commands) {
        const std::size_t before = fake_.barriers;
        commands();
        device->wait();
        return fake_.barriers - before - 2;  // one opens each command buffer, one closes it
    };
    const auto independent = [&] {
        for (const auto& target : targets) {
            add_step(*device, kernel, target, source, 1);
        }
    };
    EXPECT_EQ(barriers_of(independent), 0) << "all read one and write their own";
    EXPECT_EQ(barriers_of([&] {
                  independent();
                  independent();
              }),
              1)
        << "one barrier serves all 30";
    EXPECT_EQ(barriers_of([&] {
                  for (int i = 0; i < 10; ++i) {
                      add_step(*device, kernel, source, source, 1);
                  }
              }),
              9);
}

TEST_F(FakeDriverTest, DiscreteDevicesAreNotMapped) {
    fake_.discrete = true;
    const auto device = open();
    const auto a = upload(*device, Words(16, 1));
    EXPECT_EQ(read(*device, a), Words(16, 1));
    EXPECT_GE(fake_.submits, 1) << "through staging";
}

TEST_F(FakeDriverTest, AnyNumberOfThreadsReadBack) {
    fake_.discrete = true;
    const auto device = open();
    constexpr std::uint32_t count = 100;  // more than there are pieces of staging memory
    std::vector<std::shared_ptr<driver::Allocation>> sources;
    for (std::uint32_t i = 0; i < count; ++i) {
        sources.push_back(upload(*device, Words(16, i)));
    }
    std::barrier start(count + 1);
    std::vector<Words> found(count);
    std::vector<std::string> errors(count);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            errors[i] = error_of([&] { found[i] = read(*device, sources[i]); });
        });
    }
    // All come to where each takes a piece before any has one, and then wait for the same work.
    const auto busy = device->allocate(32ULL << 20);
    for (std::uint32_t i = 0; i < 60; ++i) {
        device->fill(busy, 0, busy->size, i);
    }
    std::latch gate(1);
    fake_.before_memory = [&] { gate.wait(); };
    start.arrive_and_wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    device->flush();
    gate.count_down();
    for (std::thread& thread : threads) {
        thread.join();
    }
    fake_.before_memory = nullptr;
    EXPECT_THAT(errors, Each(IsEmpty()));
    for (std::uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(found[i], Words(16, i));
    }
}

class AdoptTest : public ::testing::Test {
protected:
    void SetUp() override {
        adopted_.instance = application_.instance();
        adopted_.physical_device = application_.physical_device();
        adopted_.device = application_.device();
        adopted_.queue = application_.queue();
        adopted_.features = VulkanApplication::features();
    }

    VulkanApplication application_;
    vulkan::AdoptedVulkan adopted_;
};

TEST_F(AdoptTest, RunsOnTheCallersQueueUnderTheCallersLock) {
    std::mutex queue;
    int locks = 0;
    adopted_.lock_queue = [&] {
        queue.lock();
        ++locks;
    };
    adopted_.unlock_queue = [&] { queue.unlock(); };
    const auto device = vulkan::adopt_vulkan(adopted_);
    const auto& features = device->info().features;
    EXPECT_THAT(features, IsSupersetOf({"buffer_device_address", "int64", "scalar_layout", "subgroup_vote"}))
        << "what was named, what must be on, and what nobody turns on";
    for (const char* word : {"int16", "float64", "storage16", "vulkan_memory_model"}) {
        EXPECT_THAT(features, Not(Contains(word)));
    }
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(100, 1));
    add_step(*device, kernel, data, data, 1);
    EXPECT_THAT(read(*device, data), Each(2U));
    EXPECT_EQ(locks, 1);
}

TEST_F(AdoptTest, BuffersOfTheCallersAreUsedInPlace) {
    bool freed = false;
    {
        std::shared_ptr<void> owner;
        auto* const buffer = application_.make_buffer(4000, owner, [&] { freed = true; });
        const auto adopted = vulkan::adopt_vulkan(adopted_);
        const auto kernel = adopted->load_kernel(add_step_kernel());
        expect_foreign_memory(*adopted, kernel, {reinterpret_cast<std::uintptr_t>(buffer), 36, 1600, owner});
        EXPECT_FALSE(freed);
    }
    EXPECT_TRUE(freed);
}

/// Nobody knows whether null descriptors were enabled.
TEST_F(AdoptTest, EmptyBuffersAreNotNull) {
    const auto device = vulkan::adopt_vulkan(adopted_);
    manifest::Kernel manifest = add_buffers_kernel();
    for (manifest::ResourceSlot& slot : manifest.resources) slot.stride = 1;
    const auto kernel = device->load_kernel(manifest);
    const auto target = upload(*device, Words(64, poison));
    const auto nothing = device->allocate(4);
    add_buffers(*device, 8, kernel, {driver::BufferRange{nothing, 0, 1, true}, range(target)}, 7);
    EXPECT_THAT(read(*device, target), Each(poison));
    EXPECT_THAT(application_.messages(), IsEmpty());
}

TEST_F(AdoptTest, RefusesWhatItCanSeeIsWrong) {
    vulkan::AdoptedVulkan wrong = adopted_;
    wrong.queue = nullptr;
    EXPECT_THAT(error_of([&] { vulkan::adopt_vulkan(wrong); }), HasSubstr("missing-argument"));
    wrong = adopted_;
    wrong.queue_family = 99;
    EXPECT_THAT(error_of([&] { vulkan::adopt_vulkan(wrong); }),
                HasSubstr("value-range: vulkan: queue family 99"));
}

}  // namespace
}  // namespace kf::test
