// Tests of commands that are recorded once and submitted often.
#include <thread>

#include "testing.h"
#include "vulkan/driver.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class VulkanGraphTest : public VulkanTest {};
INSTANTIATE_TEST_SUITE_P(Mapping, VulkanGraphTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "direct" : "staged"; });

TEST_P(VulkanGraphTest, RunsInOrderWithAllElse) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    for (const std::size_t size : {std::size_t{1}, std::size_t{33}, std::size_t{4097}}) {
        const auto a = upload(*device_, Words(size, 1));
        const auto b = upload(*device_, Words(size, 0));
        const auto c = upload(*device_, Words(size, 0));
        const auto graph = device_->make_graph();
        add_step(*graph, kernel, b, a, 1);
        add_step(*graph, kernel, a, a, 10);
        graph->copy(c, 0, b, 0, 4 * size);
        graph->fill(b, 0, 4 * size, 7);
        add_step(*graph, kernel, b, b, 1);
        EXPECT_THAT(read(*device_, c), Each(0U)) << "it ran when it was recorded";
        add_step(*device_, kernel, a, a, 1);
        device_->replay(*graph);
        device_->replay(*graph);
        add_step(*device_, kernel, a, a, 1000);
        EXPECT_THAT(read(*device_, a), Each(1022U));
        EXPECT_THAT(read(*device_, b), Each(8U));
        EXPECT_THAT(read(*device_, c), Each(13U));
    }
}

TEST_P(VulkanGraphTest, IsOneSubmissionEachTime) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(64, 0));
    const auto graph = device_->make_graph();
    for (int i = 0; i < 100; ++i) add_step(*graph, kernel, data, data, 1);
    device_->flush();
    const std::uint64_t before = vulkan::statistics(*device_).submissions;
    for (int i = 0; i < 5; ++i) device_->replay(*graph);
    EXPECT_EQ(vulkan::statistics(*device_).submissions, before + 5);
    EXPECT_THAT(read(*device_, data), Each(500U));
    const auto empty = device_->make_graph();
    device_->replay(*empty);
}

TEST_P(VulkanGraphTest, ChangesAreForLaterRuns) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(4097, 0));
    const auto graph = device_->make_graph();
    add_step(*graph, kernel, data, data, 1);
    add_step(*graph, kernel, data, data, 2);
    std::uint32_t sum = 0;
    for (std::uint32_t step = 0; step < 200; ++step) {
        const AddStep block{data->address, data->address, 4097, step};
        graph->set_block(1, std::as_bytes(std::span(&block, 1)));
        device_->replay(*graph);
        sum += 1 + step;
    }
    EXPECT_THAT(read(*device_, data), Each(sum));
}

TEST_P(VulkanGraphTest, KeepsItsMemoryAndGoesWhileItRuns) {
    expect_graphs_keep_memory(*device_, device_->load_kernel(add_step_kernel()));
}

TEST_P(VulkanGraphTest, RefusesWhatIsOfAnotherDevice) {
    const auto other = vulkan::open_vulkan(0);
    const auto graph = other->make_graph();
    const auto data = upload(*device_, Words(64, 1));
    EXPECT_THAT(error_of([&] { device_->replay(*graph); }),
                HasSubstr("the graph to replay is not of this device"));
    EXPECT_THAT(error_of([&] { graph->fill(data, 0, 256, 0); }), HasSubstr("not of this device"));
}

}  // namespace
}  // namespace kf::test
