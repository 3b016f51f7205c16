// Hooks through generated headers, on each device: what they set and record, and what is refused.
#include <stdexcept>
#include <thread>

#include "globals.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float hook_poison = 55.F;
using GlobalsContext = HookContextOf<globals::Globals>;

globals::Globals gain(float value) {
    globals::Globals values;
    values.look_gain = value;
    return values;
}

class HooksTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    devices::Module module_{device_};
    globals::Module globals_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HooksTest);
INSTANTIATE_TEST_SUITE_P(Devices, HooksTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(HooksTest, AHookSetsGlobalsForOneDispatch) {
    const auto x = device_.tensor<float>({1, 2, 3});
    float next = 1;
    const auto kept = globals_.gained.set(gain(100));
    const auto hooked = kept.hook([&](GlobalsContext& context) { context.set(gain(next++)); });
    EXPECT_THAT(hooked(x).to_vector(), ElementsAre(2, 3, 4));
    EXPECT_THAT(hooked(x).to_vector(), ElementsAre(3, 5, 7));
    EXPECT_THAT(kept(x).to_vector(), ElementsAre(101, 201, 301));
    EXPECT_THAT(hooked.options({.variant = "small"})(x).to_vector(), ElementsAre(4, 7, 10));
    EXPECT_THAT(hooked.set(gain(7))(x).to_vector(), ElementsAre(5, 9, 13));
}

TEST_P(HooksTest, HooksAreCalledInTheOrderInWhichTheyWereAdded) {
    const auto x = device_.tensor<float>({1, 2});
    std::string order;
    const auto first = globals_.gained.hook([&](GlobalsContext& context) {
        order += "a";
        context.set(gain(2));
    });
    const auto both = first.hook([&](GlobalsContext& context) {
        order += "b";
        context.set(gain(3));
    });
    EXPECT_THAT(both(x).to_vector(), ElementsAre(4, 7));
    EXPECT_EQ(order, "ab");
    EXPECT_THAT(first(x).to_vector(), ElementsAre(3, 5));
    EXPECT_EQ(order, "aba");
}

TEST_P(HooksTest, CommandsOfAHookComeRightBeforeTheCall) {
    for (const std::int64_t size : {1, 33, 4097}) {
        std::vector<float> expected(static_cast<std::size_t>(size) + 4, hook_poison);
        const auto whole = device_.tensor<float>(expected);
        const auto x = whole.slice(0, 2, 2 + size);
        const auto hooked = module_.advance.hook(
            [&](HookContext& context) { module_.advance.append_to(context.encoder(), x, 10.F); });
        hooked(x, 1.F);
        std::fill(expected.begin() + 2, expected.end() - 2, hook_poison + 11);
        EXPECT_EQ(whole.to_vector(), expected);
        // The call reads what the hook's commands wrote.
        const auto square = module_.polynomial.hook(
            [&](HookContext& context) { module_.advance.append_to(context.encoder(), x, -65.F); });
        EXPECT_THAT(square(1, 0, 2, x).to_vector(), Each(3));
        Encoder encoder = device_.encoder();
        const auto y = square.append_to(encoder, 1, 0, 2, x);
        EXPECT_THAT(x.to_vector(), Each(1));
        encoder.submit();
        EXPECT_THAT(y.to_vector(), Each(64 * 64 + 2));
    }
}

TEST_P(HooksTest, DerivativesAreHookedAlike) {
    const auto x = device_.tensor<float>({1, 2, 3}).with_grads();
    globals::Globals values = gain(2);
    values.scene = globals::Scene{{{1.F, 1.F, 1.F}, 3.F}, {1.F, 2.F, 4.F}, 1};
    int calls = 0;
    const auto lit = globals_.lit.hook([&](GlobalsContext& context) {
        ++calls;
        context.set(values);
    });
    const auto y = lit(x);
    lit.backward(x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(24, 48, 72));
    const auto [z, dz] = lit.jvp({x, device_.tensor<float>({1, 1, 1})});
    EXPECT_THAT(dz.to_vector(), ElementsAre(24, 48, 72));
    Encoder encoder = device_.encoder();
    lit.backward.append_to(encoder, x, y);
    encoder.submit();
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(48, 96, 144));
    EXPECT_EQ(calls, 4);
}

TEST_P(HooksTest, AModuleHooksAllItsFunctions) {
    int calls = 0;
    const globals::Module hooked = globals_.hook([&](HookContext& context) {
        EXPECT_EQ(context.device(), device_);
        ++calls;
    });
    const auto x = device_.tensor<float>({1, 2});
    EXPECT_THAT(hooked.plain(x).to_vector(), ElementsAre(1, 2));
    EXPECT_THAT(hooked.gained.set(gain(2))(x).to_vector(), ElementsAre(3, 5));
    EXPECT_EQ(calls, 2);
}

