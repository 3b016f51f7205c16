// Tests of what goes wrong between us and the driver, with one that misbehaves.
#include "cuda/driver.h"

#include <thread>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace cuda;  // the names of CUDA's errors

class DriverTest : public FakeCudaTest {
protected:
    /// Both ways to ask must agree on why there is no device.
    std::string why_not() {
        std::string reason;
        EXPECT_THAT(enumerate_cuda(&reason, options_), IsEmpty());
        EXPECT_EQ(reason.find('\n'), std::string::npos);
        EXPECT_THAT(error_of([&] { open(); }), HasSubstr(reason));
        return error_of([&] { open(); });
    }
};

TEST(Driver, NoLibrary) {
    OpenOptions options;
    options.library = "libcuda-that-is-not-there.so.1";
    std::string reason;
    EXPECT_THAT(enumerate_cuda(&reason, options), IsEmpty());
    EXPECT_THAT(reason, HasSubstr("cuda: can't open libcuda-that-is-not-there.so.1"));
    EXPECT_EQ(reason.find('\n'), std::string::npos);
    EXPECT_THAT(error_of([&] { open_cuda(0, options); }), HasSubstr("no-driver: " + reason));
    options.library = "libdl.so.2";
    EXPECT_THAT(error_of([&] { open_cuda(0, options); }),
                HasSubstr("no-driver: cuda: the driver library has no cuDriverGetVersion"));
}

