// The GPU's own clock.
#include "vulkan/timestamps.h"

#include <vector>

#include "testing.h"

namespace kf::test {
namespace {

class TimestampsTest : public VulkanTest {};

TEST_P(TimestampsTest, TakeTheTimeBetweenCommands) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto small = upload(*device_, Words(64));
    const auto large = upload(*device_, Words(1 << 21));
    std::vector<std::shared_ptr<driver::Timestamp>> times{device_->mark_time()};
    ASSERT_NE(times.front(), nullptr);
    for (const auto& memory : {small, large}) {
        add_step(*device_, kernel, memory, memory, 1);
        times.push_back(device_->mark_time());
    }
    device_->wait();
    const double little = device_->nanoseconds(*times[0], *times[1]);
    const double much = device_->nanoseconds(*times[1], *times[2]);
    EXPECT_GT(little, 0);
    EXPECT_GT(much, little);
    EXPECT_NEAR(device_->nanoseconds(*times[0], *times[2]), little + much, 2);
    // More than a pool has, of which some are gone.
    for (std::uint32_t i = 0; i < 3 * vulkan::QueryPool::size; ++i) {
        times.push_back(device_->mark_time());
        if (i % 2 == 0) times.pop_back();
    }
    device_->wait();
    for (std::size_t i = 1; i < times.size(); ++i) {
        EXPECT_GE(device_->nanoseconds(*times[i - 1], *times[i]), 0);
    }
}

TEST_P(TimestampsTest, OutliveTheDevice) {
    const auto first = device_->mark_time();
    const auto second = device_->mark_time();
    device_->wait();
    EXPECT_GE(device_->nanoseconds(*first, *second), 0);
    device_.reset();
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutDirectMapping, TimestampsTest, ::testing::Bool());

}  // namespace
}  // namespace kf::test
