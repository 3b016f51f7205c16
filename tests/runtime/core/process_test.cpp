// Tests what a forked child may do with its parent's devices: nothing, and it learns so at once.
#include <sys/wait.h>
#include <unistd.h>

#include <kf/device.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/device_state.h"
#include "fake_driver.h"

namespace kf {
namespace {

/// The exit code of a child that runs `child` and ends as programs do; it has 20 seconds.
template <class Child>
int exit_code_of(Child child) {
    const pid_t id = fork();
    if (id == 0) {
        alarm(20);
        child();
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(id, &status, 0), id);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <class Act>
void expect_forked(Act act) {
    try {
        act();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::forked);
    }
}

class ClosingDevice : public test::FakeDevice {
public:
    explicit ClosingDevice(int& closed) : closed_(closed) {}
    ~ClosingDevice() override { ++closed_; }

private:
    int& closed_;
};

TEST(Process, AChildIsRefusedByEveryEntry) {
    int closed = 0;
    std::optional<Device> device = detail::make_device(std::make_shared<ClosingDevice>(closed));
    std::optional<Tensor<float, 1>> x = device->tensor<float>({1, 2, 3}).with_grads();
    std::optional<Encoder> encoder = device->encoder();
    EXPECT_EQ(exit_code_of([&] {
                  expect_forked([&] { device->wait(); });
                  expect_forked([&] { device->flush(); });
                  expect_forked([&] { (void)device->encoder(); });
                  expect_forked([&] { (void)device->with_stream(nullptr); });
                  expect_forked([&] { (void)device->empty<float>({3}); });
                  expect_forked([&] { (void)device->zeros<float>({3}); });
                  expect_forked([&] { (void)device->tensor<float>({1, 2}); });
                  expect_forked([&] { (void)x->to_vector(); });
                  expect_forked([&] { x->copy_from({4, 5, 6}); });
                  expect_forked([&] { (void)x->with_grads(); });
                  expect_forked([&] { encoder->submit(); });
                  EXPECT_EQ(device->try_wait().error().code(), ErrorCode::forked);
                  // What is known without the driver stays known.
                  EXPECT_EQ(device->info().name, "Fake");
                  EXPECT_EQ(x->slice(0, 1, 3).shape()[0], 2);
                  encoder.reset();
                  x.reset();
                  device.reset();
                  EXPECT_EQ(closed, 0) << "the child can't close its parent's device";
              }),
              0);
    EXPECT_EQ(x->to_vector(), (std::vector<float>{1, 2, 3}));
    encoder->submit();
    encoder.reset();
    x.reset();
    device.reset();
    EXPECT_EQ(closed, 1);
}

TEST(Process, AChildHasDevicesOfItsOwn) {
    EXPECT_EQ(exit_code_of([] {
                  const Device device = detail::make_device(std::make_shared<test::FakeDevice>());
                  EXPECT_EQ(device.tensor<float>({1, 2}).to_vector().size(), 2U);
                  const Device& again = device;
                  EXPECT_EQ(exit_code_of([&] { expect_forked([&] { again.wait(); }); }), 0);
              }),
              0);
}

TEST(Process, DriversThatAParentStartedAreRefused) {
    EXPECT_EQ(exit_code_of([] {
                  (void)devices();
                  EXPECT_EQ(exit_code_of([] {
                                expect_forked([] { (void)devices(); });
                                expect_forked([] { (void)Device::open("vulkan"); });
                                EXPECT_EQ(Device::try_open().error().code(), ErrorCode::forked);
                            }),
                            0);
              }),
              0);
}

}  // namespace
}  // namespace kf
