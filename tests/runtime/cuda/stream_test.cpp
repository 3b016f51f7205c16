// Tests of the caller's streams, graph capture, contexts and several GPUs.
#include <chrono>
#include <thread>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class StreamTest : public CudaTest {
protected:
    void SetUp() override {
        CudaTest::SetUp();
        if (device_ != nullptr) {
            kernel_ = device_->load_kernel(add_step_kernel());
            stream_ = application_->create_stream();
            view_ = device_->on_stream(stream_);
        }
    }
    void TearDown() override {
        kernel_ = nullptr;
        view_ = nullptr;
        CudaTest::TearDown();
    }

    std::shared_ptr<driver::Kernel> kernel_;
    cuda::CUstream stream_ = nullptr;
    std::shared_ptr<driver::Device> view_;  ///< device_ on stream_
};

INSTANTIATE_TEST_SUITE_P(Cuda, StreamTest, ::testing::Values(Driver::fake, Driver::real), driver_name);

TEST_P(StreamTest, CallsGoToTheCallersStream) {
    const auto data = upload(*view_, Words(100, 1));
    add_step(*view_, kernel_, data, data, 1);
    EXPECT_THAT(read(*view_, data), Each(2U));
    const std::size_t before = fake_ ? fake_->calls["cuStreamSynchronize"] : 0;
    add_step(*view_, kernel_, data, data, 1);
    application_->synchronize(stream_);
    if (fake_) {
        EXPECT_EQ(fake_->calls["cuStreamSynchronize"], before);
        EXPECT_EQ(*reinterpret_cast<const std::uint32_t*>(data->address), 3) << "it was on that stream";
    }
}

TEST_P(StreamTest, MemoryStaysInOrderFromStreamToStream) {
    const auto other = application_->create_stream();
    const auto second = device_->on_stream(other);
    const auto a = upload(*device_, Words(1 << 20, 1));
    const auto b = device_->allocate(4 << 20);
    for (std::uint32_t i = 0; i < 10; ++i) {
        add_step(*view_, kernel_, b, a, 1);   // after the upload, or the last round's write of a
        add_step(*second, kernel_, a, b, 1);  // after that, and overwrites what it read
        add_step(*device_, kernel_, a, a, 1);
    }
    EXPECT_THAT(read(*device_, a), Each(31U));
    const auto copy = second->allocate(4 << 20);
    add_step(*view_, kernel_, a, a, 1);
    second->copy(copy, 0, a, 0, 4 << 20);
    device_->fill(a, 0, 4 << 20, 0);  // after both have read
    device_->wait();
    EXPECT_THAT(read(*view_, copy), Each(32U));
    EXPECT_THAT(read(*second, a), Each(0U));
}

TEST_P(StreamTest, TheHostsMemoryStaysInOrderFromStreamToStream) {
    const auto second = device_->on_stream(application_->create_stream());
    for (std::uint32_t i = 0; i < 20; ++i) {
        const auto a = device_->allocate_mapped(4000);
        const auto b = view_->allocate_mapped(4000);
        ASSERT_TRUE(a != nullptr && b != nullptr);
        write(*device_, a, Words(1000, i));
        add_step(*view_, kernel_, b, a, 1);
        add_step(*second, kernel_, a, b, 1);  // after that has read it
        add_step(*device_, kernel_, b, a, 1);
        EXPECT_THAT(read(*view_, b), Each(i + 3));
        EXPECT_THAT(read(*second, a), Each(i + 2));
        add_step(*second, kernel_, b, a, 1);  // runs when the piece is free already
    }
    application_->begin_capture(stream_);
    EXPECT_EQ(view_->allocate_mapped(256), nullptr);
    application_->destroy(application_->end_capture(stream_));
    second->wait();
}

