// Tests of commands that are recorded once and run often, as a CUDA graph.
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class GraphTest : public CudaTest {
protected:
    void SetUp() override {
        CudaTest::SetUp();
        if (device_ != nullptr) kernel_ = device_->load_kernel(add_step_kernel());
    }
    void TearDown() override {
        kernel_ = nullptr;
        CudaTest::TearDown();
    }

    std::shared_ptr<driver::Kernel> kernel_;
};
INSTANTIATE_TEST_SUITE_P(Cuda, GraphTest, ::testing::Values(Driver::fake, Driver::real), driver_name);

TEST_P(GraphTest, CommandsAreInOrderWhereTheyShareBytes) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{4097}}) {
        const auto a = upload(*device_, Words(size, 1));
        const auto b = upload(*device_, Words(size, 0));
        const auto c = upload(*device_, Words(size, 0));
        const auto graph = device_->make_graph();
        add_step(*graph, kernel_, b, a, 1);    // b = a + 1
        add_step(*graph, kernel_, a, a, 10);   // after it has read a
        graph->copy(c, 0, b, 0, 4 * size);     // c = b
        graph->fill(b, 0, 4 * size, 7);        // after it was copied
        add_step(*graph, kernel_, b, b, 1);    // b = 8
        add_step(*graph, kernel_, c, c, 100);  // c = a + 101
        EXPECT_THAT(read(*device_, c), Each(0U)) << "it ran when it was recorded";
        device_->replay(*graph);
        EXPECT_THAT(read(*device_, a), Each(11U));
        EXPECT_THAT(read(*device_, b), Each(8U));
        EXPECT_THAT(read(*device_, c), Each(102U));
        // In order with what comes before and after, and with itself.
        add_step(*device_, kernel_, a, a, 1);
        device_->replay(*graph);
        device_->replay(*graph);
        add_step(*device_, kernel_, a, a, 1000);
        EXPECT_THAT(read(*device_, a), Each(1032U));
        EXPECT_THAT(read(*device_, c), Each(123U));
    }
}

TEST_P(GraphTest, BlocksAreReplacedForLaterRuns) {
    const auto data = upload(*device_, Words(100, 0));
    const auto graph = device_->make_graph();
    add_step(*graph, kernel_, data, data, 1);
    add_step(*graph, kernel_, data, data, 2);
    device_->replay(*graph);
    const AddStep block{data->address, data->address, 100, 50};
    graph->set_block(1, std::as_bytes(std::span(&block, 1)));
    device_->replay(*graph);
    device_->replay(*graph);
    EXPECT_THAT(read(*device_, data), Each(3 + 2 * 51U));
}

TEST_P(GraphTest, BuffersHaveTheirHandlesAgain) {
    const auto kernel = device_->load_kernel(add_buffers_kernel());
    const auto source = upload(*device_, Words(64, 5));
    const auto target = upload(*device_, Words(64, 0));
    const auto graph = device_->make_graph();
    std::vector<std::byte> block(40);
    const auto set_step = [&](std::uint64_t step) { std::memcpy(block.data(), &step, sizeof step); };
    set_step(1);
    const driver::Resource resources[] = {driver::BufferRange{source, 0, 256},
                                          driver::BufferRange{target, 0, 256}};
    driver::Dispatch dispatch;
    dispatch.kernel = kernel.get();
    dispatch.groups = {1, 1, 1};
    dispatch.block = block;
    dispatch.resources = resources;
    graph->dispatch(dispatch);
    device_->replay(*graph);
    EXPECT_THAT(read(*device_, target), Each(6U));
    set_step(20);
    graph->set_block(0, block);
    device_->replay(*graph);
    EXPECT_THAT(read(*device_, target), Each(25U));
}

TEST_P(GraphTest, EmptyGridsAreLeftOut) {
    const auto data = upload(*device_, Words(64, 1));
    const auto graph = device_->make_graph();
    const AddStep block{data->address, data->address, 64, 1};
    driver::Dispatch dispatch;
    dispatch.kernel = kernel_.get();
    dispatch.groups = {0, 1, 1};
    dispatch.block = std::as_bytes(std::span(&block, 1));
    graph->dispatch(dispatch);
    device_->replay(*graph);
    graph->set_block(0, dispatch.block);
    device_->replay(*graph);
    EXPECT_THAT(read(*device_, data), Each(1U));
}

TEST_P(GraphTest, ItKeepsItsMemoryAndGoesWhileItRuns) { expect_graphs_keep_memory(*device_, kernel_); }

TEST_P(GraphTest, StreamsTakeItInOrder) {
    const auto view = device_->on_stream(application_->create_stream());
    const auto data = upload(*device_, Words(1 << 18, 0));
    const auto graph = device_->make_graph();
    add_step(*graph, kernel_, data, data, 1);
    for (int i = 0; i < 5; ++i) {
        device_->replay(*graph);
        view->replay(*graph);
        add_step(*view, kernel_, data, data, 10);
    }
    EXPECT_THAT(read(*device_, data), Each(60U));
}

TEST_P(GraphTest, RefusesWhatCannotRun) {
    const auto stream = application_->create_stream();
    const auto view = device_->on_stream(stream);
    view->check_replay();
    application_->begin_capture(stream);
    EXPECT_THAT(
        error_of([&] { view->check_replay(); }),
        HasSubstr("stream-captured: cuda: the stream is being captured into a graph, and what was prepared"));
    (void)application_->end_capture(stream);
    const auto other = cuda::open_cuda(0, options_);
    const auto graph = other->make_graph();
    const auto data = upload(*device_, Words(64, 1));
    EXPECT_THAT(error_of([&] { device_->replay(*graph); }),
                HasSubstr("the graph to replay is not of this device"));
    EXPECT_THAT(error_of([&] { graph->fill(data, 0, 256, 0); }), HasSubstr("not of this device"));
}

class FakeGraphTest : public FakeCudaTest {};

TEST_F(FakeGraphTest, FailuresOfTheDriverAreTold) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(64, 1));
    for (const char* name :
         {"cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
        fake_.failures[name] = cuda::CUDA_ERROR_OUT_OF_MEMORY;
        EXPECT_THAT(error_of([&] {
                        const auto graph = device->make_graph();
                        add_step(*graph, kernel, data, data, 1);
                        device->replay(*graph);
                    }),
                    HasSubstr("out-of-memory"))
            << name;
        fake_.failures.clear();
    }
    EXPECT_THAT(read(*device, data), Each(1U));
}

TEST_F(FakeGraphTest, ReplaysCostOneCall) {
    const auto device = open();
    const auto kernel = device->load_kernel(add_step_kernel());
    const auto data = upload(*device, Words(64, 1));
    const auto graph = device->make_graph();
    for (int i = 0; i < 20; ++i) add_step(*graph, kernel, data, data, 1);
    device->replay(*graph);
    const auto before = fake_.calls;
    device->replay(*graph);
    EXPECT_EQ(fake_.calls["cuGraphLaunch"], before.at("cuGraphLaunch") + 1);
    EXPECT_EQ(fake_.calls["cuLaunchKernel"],
              before.contains("cuLaunchKernel") ? before.at("cuLaunchKernel") : 0);
    EXPECT_EQ(fake_.calls["cuGraphInstantiateWithFlags"], 1);
    EXPECT_EQ(fake_.calls["cuGraphExecKernelNodeSetParams_v2"], 0);
    EXPECT_THAT(read(*device, data), Each(41U));
}

}  // namespace
}  // namespace kf::test
