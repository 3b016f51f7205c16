// The GPU's own clock, by events.
#include "cuda/timestamp.h"

#include "testing.h"

namespace kf::test {
namespace {

class TimestampTest : public CudaTest {};

INSTANTIATE_TEST_SUITE_P(Cuda, TimestampTest, ::testing::Values(Driver::fake, Driver::real), driver_name);

TEST_P(TimestampTest, TakesTheTimeBetweenCommands) {
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*device_, Words(1 << 20, 1));
    const auto first = device_->mark_time();
    ASSERT_NE(first, nullptr);
    add_step(*device_, kernel, data, data, 1);
    add_step(*device_, kernel, data, data, 1);
    const auto second = device_->mark_time();
    device_->wait();
    const double found = device_->nanoseconds(*first, *second);
    if (fake_) {
        EXPECT_DOUBLE_EQ(found, 2e6);
    } else {
        EXPECT_GT(found, 0);
    }
}

TEST_P(TimestampTest, IsOfItsStream) {
    const cuda::CUstream stream = application_->create_stream();
    const auto view = device_->on_stream(stream);
    const auto kernel = device_->load_kernel(add_step_kernel());
    const auto data = upload(*view, Words(1 << 16, 1));
    const auto first = view->mark_time();
    add_step(*view, kernel, data, data, 1);
    const auto second = view->mark_time();
    // Nobody has waited for that stream.
    EXPECT_GT(device_->nanoseconds(*first, *second), 0);
    application_->begin_capture(stream);
    EXPECT_EQ(view->mark_time(), nullptr);
    // Another stream's capture forbids nothing.
    const auto third = device_->mark_time();
    EXPECT_GE(device_->nanoseconds(*third, *device_->mark_time()), 0);
    application_->destroy(application_->end_capture(stream));
}

}  // namespace
}  // namespace kf::test