TEST_P(StreamTest, ReadersDontWaitForEachOther) {
    const auto waits_so_far = [&] { return fake_ ? fake_->calls["cuStreamWaitEvent"] : std::size_t{0}; };
    const auto other = application_->create_stream();
    const auto second = device_->on_stream(other);
    const auto shared = upload(*device_, Words(64, 1));
    const auto mine = view_->allocate(256);
    const auto theirs = second->allocate(256);
    add_step(*view_, kernel_, mine, shared, 1);
    add_step(*second, kernel_, theirs, shared, 1);
    const std::size_t waits = waits_so_far();
    for (int i = 0; i < 5; ++i) {
        add_step(*view_, kernel_, mine, shared, 1);
        add_step(*second, kernel_, theirs, shared, 1);
    }
    EXPECT_EQ(waits_so_far(), waits);
    EXPECT_THAT(read(*view_, mine), Each(2U));
    EXPECT_THAT(read(*second, theirs), Each(2U));
}

TEST_P(StreamTest, MemoryUsedOnAnotherStreamIsFreedAfterThatUse) {
    const auto sum = upload(*view_, Words(1000, 0));
    for (std::uint32_t i = 0; i < 20; ++i) {
        const auto temporary = device_->allocate(4000);
        device_->fill(temporary, 0, 4000, i);
        add_step(*view_, kernel_, sum, temporary, 100);
    }
    device_->wait();
    EXPECT_THAT(read(*view_, sum), Each(119U));
}

/// What others do on a stream of theirs: a graph's work is in nobody's order but its launches'.
TEST_P(StreamTest, LentMemoryIsReadyOnTheStreamOfOthers) {
    const auto data = upload(*device_, Words(1 << 20, 0));
    const auto result = device_->allocate(4 << 20);
    device_->wait();
    application_->begin_capture(stream_);
    add_step(*view_, kernel_, result, data, 1);
    view_->lend(data);  // nothing is waited for in a capture
    const auto graph = application_->end_capture(stream_);
    for (std::uint32_t i = 0; i < 10; ++i) {
        device_->fill(data, 0, 4 << 20, i);
        view_->lend(data);
        application_->launch(graph, stream_);
        application_->synchronize(stream_);
        EXPECT_THAT(read(*device_, result), Each(i + 1));
    }
    application_->destroy(graph);
}

TEST_P(StreamTest, LentMemoryIsFreedAfterTheDefaultStreamsUse) {
    const auto by_default = device_->on_stream(nullptr);
    const auto result = device_->allocate(4000);
    for (std::uint32_t i = 0; i < 20; ++i) {
        auto data = upload(*device_, Words(1000, i));
        device_->wait();
        application_->begin_capture(stream_);
        add_step(*view_, kernel_, result, data, 1);
        const auto graph = application_->end_capture(stream_);
        by_default->lend(data);
        const cuda::CUcontext before = application_->current();
        application_->set_current(application_->context(0));
        application_->launch(graph, nullptr);
        data = nullptr;
        device_->fill(device_->allocate(4000), 0, 4000, 99);  // most likely where that was
        device_->wait();
        application_->synchronize(nullptr);
        application_->set_current(before);
        EXPECT_THAT(read(*device_, result), Each(i + 1));
        application_->destroy(graph);
    }
}

TEST_P(StreamTest, UploadsOnOneStreamLeaveThoseOfAnotherAlone) {
    const auto theirs = upload(*view_, Words(1000, 7));
    const auto mine = device_->allocate(3 << 20);
    for (std::uint32_t i = 0; i < 20; ++i) {  // more than waits in pinned memory
        const Words words((3 << 20) / 4, i);
        device_->upload(mine, 0, std::as_bytes(std::span(words)));
    }
    EXPECT_THAT(read(*view_, theirs), Each(7U));
    EXPECT_THAT(read(*device_, mine), Each(19U));
}

TEST_P(StreamTest, MemoryOfTheApplicationsIsUsedInPlace) {
    const auto address = application_->allocate(2000);
    expect_foreign_memory(*device_, kernel_, {address, 256, 1600, nullptr});
    expect_foreign_memory(*view_, kernel_, {address, 4, 1600, nullptr});
    device_->wait();
    application_->free(address);
}

TEST_P(StreamTest, BoundBuffersStayInOrderFromStreamToStream) {
    const auto kernel = device_->load_kernel(add_buffers_kernel());
    const auto a = upload(*device_, Words(1000, 1));
    const auto b = device_->allocate(4000);
    for (int i = 0; i < 20; ++i) {
        add_buffers(*view_, 40, kernel, {range(a), range(b)}, 1);
        add_buffers(*device_, 40, kernel, {range(b), range(a)}, 1);
    }
    EXPECT_THAT(read(*view_, a), Each(41U));
}

