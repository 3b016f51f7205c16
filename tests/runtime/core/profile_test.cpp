// Profiles, with a driver in host memory whose dispatches take a microsecond each.
#include <cstdio>
#include <fstream>
#include <sstream>

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

class ProfileTest : public testing::Test {
protected:
    ProfileTest() {
        fake->tells_time = true;
        ManifestBuilder builder;
        builder.add("f", {with_gradient(tensor("x", 1)), as(Role::result, tensor("result", 1))});
        builder.add("g", {value("a"), as(Role::result, value("result"))}, false);
        module = Module::load(device, artifact::write(builder.get()));
    }
    void run(PassKind pass = PassKind::forward, Encoder* encoder = nullptr) {
        const auto x = device.zeros<float>({1000}).with_grads();
        std::array args{Arg::in(x), Arg::none()};
        invoke(module.function("f"), 0, pass, args, encoder);
    }
    [[nodiscard]] std::string refused() const {
        try {
            const Profile profile(device);
        } catch (const Error& error) {
            return std::string(error_id(error.code())) + ": " + error.what();
        }
        return "";
    }

    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device = detail::make_device(fake);
    Module module;
};

TEST_F(ProfileTest, TimesCalls) {
    run();  // before it begins
    Profile profile(device);
    run();
    run();
    run(PassKind::backward);
    float result = 0;
    const float a = 1;
    std::array args{Arg::in(a), Arg::out(result)};
    invoke(module.function("g"), 0, PassKind::forward, args);
    const std::vector<ProfiledCall>& calls = profile.calls();
    run();  // after it ended
    ASSERT_EQ(calls.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_DOUBLE_EQ(calls[i].start, static_cast<double>(i) * 1e-6);
        EXPECT_DOUBLE_EQ(calls[i].duration, 1e-6) << "the wait for a value isn't the kernel's";
    }
    EXPECT_EQ(calls[0].function, "f");
    EXPECT_EQ(calls[0].pass, "forward");
    EXPECT_EQ(calls[0].bytes, 8000U);
    EXPECT_EQ(calls[2].pass, "backward");
    EXPECT_EQ(calls[2].bytes, 4000U + 8000U) << "the gradient is added to";
    EXPECT_EQ(calls[3].bytes, 0U);
    EXPECT_EQ(profile.table(),
              "function  pass      calls  total ms  us a call   MB  GB/s\n"
              "f         forward       2     0.002        1.0  0.0   8.0\n"
              "f         backward      1     0.001        1.0  0.0  12.0\n"
              "g         forward       1     0.001        1.0  0.0   0.0\n");
    EXPECT_EQ(device.state()->observers(), nullptr);
}

TEST_F(ProfileTest, TimesRecordedCallsOneByOne) {
    Graph graph(device);
    run(PassKind::forward, &graph.encoder());
    run(PassKind::backward, &graph.encoder());
    graph.replay();
    Profile profile(device);
    graph.replay();
    Encoder encoder = device.encoder();
    run(PassKind::forward, &encoder);
    encoder.submit();
    ASSERT_EQ(profile.calls().size(), 3U);
    EXPECT_EQ(profile.calls()[1].pass, "backward");
    EXPECT_DOUBLE_EQ(profile.calls()[2].start, 2e-6);
    EXPECT_EQ(profile.calls()[2].bytes, 8000U);
}

TEST_F(ProfileTest, WritesATrace) {
    Profile profile(device);
    run();
    run(PassKind::backward);
    const std::string path = testing::TempDir() + "kf_profile_test.json";
    profile.write_trace(path);
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(
        text.str(),
        "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
        "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", \"args\": {\"name\": \"fake:0 (Fake)\"}},\n"
        "{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"name\": \"f\", \"cat\": \"forward\", \"ts\": 0.000, "
        "\"dur\": 1.000, \"args\": {\"bytes\": 8000}},\n"
        "{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"name\": \"f.backward\", \"cat\": \"backward\", "
        "\"ts\": 1.000, \"dur\": 1.000, \"args\": {\"bytes\": 12000}}\n]}\n");
    (void)std::remove(path.c_str());
    try {
        profile.write_trace("/there/is/no/such/folder/trace.json");
        ADD_FAILURE() << "it was written";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::file_unwritable);
        EXPECT_STREQ(error.what(), "profile: can't write /there/is/no/such/folder/trace.json");
    }
}

TEST_F(ProfileTest, IsRefusedWhereItCannotBe) {
    {
        const Profile profile(device);
        EXPECT_EQ(refused(), "profile-context: profile: another profile of the device is on");
    }
    EXPECT_EQ(refused(), "");
    fake->tells_time = false;
    EXPECT_EQ(refused(), "missing-feature: profile: fake:0 (Fake) has no timestamps");
    EXPECT_THROW(Profile{Device()}, ArgumentError);
}

TEST_F(ProfileTest, ReadsTheTimesOfManyCallsMeanwhile) {
    Profile profile(device);
    const auto x = device.zeros<float>({1});
    const auto y = device.zeros<float>({1});
    const auto target = out(y);
    constexpr int many = 10000;
    for (int i = 0; i < many; ++i) {
        std::array args{Arg::in(x), Arg::out(target)};
        invoke(module.function("f"), 0, PassKind::forward, args);
        fake->commands.clear();
    }
    ASSERT_EQ(profile.calls().size(), static_cast<std::size_t>(many));
    EXPECT_NEAR(profile.calls().back().start, (many - 1) * 1e-6, 1e-9);
}

}  // namespace