TEST_P(HooksTest, WhatAHookThrowsEndsTheCallBeforeAnythingRuns) {
    const auto x = device_.tensor<float>(std::vector<float>(5, 1.F));
    const auto y = device_.tensor<float>(std::vector<float>(5, hook_poison));
    const auto hooked =
        module_.polynomial
            .hook([&](HookContext& context) { module_.advance.append_to(context.encoder(), x, 1.F); })
            .hook([](HookContext&) { throw std::out_of_range("no such scene"); });
    EXPECT_THROW(hooked(1, 0, 0, x, out(y)), std::out_of_range);
    Encoder encoder = device_.encoder();
    module_.advance.append_to(encoder, x, 2.F);
    EXPECT_THROW(hooked.append_to(encoder, 1, 0, 0, x, out(y)), std::out_of_range);
    encoder.submit();
    EXPECT_THAT(x.to_vector(), Each(3));
    EXPECT_THAT(y.to_vector(), Each(hook_poison));
}

TEST_P(HooksTest, NothingThatAHookRecordedRunsWhereTheCallIsRefused) {
    const auto x = device_.tensor<float>(std::vector<float>(5, 1.F));
    const auto y = device_.tensor<float>(std::vector<float>(4, hook_poison));
    const auto hooked = module_.polynomial.hook(
        [&](HookContext& context) { module_.advance.append_to(context.encoder(), x, 1.F); });
    const auto refused = hooked.try_call(1, 0, 0, x, out(y));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), ErrorCode::shape_mismatch);
    EXPECT_THAT(x.to_vector(), Each(1));
    EXPECT_THAT(y.to_vector(), Each(hook_poison));
}

TEST_P(HooksTest, AHookMayCallItsOwnFunction) {
    const auto x = device_.tensor<float>({0});
    int depth = 0;
    std::function<void()> again;
    const auto hooked = module_.advance.hook([&](HookContext&) {
        if (++depth <= 3) again();
    });
    again = [&] { hooked(x, 1.F); };
    hooked(x, 10.F);
    EXPECT_THAT(x.to_vector(), ElementsAre(13));
    EXPECT_EQ(depth, 4);
}

TEST_P(HooksTest, ThreadsShareAHookedFunction) {
    constexpr int calls = 50;
    const auto hooked = globals_.gained.hook([](GlobalsContext& context) {
        const auto id = static_cast<float>(std::hash<std::thread::id>()(std::this_thread::get_id()) % 1000);
        context.set(gain(id));
    });
    std::vector<std::thread> threads;
    std::array<bool, 3> right{};
    for (std::size_t t = 0; t < right.size(); ++t) {
        threads.emplace_back([&, t] {
            const auto id =
                static_cast<float>(std::hash<std::thread::id>()(std::this_thread::get_id()) % 1000);
            const auto x = device_.tensor<float>({1, 2});
            right[t] = true;
            for (int i = 0; i < calls; ++i) {
                right[t] = right[t] && hooked(x).to_vector() == std::vector<float>{id + 1, 2 * id + 1};
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(right, Each(true));
}

TEST_P(HooksTest, MisuseOfAHooksEncoderIsRefused) {
    const auto x = device_.tensor<float>({1});
    const auto submitting = module_.advance.hook([](HookContext& context) { context.encoder().submit(); });
    const auto submitted = submitting.try_call(x, 1.F);
    ASSERT_FALSE(submitted.ok());
    EXPECT_EQ(submitted.error().code(), ErrorCode::hook_context);
    EXPECT_THAT(submitted.error().what(), HasSubstr("goes right before the call"));

    // Taken out of the context: the call can't have what is in it.
    std::optional<Encoder> taken;
    const auto taking =
        module_.advance.hook([&](HookContext& context) { taken = std::move(context.encoder()); });
    EXPECT_EQ(taking.try_call(x, 1.F).error().code(), ErrorCode::encoder_submitted);
    EXPECT_EQ(taken->try_submit().error().code(), ErrorCode::hook_context);

    // Replaced by one of another kind: what is in it was for somebody else.
    const auto replacing = module_.advance.hook([&](HookContext& context) {
        context.encoder() = device_.encoder();
        module_.advance.append_to(context.encoder(), x, 1.F);
    });
    const auto replaced = replacing.try_call(x, 1.F);
    ASSERT_FALSE(replaced.ok());
    EXPECT_EQ(replaced.error().code(), ErrorCode::hook_context);
    EXPECT_THAT(replaced.error().what(), HasSubstr("another encoder was assigned"));

    Encoder done = device_.encoder();
    done.submit();
    bool called = false;
    const auto late = module_.advance.hook([&](HookContext&) { called = true; });
    EXPECT_EQ(late.try_append_to(done, x, 1.F).error().code(), ErrorCode::encoder_submitted);
    EXPECT_FALSE(called);
    EXPECT_THROW((void)module_.advance.hook(nullptr), ArgumentError);
    EXPECT_THROW((void)globals_.gained.hook(nullptr), ArgumentError);
    EXPECT_THAT(x.to_vector(), ElementsAre(1));
}

}  // namespace
}  // namespace kf::test