TEST_P(StreamTest, OwnersOfMemoryStayUntilItsCommandsAreDone) {
    for (driver::Device* device : {device_.get(), view_.get()}) {
        bool freed = false;
        const auto address = application_->allocate(4000);
        const auto sum = device_->allocate(4000);
        {
            const std::shared_ptr<void> owner(nullptr, [&, address](void*) {
                application_->free(address);
                freed = true;
            });
            const auto memory = device->wrap({address, 0, 4000, owner});
            device->fill(memory, 0, 4000, 5);
            add_step(*device, kernel_, sum, memory, 1);
            EXPECT_FALSE(freed);
        }
        if (fake_) {
            EXPECT_FALSE(freed) << "the fake driver runs nothing before it is waited for";
        }
        device_->wait();
        EXPECT_TRUE(freed);
        EXPECT_THAT(read(*device_, sum), Each(6U));
    }
}

TEST_P(StreamTest, OwnersOfMemoryMayCallTheDevice) {
    const auto address = application_->allocate(4000);
    int gone = 0;
    for (int i = 0; i < 100; ++i) {
        const std::shared_ptr<void> owner(nullptr, [&](void*) {
            device_->fill(device_->allocate(4), 0, 4, 1);
            ++gone;
        });
        device_->fill(device_->wrap({address, 0, 4000, owner}), 0, 4000, 5);
    }
    device_->wait();
    EXPECT_EQ(gone, 100);
    EXPECT_THAT(read(*device_, device_->wrap({address, 0, 4000, nullptr})), Each(5U));
    application_->free(address);
}

TEST_P(StreamTest, OwnersOfMemoryGoWithTheDevice) {
    int freed = 0;
    const auto wrapped = [&](driver::Device& device) {
        const auto address = application_->allocate(256);
        const std::shared_ptr<void> owner(nullptr, [&, address](void*) {
            application_->free(address);
            ++freed;
        });
        auto memory = device.wrap({address, 0, 256, owner});
        add_step(device, kernel_, memory, memory, 1);
        return memory;
    };
    auto kept = wrapped(*device_);
    (void)wrapped(*device_);
    auto dropped = device_->make_recorder();
    add_step(*dropped, kernel_, wrapped(*view_), wrapped(*view_), 1);
    kernel_ = nullptr;
    view_ = nullptr;
    device_ = nullptr;
    EXPECT_EQ(freed, 1);
    kept = nullptr;
    dropped = nullptr;
    EXPECT_EQ(freed, 4);
}

TEST_P(StreamTest, MemoryThatIsNotTheDevicesIsNotWrapped) {
    static std::uint64_t host = 0;
    const auto owner = std::make_shared<int>(1);
    EXPECT_THAT(error_of([&] {
                    device_->wrap({0, 0, 4, owner});
                }),
                HasSubstr("missing-argument: cuda: memory to wrap has no address"));
    EXPECT_THAT(error_of([&] {
                    device_->wrap({reinterpret_cast<std::uintptr_t>(&host), 0, 8, owner});
                }),
                HasSubstr("device-mismatch: cuda: the memory to wrap is not of this device"));
    EXPECT_EQ(owner.use_count(), 1);
    EXPECT_EQ(device_->wrap({0, 0, 0, owner})->size, 0);
}

TEST_P(StreamTest, MemoryIsWrappedWhileAStreamIsCaptured) {
    const auto address = application_->allocate(256);
    const auto warm = upload(*view_, Words(64, 1));
    add_step(*view_, kernel_, warm, warm, 1);
    application_->synchronize(stream_);
    application_->begin_capture(stream_);
    const auto memory = view_->wrap({address, 0, 256, nullptr});
    add_step(*view_, kernel_, memory, warm, 1);
    const auto graph = application_->end_capture(stream_);
    application_->launch(graph, stream_);
    EXPECT_THAT(read(*view_, memory), Each(3U));
    application_->destroy(graph);
    application_->free(address);
}