TEST_F(DriverTest, NoDevice) {
    fake_.gpus.clear();
    EXPECT_EQ(
        why_not(),
        "no-device: cuda: cuInit failed: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
}

TEST_F(DriverTest, ADriverThatDoesntStart) {
    fake_.failures["cuInit"] = CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    EXPECT_EQ(why_not(),
              "no-driver: cuda: cuInit failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): system has "
              "unsupported display driver / cuda driver combination");
    fake_.failures["cuInit"] = 4321;
    EXPECT_EQ(why_not(),
              "no-driver: cuda: cuInit failed: CUresult (4321): an error that the driver has no text "
              "for");
}

TEST_F(DriverTest, ADriverThatIsTooOld) {
    fake_.version = 11080;
    fake_.missing_function = "cuStreamGetId";
    EXPECT_EQ(why_not(),
              "no-driver: cuda: the driver is of CUDA 11.8, and 12.0 or newer is needed: update the "
              "NVIDIA driver (525 or newer)");
    fake_.version = 12020;
    EXPECT_EQ(why_not(), "no-driver: cuda: the driver library has no cuStreamGetId");
}

TEST_F(DriverTest, DevicesWithoutWhatIsNeeded) {
    fake_.gpus = {{"Old", 6, 1, true}, {"Virtual", 8, 0, false}};
    EXPECT_EQ(why_not(),
              "no-device: cuda: Old lacks compute capability 7.0 (it has 6.1); Virtual lacks memory "
              "pools");
    fake_.gpus.push_back({"Good", 8, 9, true});
    const std::vector<driver::Info> infos = enumerate_cuda(nullptr, options_);
    ASSERT_EQ(infos.size(), 1);
    EXPECT_EQ(infos[0].index, 0);
    EXPECT_EQ(infos[0].name, "Good");
    EXPECT_EQ(infos[0].driver, "CUDA 13.0");
    EXPECT_EQ(infos[0].processors, 132);
    EXPECT_EQ(fake_.calls["cuDevicePrimaryCtxRetain"], 0) << "looking makes no context";
    EXPECT_EQ(open()->info().name, "Good");
    for (const int index : {-1, 1}) {
        EXPECT_EQ(error_of([&] { open(index); }),
                  "no-device: cuda: there is no device " + std::to_string(index) + "; there are 1");
    }
}

TEST_F(DriverTest, AContextThatCantBeHad) {
    fake_.failures["cuDevicePrimaryCtxRetain"] = CUDA_ERROR_OUT_OF_MEMORY;
    EXPECT_EQ(error_of([&] { open(); }),
              "out-of-memory: cuda: can't have the primary context of NVIDIA Fake: "
              "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
    EXPECT_EQ(fake_.retained(0), 0);
}

TEST_F(DriverTest, OpeningThatFailsLeavesNothing) {
    for (const char* function : {"cuStreamCreate", "cuMemPoolCreate", "cuMemPoolSetAttribute"}) {
        fake_.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
        EXPECT_THAT(error_of([&] { open(); }), HasSubstr("out-of-memory: cuda: " + std::string(function)));
        EXPECT_EQ(fake_.retained(0), 0);
        EXPECT_EQ(fake_.live_objects(), 0);
    }
}

TEST_F(DriverTest, TheContextIsReleasedWithItsLastOwner) {
    {
        auto device = open();
        const auto other = open();
        EXPECT_EQ(fake_.retained(0), 2);
        const auto data = upload(*device, Words(10, 1));
        device = nullptr;
        EXPECT_EQ(fake_.retained(0), 2);
    }
    EXPECT_EQ(fake_.retained(0), 0);
}

TEST_F(DriverTest, OutOfMemoryGivesBackWhatIsUnusedAndTriesAgain) {
    fake_.memory_limit = 10'000;
    const auto device = open();
    const auto small = upload(*device, Words(10, 3));
    { const auto large = device->allocate(6'000); }
    const auto other = device->allocate(8'000);
    EXPECT_NE(other->address, 0) << "the 6000 bytes were given back";
    (void)device->allocate_scratch(1'000);
    try {
        (void)device->allocate(3'000);
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
        EXPECT_EQ(error.native_code(), CUDA_ERROR_OUT_OF_MEMORY);
        EXPECT_STREQ(
            error.what(),
            "cuda: out of memory on NVIDIA Fake: 3000 bytes wanted, 8040 in use, 8040 reserved; 1960 of "
            "the device's 10000 are free: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
    }
    EXPECT_NE(device->allocate(1'960)->address, 0) << "the scratch memory was given up, too";
    EXPECT_THAT(read(*device, small), Each(3U));
}

TEST_F(DriverTest, WithoutPinnedMemoryUploadsWait) {
    const auto device = open();
    fake_.failures["cuMemHostAlloc"] = CUDA_ERROR_OUT_OF_MEMORY;
    Words words(1000, 1);
    const auto data = upload(*device, words);
    EXPECT_EQ(fake_.calls["cuStreamSynchronize"], 1);
    EXPECT_EQ(read(*device, data), words);
}

/// What a thread that waits asks; the second time it has enough.
void give_up() {
    static int asked = 0;
    if (++asked % 2 == 0) {
        throw std::runtime_error("enough");
    }
}

TEST_F(DriverTest, AWaitThatIsGivenUpKeepsTheWork) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(100, 1));
    device->while_waiting = &give_up;
    fake_.busy_queries = 1 << 30;
    add_step(*device, kernel, data, data, 1);
    EXPECT_THROW(device->wait(), std::runtime_error);
    EXPECT_THROW(read(*device, data), std::runtime_error);
    const auto on_stream = device->on_stream(fake_.create_stream());
    add_step(*on_stream, kernel, data, data, 1);
    EXPECT_THROW(on_stream->wait(), std::runtime_error);
    fake_.busy_queries = 100;
    EXPECT_THAT(read(*device, data), Each(3U));
    EXPECT_EQ(fake_.busy_queries, 0);
}

TEST_F(DriverTest, AWaitEndsThoughOtherThreadsNeverStop) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(100, 1));
    device->while_waiting = [] { throw std::runtime_error("it waits for what came later"); };
    fake_.is_never_idle = true;
    add_step(*device, kernel, data, data, 1);
    EXPECT_NO_THROW(device->wait());
    EXPECT_NO_THROW(device->on_stream(fake_.create_stream())->wait());
    EXPECT_THAT(read(*device, data), Each(2U));
}

TEST_F(DriverTest, TheHostsMemoryOfAWaitThatIsGivenUpStaysInUse) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    auto data = device->allocate_mapped(256);
    const std::byte* const place = data->host;
    write(*device, data, Words(64, 1));
    device->while_waiting = &give_up;
    fake_.busy_queries = 1 << 30;
    add_step(*device, kernel, data, data, 1);
    EXPECT_THROW(read(*device, data), std::runtime_error);
    data = nullptr;
    std::vector<std::shared_ptr<driver::Allocation>> others;
    for (int i = 0; i < 8; ++i) {
        others.push_back(device->allocate_mapped(256));
        EXPECT_NE(others.back()->host, place);
        std::memset(others.back()->host, 0, 256);
    }
    fake_.busy_queries = 0;
    device->wait();
    for (const auto& other : others) EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(other->host), 0U);
}

TEST_F(DriverTest, LittleDataNeedsALaunchAndAWaitAlone) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const auto source = device->allocate_mapped(400);
        const auto target = device->allocate_mapped(400);
        ASSERT_TRUE(source != nullptr && target != nullptr);
        write(*device, source, Words(100, i));
        add_step(*device, kernel, target, source, 1);
        EXPECT_THAT(read(*device, target), Each(i + 1));
    }
    EXPECT_EQ(fake_.calls["cuMemHostAlloc"], 1U);
    EXPECT_EQ(fake_.calls["cuStreamSynchronize"], 2000U);
    for (const char* other : {"cuEventRecord", "cuEventQuery", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                              "cuMemAllocFromPoolAsync"}) {
        EXPECT_EQ(fake_.calls[other], 0U) << other;
    }
}

TEST_F(DriverTest, WithoutPinnedMemoryAllIsCopied) {
    fake_.failures["cuMemHostAlloc"] = CUDA_ERROR_OUT_OF_MEMORY;
    const auto device = open();
    EXPECT_EQ(device->allocate_mapped(256), nullptr);
    const auto data = upload(*device, Words(100, 5));
    EXPECT_THAT(read(*device, data), Each(5U));
}

TEST_F(DriverTest, AFailedLaunchNamesItsKernelAndLosesNothingElse) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(100, 1));
    fake_.failures["cuLaunchKernel"] = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    EXPECT_EQ(error_of([&] { add_step(*device, kernel, data, data, 1); }),
              "driver-failure: cuda: cuLaunchKernel failed for kernel 'add_step' (2 groups): "
              "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many resources requested for launch");
    auto recorder = device->make_recorder();
    recorder->fill(data, 0, 400, 5);
    add_step(*recorder, kernel, data, data, 1);
    recorder->fill(data, 0, 400, 9);
    EXPECT_THAT(error_of([&] { device->submit(std::move(recorder)); }),
                HasSubstr("too many resources requested for launch; 2 of 3 recorded commands were not run"));
    fake_.failures.clear();
    EXPECT_THAT(read(*device, data), Each(5U));
    add_step(*device, kernel, data, data, 1);
    EXPECT_THAT(read(*device, data), Each(6U));
}

