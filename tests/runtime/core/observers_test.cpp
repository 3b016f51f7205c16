// The names of calls and tensors, in what tools show and in messages.
#include <kf/graph.h>
#include <kf/invoke.h>
#include <kf/kf.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/artifact.h"
#include "core/device_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::invoke;
using testing::HasSubstr;

class ObserversTest : public testing::Test {
protected:
    ObserversTest() {
        fake->labels = true;
        device = detail::make_device(fake);
        ManifestBuilder builder;
        builder.add("f", {with_gradient(tensor("x", 1)), as(Role::result, tensor("result", 1))});
        module = Module::load(device, artifact::write(builder.get()));
    }
    void run(const Tensor<float, 1>& x, PassKind pass = PassKind::forward, Encoder* encoder = nullptr) {
        std::array args{Arg::in(x), Arg::none()};
        invoke(module.function("f"), 0, pass, args, encoder);
    }
    [[nodiscard]] std::string label() const { return fake->last_dispatch().label; }

    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device;
    Module module;
};

TEST_F(ObserversTest, LabelsCalls) {
    const auto x = device.tensor<float>({1, 2});
    run(x);
    EXPECT_EQ(label(), "f");
    run(x.with_grads(), PassKind::backward);
    EXPECT_EQ(label(), "f.backward");
    run(x.named("image"));
    EXPECT_EQ(label(), "f(x='image')");
    run(x.slice(0, 0, 1).named("part"));
    EXPECT_EQ(label(), "f(x='part')");
    // Another stride: the general binder's.
    run(device.tensor<float>({1, 2, 3, 4}).named("every second").slice(0, 0, 4, 2));
    EXPECT_EQ(label(), "f(x='every second')");
    run(device.tensor<float>({1, 2, 3, 4}).named("again").slice(0, 0, 4, 2));
    EXPECT_EQ(label(), "f(x='again')");
}

TEST_F(ObserversTest, LabelsRecordedCalls) {
    const auto x = device.tensor<float>({1, 2}).named("image");
    Encoder encoder = device.encoder();
    run(x, PassKind::forward, &encoder);
    encoder.submit();
    EXPECT_EQ(fake->count("submit"), 1U) << "labels leave lists as they are";
    Graph graph(device);
    run(x, PassKind::forward, &graph.encoder());
    graph.replay();
    EXPECT_EQ(label(), "f(x='image')");
}

TEST_F(ObserversTest, LeavesDevicesAloneThatNothingLooksAt) {
    const auto quiet = std::make_shared<FakeDevice>();
    const Device other = detail::make_device(quiet);
    EXPECT_EQ(other.state()->observers(), nullptr);
    EXPECT_NE(device.state()->observers(), nullptr);
}

TEST_F(ObserversTest, NamesTensorsInMessages) {
    const auto x = device.tensor<float>({1, 2}).named("weights");
    EXPECT_EQ(x.name(), "weights");
    EXPECT_EQ(x.named("").name(), "");
    EXPECT_EQ(x.with_grads().name(), "weights");
    EXPECT_EQ(x.slice(0, 0, 1).name(), "weights");
    EXPECT_EQ(device.tensor<float>({1}).name(), "");
    const auto elsewhere = detail::make_device(std::make_shared<FakeDevice>()).tensor<float>({1, 2});
    const auto refused = [&](const Tensor<float, 1>& given) -> std::string {
        try {
            run(given);
        } catch (const ArgumentError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refused(elsewhere.named("weights")),
                HasSubstr("f: argument 'x' (tensor 'weights'): the tensor is on"));
    EXPECT_THAT(refused(elsewhere), HasSubstr("f: argument 'x': the tensor is on"));
}

}  // namespace