TEST_P(StreamTest, ClosingTheDeviceLetsTheStreamsFinish) {
    auto data = upload(*device_, Words(1 << 20, 1));
    for (int i = 0; i < 10; ++i) {
        add_step(*view_, kernel_, data, data, 1);
    }
    kernel_ = nullptr;
    view_ = nullptr;
    device_ = nullptr;
    application_->synchronize(stream_);
    data = nullptr;  // it would have waited
}

TEST_P(StreamTest, MemoryOutlivesTheStreamItWasMadeOn) {
    auto data = upload(*view_, Words(100, 1));
    add_step(*view_, kernel_, data, data, 1);
    view_ = nullptr;
    application_->synchronize(stream_);
    application_->destroy_stream(stream_);
    EXPECT_THAT(read(*device_, data), Each(2U));
    data = nullptr;
    device_->wait();
}

TEST_P(StreamTest, TheDefaultStreamIsOneToo) {
    application_->set_current(application_->context(0));
    const auto view = device_->on_stream(nullptr);
    const auto data = upload(*view, Words(100, 1));
    add_step(*view, kernel_, data, data, 1);
    EXPECT_THAT(read(*device_, data), Each(2U));
    application_->set_current(nullptr);
}

TEST_P(StreamTest, RecordedListsRunOnTheStream) {
    const auto data = upload(*device_, Words(100, 1));
    auto recorder = view_->make_recorder();
    add_step(*recorder, kernel_, data, data, 1);
    recorder->fill(data, 0, 4, 9);
    view_->submit(std::move(recorder));
    Words expected(100, 2);
    expected[0] = 9;
    EXPECT_EQ(read(*device_, data), expected);
}

TEST_P(StreamTest, AGraphRunsAgainAndAgain) {
    const auto data = upload(*device_, Words(1000, 0));
    const auto copy = device_->allocate(4000);
    device_->wait();
    application_->begin_capture(stream_);
    add_step(*view_, kernel_, data, data, 1);
    view_->copy(copy, 0, data, 0, 4000);
    view_->fill(copy, 0, 4, 77);
    const cuda::CUgraph graph = application_->end_capture(stream_);
    EXPECT_THAT(read(*device_, data), Each(0U)) << "captured, not run";
    for (int i = 0; i < 5; ++i) {
        application_->launch(graph, stream_);
    }
    application_->synchronize(stream_);
    EXPECT_THAT(read(*device_, data), Each(5U));
    Words expected(1000, 5);
    expected[0] = 77;
    EXPECT_EQ(read(*device_, copy), expected);
    application_->destroy(graph);
}

TEST_P(StreamTest, WhatCantBeCapturedSaysWhatToDo) {
    const auto data = upload(*device_, Words(100, 1));
    manifest::Kernel another = add_step_kernel();
    another.name = "another";
    Words words(100);
    device_->wait();
    application_->begin_capture(stream_);
    EXPECT_EQ(error_of([&] { (void)view_->allocate(400); }),
              "stream-captured: cuda: the stream is being captured into a graph, and no memory can be "
              "allocated: 400 "
              "bytes are wanted; make tensors before the capture begins and give calls their outputs (out=)");
    EXPECT_THAT(
        error_of([&] { (void)view_->allocate_scratch(400); }),
        HasSubstr("the call works in 400 bytes; make it once in the same way before the capture begins"));
    EXPECT_THAT(
        error_of([&] { (void)view_->load_kernel(another); }),
        HasSubstr("kernel 'another' isn't loaded yet: call the module's load(), or this function once, "
                  "before the capture begins"));
    EXPECT_THAT(
        error_of([&] { view_->upload(data, 0, std::as_bytes(std::span(words))); }),
        HasSubstr("stream-captured: cuda: the stream is being captured into a graph, and nothing can be "
                  "copied in"));
    const std::string read_back = "nothing can be read back: give calls tensors for results and gradients";
    EXPECT_THAT(error_of([&] { (void)read(*view_, data); }), HasSubstr(read_back));
    EXPECT_THAT(error_of([&] { view_->check_read_back(); }), HasSubstr(read_back));
    EXPECT_THAT(error_of([&] { view_->wait(); }), HasSubstr("can't be waited for"));
    view_->flush();
    add_step(*view_, kernel_, data, data, 1);
    const cuda::CUgraph graph = application_->end_capture(stream_);
    application_->launch(graph, stream_);
    application_->synchronize(stream_);
    EXPECT_THAT(read(*device_, data), Each(2U)) << "what was refused left the capture whole";
    EXPECT_EQ(error_of([&] { view_->check_read_back(); }), "");
    application_->destroy(graph);
}

