// Handles that are null, or were moved from: each use is refused by an error.
#include <kf/cuda.h>
#include <kf/graph.h>
#include <kf/profile.h>
#include <kf/vulkan.h>

#include <functional>
#include <vector>

#include "globals.h"
#include "launch.h"
#include "testing.h"

namespace kf::test {
namespace {

using Uses = std::vector<std::function<void()>>;

void expect_refused(const Uses& uses, const char* what) {
    int number = 0;
    for (const auto& use : uses) {
        const Result<void> result = attempt(use);
        ASSERT_FALSE(result.ok()) << what << ", use " << number;
        EXPECT_EQ(result.error().code(), ErrorCode::missing_argument)
            << what << ", use " << number << ": " << result.error().what();
        EXPECT_THAT(result.error().what(), ::testing::HasSubstr("null")) << what << ", use " << number;
        ++number;
    }
}

void expect_null(const Device& device) {
    EXPECT_FALSE(device);
    EXPECT_TRUE(device == Device());
    const float values[] = {1};
    const TextureShape shape{.extents = {2, 2}, .format = TextureFormat::rgba32f};
    expect_refused({
                       [&] { (void)device.info(); },
                       [&] { (void)device.with_stream(nullptr); },
                       [&] {
                           (void)device.tensor<float>({1, 2});
                       },
                       [&] {
                           (void)device.tensor<float>({{1, 2}, {3, 4}});
                       },
                       [&] { (void)device.tensor<float>(std::vector<float>{1}); },
                       [&] { (void)device.tensor<float>(std::span<const float>(values), {1}); },
                       [&] { (void)device.empty<float>({2}); },
                       [&] { (void)device.zeros<float>({2}); },
                       [&] { (void)device.ones<float>({2}); },
                       [&] { device.set_check(Check::nan); },
                       [&] { (void)device.check(); },
                       [&] { device.flush(); },
                       [&] { device.wait(); },
                       [&] { device.try_wait().value(); },
                       [&] { device.show_lines(nullptr); },
                       [&] { (void)device.encoder(); },
                       [&] { (void)device.state(); },
                       [&] { (void)Graph(device); },
                       [&] { (void)Profile(device); },
                       [&] { (void)Sampler(device, {}); },
                       [&] { (void)devices::Module(device); },
                       [&] { (void)devices::Module::try_load(device).value(); },
                       [&] { (void)AnyTexture::empty(device, shape); },
                       [&] { (void)adopt(device, VulkanImage()); },
                       [&] { (void)adopt(device, CudaArray()); },
                       [&] { (void)CommandBufferEncoder(device, nullptr); },
                   },
                   "a device");
}

class NullTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NullTest);
INSTANTIATE_TEST_SUITE_P(Devices, NullTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST(NullDevice, IsRefused) { expect_null(Device()); }

TEST_P(NullTest, DevicesThatWereMovedFrom) {
    Device moved = device_;
    const Device other = std::move(moved);
    expect_null(moved);  // NOLINT(bugprone-use-after-move)
    other.wait();
    const devices::Module module(device_);
    const auto prepared = module.advance.prepare(device_.zeros<float>({2}), 1.F);
    Graph graph(device_);
    expect_refused({[&] { prepared(Device()); }, [&] { graph.replay(Device()); }}, "a stream");
}

TEST_P(NullTest, GraphsAndPreparedCallsThatWereMovedFrom) {
    Graph graph(device_);
    const Graph other = std::move(graph);
    // NOLINTBEGIN(bugprone-use-after-move)
    expect_refused({
                       [&] { (void)graph.encoder(); },
                       [&] { (void)graph.node(); },
                       [&] { (void)graph.size(); },
                       [&] { graph.replay(); },
                       [&] { graph.replay(device_); },
                       [&] { graph.try_replay().value(); },
                       [&] { graph.set("a", 1); },
                       [&] { graph.try_set("a", 1).value(); },
                       [&] { (void)graph.state(); },
                   },
                   "a graph");
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_EQ(other.size(), 0U);
    PreparedCall prepared;
    Encoder encoder = device_.encoder();
    for (const Uses& uses : {Uses{[&] { prepared(); }, [&] { prepared(device_); },
                                  [&] { prepared.set("a", 1); }, [&] { prepared.append_to(encoder); }}}) {
        for (const auto& use : uses) EXPECT_EQ(attempt(use).error().code(), ErrorCode::missing_argument);
    }
}

TEST_P(NullTest, ModulesThatAreNull) {
    const Module module;
    expect_refused({
                       [&] { (void)module.device(); },
                       [&] { (void)module.name(); },
                       [&] { (void)module.sha256(); },
                       [&] { (void)module.functions(); },
                       [&] { (void)module.function("x"); },
                       [&] { module.load_all(); },
                       [&] { module.try_load_all().value(); },
                       [&] { (void)module.state(); },
                   },
                   "a module");
}

TEST_P(NullTest, ProfilesThatWereMovedFrom) {
    Profile profile(device_);
    const Profile other = std::move(profile);
    // NOLINTBEGIN(bugprone-use-after-move)
    expect_refused({
                       [&] { profile.stop(); },
                       [&] { (void)profile.calls(); },
                       [&] { (void)profile.table(); },
                       [&] { profile.write_trace("/nowhere/trace"); },
                   },
                   "a profile");
    // NOLINTEND(bugprone-use-after-move)
}

TEST_P(NullTest, FunctionsThatWereMovedFrom) {
    devices::Module module(device_);
    globals::Module with_globals(device_);
    launch::Module launched(device_);
    const auto x = device_.zeros<float>({2});
    Encoder encoder = device_.encoder();
    auto polynomial = module.polynomial;
    auto advance = module.advance;
    auto gained = with_globals.gained;
    auto fill = launched.fill;
    {
        const auto taken = std::move(polynomial);
        const auto also = std::move(advance);
        const auto third = std::move(gained);
        const auto fourth = std::move(fill);
    }
    // NOLINTBEGIN(bugprone-use-after-move)
    expect_refused({
                       [&] { (void)polynomial(1, 2, 3, x); },
                       [&] { (void)polynomial.try_call(1, 2, 3, x).value(); },
                       [&] { (void)polynomial.append_to(encoder, 1, 2, 3, x); },
                       [&] { (void)polynomial.try_append_to(encoder, 1, 2, 3, x).value(); },
                       [&] { (void)polynomial.prepare(1, 2, 3, x); },
                       [&] { (void)polynomial.try_prepare(1, 2, 3, x).value(); },
                       [&] { (void)polynomial.options({.deterministic = true}); },
                       [&] { (void)polynomial.hook([](HookContext&) {}); },
                       [&] { (void)polynomial.hook(nullptr); },
                       [&] { advance(x, 1.F); },
                       [&] { advance.append_to(encoder, x, 1.F); },
                       [&] { (void)gained(x); },
                       [&] { (void)gained.set({}); },
                       [&] { (void)fill.threads(2); },
                       [&] { (void)fill.groups(2); },
                   },
                   "a function");
    // NOLINTEND(bugprone-use-after-move)
    // A module's functions outlive it, and copies what they are of.
    std::optional<devices::Module> gone(std::in_place, device_);
    const auto kept = gone->advance;
    gone.reset();
    kept(x, 1.F);
    EXPECT_EQ(x.to_vector(), (std::vector<float>{1, 1}));
}

TEST_P(NullTest, OutputsThatAreNull) {
    const devices::Module module(device_);
    const auto x = device_.zeros<float>({2});
    Encoder encoder = device_.encoder();
    const Tensor<float, 1> null;
    expect_refused({
                       [&] { module.polynomial(1, 2, 3, x, out(null)); },
                       [&] { module.polynomial.try_call(1, 2, 3, x, out(null)).value(); },
                       [&] { module.polynomial.append_to(encoder, 1, 2, 3, x, out(null)); },
                       [&] { (void)module.polynomial.prepare(1, 2, 3, x, out(null)); },
                       [&] { (void)detail::Arg::out(out(RWTexture2D<float4>())); },
                   },
                   "an output");
}

}  // namespace
}  // namespace kf::test
