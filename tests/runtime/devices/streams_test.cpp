// An application with CUDA of its own around our calls: its streams, graphs and current device.
#include <kf/graph.h>

#include <thread>

#include "runtime/cuda/application.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class StreamsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    devices::Module module_{device_};
    int gpu_ = device_.info().index;
    std::unique_ptr<Application> application_ = real_application();
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StreamsTest);
INSTANTIATE_TEST_SUITE_P(Devices, StreamsTest, ::testing::ValuesIn(device_ids("cuda")),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(StreamsTest, CallsRunOnTheCallersStream) {
    const auto stream = application_->create_stream(gpu_);
    {
        const devices::Module module(device_.with_stream(stream));
        const auto x = device_.tensor(std::vector<float>(1 << 20, 1.F)).with_grads();
        const auto y = module.polynomial(1, 2, 3, x);
        module.polynomial.backward(1, 2, 3, x, y);
        application_->synchronize(stream);
        EXPECT_THAT(y.to_vector(), Each(6));
        EXPECT_THAT(x.grad().to_vector(), Each(4));
    }
    application_->destroy_stream(stream);
}

TEST_P(StreamsTest, StreamsThatShareATensorStayInOrder) {
    const auto first = application_->create_stream(gpu_);
    const auto second = application_->create_stream(gpu_);
    {
        const devices::Module on_first(device_.with_stream(first));
        const devices::Module on_second(device_.with_stream(second));
        const auto x = device_.tensor(std::vector<float>(1 << 22, 1.F));
        for (int i = 0; i < 20; ++i) {
            on_first.advance(x, 1);
            on_second.advance(x, 2);
            module_.advance(x, 3);
        }
        EXPECT_THAT(x.to_vector(), Each(121));
    }
    application_->destroy_stream(first);
    application_->destroy_stream(second);
}

TEST_P(StreamsTest, AStreamForEachThread) {
    std::vector<std::vector<float>> results(2);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const auto own = real_application();
            const auto stream = own->create_stream(gpu_);
            {
                const devices::Module module(device_.with_stream(stream));
                const auto x = device_.tensor(std::vector<float>(100'000, static_cast<float>(t)));
                for (int i = 0; i < 100; ++i) {
                    module.advance(x, 1);
                }
                results[t] = x.to_vector();
            }
            own->destroy_stream(stream);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_THAT(results[0], Each(100));
    EXPECT_THAT(results[1], Each(101));
}

TEST_P(StreamsTest, ACapturedCallRunsWithItsGraph) {
    const auto stream = application_->create_stream(gpu_);
    {
        const devices::Module module(device_.with_stream(stream));
        module.loaded().load_all();
        const auto x = device_.tensor(std::vector<float>(1000, 0.5F)).with_grads();
        const auto y = device_.zeros<float>({1000});
        const auto a = device_.tensor<float>({1}).with_grads();
        module.polynomial(a, a, a, x, out(y));
        device_.wait();
        application_->synchronize(stream);
        application_->begin_capture(stream);
        module.advance(x, 0.5F);
        module.polynomial(a, a, a, x, out(y));
        module.polynomial.backward(a, a, a, x, y);
        const auto graph = application_->end_capture(stream);
        application_->launch(graph, stream);
        application_->launch(graph, stream);
        application_->synchronize(stream);
        EXPECT_THAT(x.to_vector(), Each(1.5F));
        EXPECT_THAT(y.to_vector(), Each(4.75F));
        EXPECT_THAT(x.grad().to_vector(), Each(3 + 4));
        application_->destroy(graph);
    }
    application_->destroy_stream(stream);
}

TEST_P(StreamsTest, PreparedCallsAndGraphsRunOnTheCallersStream) {
    const auto stream = application_->create_stream(gpu_);
    {
        const Device on = device_.with_stream(stream);
        const auto x = device_.tensor(std::vector<float>(1 << 20, 0.F));
        const auto prepared = module_.advance.prepare(x, 1.F);
        Graph graph(device_);
        module_.advance.append_to(graph.encoder(), x, 10.F);
        module_.advance.append_to(graph.encoder(), x, 100.F);
        for (int i = 0; i < 10; ++i) {
            prepared(on);
            graph.replay();
            prepared();
            graph.replay(on);
        }
        EXPECT_THAT(x.to_vector(), Each(20 * 111));
        device_.wait();
        application_->synchronize(stream);
        application_->begin_capture(stream);
        EXPECT_THROW(prepared(on), DeviceError);
        EXPECT_THROW(graph.replay(on), DeviceError);
        application_->destroy(application_->end_capture(stream));
    }
    application_->destroy_stream(stream);
}

TEST_P(StreamsTest, TheCallersCurrentDeviceStaysAsItWas) {
    application_->set_current(nullptr);
    const auto x = device_.tensor<float>({1, 2});
    EXPECT_THAT(module_.polynomial(1, 0, 0, x).to_vector(), ElementsAre(1, 4));
    EXPECT_EQ(application_->current(), nullptr);
}

TEST_P(StreamsTest, AnotherDeviceMayBeCurrent) {
    const std::vector<std::string> ids = device_ids("cuda");
    if (ids.size() < 2) {
        GTEST_SKIP() << "needs 2 GPUs";
    }
    const int other = gpu_ == 0 ? 1 : 0;
    const auto current = application_->context(other);
    application_->set_current(current);
    const auto stream = application_->create_stream(gpu_);
    {
        const devices::Module on_stream(device_.with_stream(stream));
        const auto x = device_.tensor(std::vector<float>(1000, 2.F)).with_grads();
        const auto y = module_.polynomial(1, 0, 0, x);
        module_.polynomial.backward(1, 0, 0, x, y);
        on_stream.advance(x, 1);
        EXPECT_EQ(application_->current(), current);
        EXPECT_THAT(y.to_vector(), Each(4));
        EXPECT_THAT(x.grad().to_vector(), Each(4));
        EXPECT_THAT(x.to_vector(), Each(3));
        EXPECT_EQ(application_->current(), current);
    }
    application_->destroy_stream(stream);
    application_->set_current(nullptr);
}

}  // namespace
}  // namespace kf::test