TEST_P(StreamTest, OtherStreamsWorkBesideACapture) {
    const auto data = upload(*device_, Words(100, 1));
    device_->wait();
    application_->begin_capture(stream_);
    add_step(*view_, kernel_, data, data, 1);
    manifest::Kernel another = add_step_kernel();
    another.images = {cuda_image("ptx", "sm_70", [&] {
        std::vector<std::byte> bytes = another.images[0].bytes.copy();
        bytes.push_back(std::byte{'\n'});  // other bytes, so that it is loaded
        return bytes;
    }())};
    const auto kernel = device_->load_kernel(another);
    const auto other = upload(*device_, Words(1 << 20, 5));
    add_step(*device_, kernel, other, other, 1);
    EXPECT_THAT(read(*device_, other), Each(6U));
    device_->wait();
    const cuda::CUgraph graph = application_->end_capture(stream_);
    application_->launch(graph, stream_);
    application_->synchronize(stream_);
    EXPECT_THAT(read(*device_, data), Each(2U)) << "and leave it whole";
    application_->destroy(graph);
}

TEST_P(StreamTest, AStreamMayBeNamedDuringItsCapture) {
    const auto data = upload(*device_, Words(100, 1));
    const auto unknown = application_->create_stream();
    device_->wait();
    for (const auto stream : {stream_, unknown}) {
        application_->begin_capture(stream);
        add_step(*device_->on_stream(stream), kernel_, data, data, 1);
        add_step(*device_->on_stream(stream), kernel_, data, data, 2);
        const cuda::CUgraph graph = application_->end_capture(stream);
        application_->launch(graph, stream);
        application_->synchronize(stream);
        application_->destroy(graph);
    }
    EXPECT_THAT(read(*device_, data), Each(7U));
    add_step(*device_->on_stream(unknown), kernel_, data, data, 1);
    EXPECT_THAT(read(*device_, data), Each(8U));
}

TEST_P(StreamTest, MemoryMayGoDuringACapture) {
    auto data = upload(*view_, Words(100, 1));
    auto other = upload(*device_, Words(100, 1));
    add_step(*view_, kernel_, other, data, 1);
    device_->wait();
    application_->synchronize(stream_);
    application_->begin_capture(stream_);
    data = nullptr;
    other = nullptr;
    application_->destroy(application_->end_capture(stream_));
    device_->wait();
    EXPECT_EQ(cuda::statistics(*device_).used, 0);
}

TEST_P(StreamTest, AGraphKeepsTheScratchMemoryOfItsCalls) {
    const auto sum = upload(*device_, Words(100, 0));
    // As calls with half gradients do: zeroed, added to, used.
    const auto call = [&](driver::Device& device, std::uint32_t step) {
        const auto scratch = device.allocate_scratch(400);
        device.fill(scratch, 0, 400, 0);
        add_step(device, kernel_, scratch, scratch, step);
        add_step(device, kernel_, sum, scratch, 1);
    };
    call(*view_, 1);
    device_->wait();
    application_->synchronize(stream_);
    application_->begin_capture(stream_);
    call(*view_, 5);
    call(*view_, 6);
    const cuda::CUgraph graph = application_->end_capture(stream_);
    call(*device_, 9);  // has other memory now
    call(*device_, 10);
    application_->launch(graph, stream_);
    application_->synchronize(stream_);
    device_->wait();
    application_->launch(graph, stream_);
    application_->synchronize(stream_);
    EXPECT_THAT(read(*device_, sum), Each(7U));
    const std::uint64_t used = cuda::statistics(*device_).used;
    application_->destroy(graph);
    // CUDA says in its own time that a graph is gone.
    std::uint64_t left = used;
    for (int i = 0; i < 200 && left >= used; ++i) {
        (void)device_->allocate(16);
        device_->wait();
        left = cuda::statistics(*device_).used;
        std::this_thread::sleep_for(std::chrono::milliseconds(left < used ? 0 : 10));
    }
    EXPECT_LT(left, used) << "it goes with the graph";
}