TEST_F(DriverTest, AStickyErrorLosesTheDeviceForGood) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(16, 1));
    fake_.kernels["add_step"] = [](auto...) { return CUDA_ERROR_ILLEGAL_ADDRESS; };
    add_step(*device, kernel, data, data, 1);
    try {
        device->wait();
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::device_lost);
        EXPECT_EQ(error.native_code(), CUDA_ERROR_ILLEGAL_ADDRESS);
        EXPECT_STREQ(error.what(),
                     "cuda: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal "
                     "memory access was encountered");
    }
    const std::string lost =
        "device-lost: cuda: NVIDIA Fake was lost earlier by CUDA_ERROR_ILLEGAL_ADDRESS (700)";
    EXPECT_THAT(error_of([&] { device->fill(data, 0, 64, 2); }), HasSubstr(lost));
    EXPECT_THAT(error_of([&] { read(*device, data); }), HasSubstr(lost));
    EXPECT_THAT(error_of([&] { device->wait(); }), HasSubstr(lost));
    EXPECT_THAT(error_of([&] { (void)device->allocate(100); }), HasSubstr(lost));
    EXPECT_THAT(error_of([&] { device->make_recorder(); }), HasSubstr(lost));
    fake_.recover();
}

TEST_F(DriverTest, OneImageIsLoadedOnceForAllItsKernels) {
    const auto device = open();
    const auto bytes = FakeCuda::cubin("sm_90", "a,b,c");
    std::vector<std::thread> threads;
    std::vector<std::shared_ptr<driver::Kernel>> kernels(12);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        threads.emplace_back([&, i] {
            manifest::Kernel kernel = bare_kernel();
            kernel.images.push_back(cuda_image("cubin", "sm_90", bytes, std::string(1, "abc"[i % 3])));
            kernels[i] = device->load_kernel(kernel);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(fake_.calls["cuModuleLoadDataEx"], 1);
    const auto other = open();
    manifest::Kernel kernel = bare_kernel();
    kernel.images.push_back(cuda_image("cubin", "sm_90", bytes, "a"));
    (void)other->load_kernel(kernel);
    EXPECT_EQ(fake_.calls["cuModuleLoadDataEx"], 2) << "a device opened another time has its own";
}

TEST_F(DriverTest, ImagesThatTheDriverRefusesGiveWayToTheNext) {
    fake_.version = 12020;
    const auto device = open();
    manifest::Kernel kernel = bare_kernel();
    kernel.images.push_back(cuda_image("ptx", "sm_80", FakeCuda::ptx("sm_80", "add_step", 12000)));
    kernel.images.push_back(cuda_image("cubin", "sm_90", FakeCuda::cubin("sm_90", "add_step", 13000)));
    const auto loaded = device->load_kernel(kernel);
    const auto data = upload(*device, Words(10, 1));
    add_step(*device, loaded, data, data, 1);
    EXPECT_THAT(read(*device, data), Each(2U));
}

TEST_F(DriverTest, WhenNoImageRunsAllAreNamed) {
    fake_.version = 12020;
    const auto device = open();
    manifest::Kernel kernel = bare_kernel();
    kernel.images.push_back(cuda_image("cubin", "sm_80", FakeCuda::cubin("sm_80", "add_step")));
    kernel.images.push_back(cuda_image("cubin", "sm_100", FakeCuda::cubin("sm_100", "add_step")));
    kernel.images.push_back(cuda_image("ptx", "sm_80", FakeCuda::ptx("sm_80", "add_step", 13000)));
    EXPECT_EQ(
        error_of([&] { (void)device->load_kernel(kernel); }),
        "missing-feature: cuda: no image of kernel 'add_step' runs on NVIDIA Fake (compute capability 9.0, "
        "driver of CUDA 12.2); on offer: cubin sm_80, cubin sm_100, ptx sm_80 (refused: "
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): the provided PTX was compiled with an unsupported "
        "toolchain.: ptxas fatal : Unsupported .version); add \"sm_90\" to the \"arch\" of the spec's "
        "target, "
        "or \"ptx\": true");
}

TEST_F(DriverTest, KernelsThatCantBe) {
    const auto device = open();
    manifest::Kernel kernel = bare_kernel();
    const auto load = [&] { return error_of([&] { (void)device->load_kernel(kernel); }); };
    EXPECT_EQ(load(),
              "artifact-no-image: cuda: kernel 'add_step' has no CUDA image; generate it with the target "
              "\"cuda\"");
    kernel = add_step_kernel();
    kernel.images[0].entry_point = "other";
    EXPECT_THAT(load(), HasSubstr("the ptx sm_70 image of kernel 'add_step' has no entry point 'other': "
                                  "CUDA_ERROR_NOT_FOUND (500)"));
    kernel = add_step_kernel();
    kernel.images[0].features = {"int64", "telepathy"};
    EXPECT_EQ(load(),
              "missing-feature: cuda: kernel 'add_step' can't run on NVIDIA Fake, which lacks: telepathy");
    kernel = add_step_kernel();
    kernel.group_size = {64, 32, 1};
    EXPECT_EQ(load(),
              "missing-feature: cuda: kernel 'add_step' has groups of 2048 threads; at most 1024 of it run "
              "on NVIDIA Fake");
    kernel = add_step_kernel();
    kernel.layouts["cuda"].size = 5000;
    EXPECT_EQ(load(),
              "missing-feature: cuda: kernel 'add_step' takes 5000 bytes of parameters; NVIDIA Fake takes "
              "4096");
    kernel.layouts["cuda"] = {8, {}, manifest::Passing::address};
    EXPECT_THAT(load(),
                HasSubstr("artifact-corrupt: cuda: kernel 'add_step' has no usable parameter layout"));
    kernel = add_step_kernel();
    kernel.images[0] = cuda_image("cubin", "sm_90", std::vector<std::byte>(100));
    EXPECT_THAT(load(), HasSubstr("cubin sm_90 (refused: CUDA_ERROR_INVALID_IMAGE (200)"));
    fake_.failures["cuModuleLoadDataEx"] = CUDA_ERROR_OUT_OF_MEMORY;
    kernel = bare_kernel();
    kernel.images.push_back(cuda_image("ptx", "sm_75", FakeCuda::ptx("sm_75", "add_step")));
    EXPECT_EQ(load(),
              "out-of-memory: cuda: can't load the ptx sm_75 image: CUDA_ERROR_OUT_OF_MEMORY (2): out of "
              "memory");
    fake_.failures.clear();
    EXPECT_EQ(load(), "") << "a later try may succeed";
}

TEST_F(DriverTest, TheHotPathCallsNothingButTheLaunch) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(16, 1));
    FakeCuda::set_current(fake_.context(0));
    const auto before = fake_.calls;
    add_step(*device, kernel, data, data, 1);
    auto after = fake_.calls;
    for (const auto& [name, count] : before) {
        after[name] -= count;
    }
    std::erase_if(after, [](const auto& entry) { return entry.second == 0; });
    EXPECT_THAT(after, ::testing::UnorderedElementsAre(::testing::Pair("cuLaunchKernel", 1),
                                                       ::testing::Pair("cuCtxGetCurrent", 1)));
}

}  // namespace
}  // namespace kf::test