TEST_P(StreamTest, TheCurrentContextIsTheCallersBefore) {
    const auto try_all = [&] {
        const auto data = upload(*device_, Words(100, 1));
        add_step(*device_, kernel_, data, data, 1);
        device_->fill(data, 0, 4, 2);
        EXPECT_THAT(read(*device_, data), Each(2U));
        (void)device_->load_kernel(add_step_kernel());
        (void)device_->on_stream(stream_);
        (void)error_of([&] { (void)device_->allocate(~0ULL >> 8); });
        device_->wait();
    };
    application_->set_current(nullptr);
    try_all();
    EXPECT_EQ(application_->current(), nullptr);
    application_->set_current(application_->context(0));
    try_all();
    EXPECT_EQ(application_->current(), application_->context(0));
    application_->set_current(nullptr);
}

TEST_P(StreamTest, TwoThreadsOnTwoStreams) {
    std::vector<std::thread> threads;
    std::vector<Words> results(2);
    const auto shared = upload(*device_, Words(1000, 7));
    for (std::size_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const cuda::CUstream stream = application_->create_stream();
            const auto view = device_->on_stream(stream);
            const auto data = view->allocate(4000);
            add_step(*view, kernel_, data, shared, 0);
            for (int i = 0; i < 100; ++i) {
                add_step(*view, kernel_, data, data, static_cast<std::uint32_t>(t + 1));
            }
            results[t] = read(*view, data);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_THAT(results[0], Each(107U));
    EXPECT_THAT(results[1], Each(207U));
}

class TwoGpuTest : public CudaTest {
protected:
    TwoGpuTest() : CudaTest(2) {}
    void SetUp() override {
        CudaTest::SetUp();
        if (device_ != nullptr) {
            second_ = cuda::open_cuda(1, options_);
        }
    }
    void TearDown() override {
        second_ = nullptr;
        CudaTest::TearDown();
    }

    std::shared_ptr<driver::Device> second_;
};

INSTANTIATE_TEST_SUITE_P(Cuda, TwoGpuTest, ::testing::Values(Driver::fake, Driver::real), driver_name);

TEST_P(TwoGpuTest, EachHasItsOwnModulesMemoryAndStream) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto other = second_->load_kernel(add_step_kernel());
    const auto a = upload(*device_, Words(100, 1));
    const auto b = upload(*second_, Words(100, 2));
    add_step(*device_, kernel, a, a, 10);
    add_step(*second_, other, b, b, 20);
    EXPECT_THAT(read(*device_, a), Each(11U));
    EXPECT_THAT(read(*second_, b), Each(22U));
    EXPECT_THAT(error_of([&] { add_step(*second_, other, a, b, 1); }), HasSubstr("device-mismatch"));
    EXPECT_THAT(error_of([&] { add_step(*second_, kernel, b, b, 1); }), HasSubstr("device-mismatch"));
    EXPECT_THAT(error_of([&] { (void)device_->on_stream(application_->create_stream(1)); }),
                HasSubstr("device-mismatch: cuda: the stream is of another device than cuda:0"));
}

TEST_P(TwoGpuTest, ACurrentDeviceOtherThanTheTensors) {
    application_->set_current(application_->context(1));
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(100, 1));
    add_step(*device_, kernel, data, data, 1);
    EXPECT_THAT(read(*device_, data), Each(2U));
    EXPECT_EQ(application_->current(), application_->context(1));
    application_->set_current(nullptr);
}

TEST_P(TwoGpuTest, TwoThreadsOnTwoGpus) {
    std::vector<std::thread> threads;
    std::vector<Words> results(2);
    for (std::uint32_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            driver::Device& device = t == 0 ? *device_ : *second_;
            const auto kernel = device.load_kernel(add_step_kernel());
            const auto data = upload(device, Words(1000, t));
            for (int i = 0; i < 100; ++i) {
                add_step(device, kernel, data, data, 1);
            }
            results[t] = read(device, data);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_THAT(results[0], Each(100U));
    EXPECT_THAT(results[1], Each(101U));
}

}  // namespace
}  // namespace kf::test
