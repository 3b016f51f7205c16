// Launches by threads and globals through generated headers, on each device.
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "global_forms.h"
#include "globals.h"
#include "launch.h"
#include "testing.h"

namespace kf::test {
namespace {

constexpr float launch_poison = 77.F;
constexpr std::array launch_sizes{0U, 1U, 31U, 33U, 4097U};

class LaunchTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    launch::Module module_{device_};
    globals::Module globals_{device_};
    global_forms::Module forms_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaunchTest);
INSTANTIATE_TEST_SUITE_P(Devices, LaunchTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(LaunchTest, AFunctionRunsForAsManyThreadsAsAsked) {
    for (const std::uint32_t size : launch_sizes) {
        SCOPED_TRACE(size);
        std::vector<float> expected(size + 5, launch_poison);
        const auto whole = device_.tensor<float>(expected);
        module_.fill.threads(size)(whole, 2.5F);
        std::iota(expected.begin(), expected.begin() + size, 2.5F);
        EXPECT_EQ(whole.to_vector(), expected);
    }
}

TEST_P(LaunchTest, AnEntryPointRunsInGroups) {
    for (const std::uint32_t size : launch_sizes) {
        SCOPED_TRACE(size);
        const std::vector<float> ones(size, 1.F);
        std::vector<float> expected(size + 9, launch_poison);
        const auto whole = device_.tensor<float>(expected);
        const auto sum = whole.slice(0, 4, 4 + static_cast<std::int64_t>(size));
        module_.prefix_sum.threads(size)(size, device_.tensor<float>(ones), sum);
        for (std::size_t i = 0; i < size; ++i) expected[4 + i] = static_cast<float>(i % 32 + 1);
        EXPECT_EQ(whole.to_vector(), expected);
    }
}

TEST_P(LaunchTest, ADerivativeIsLaunchedAlike) {
    for (const std::uint32_t size : launch_sizes) {
        SCOPED_TRACE(size);
        const std::vector<float> twos(size, 2.F);
        const auto x = device_.tensor<float>(twos).with_grads();
        // What flows in is 1 where an output has no gradient.
        const auto y = device_.tensor<float>(std::vector<float>(size));
        Diff<float> weight{3.F};
        const auto launched = module_.square_kernel.threads(size);
        launched(3.F, x, y);
        EXPECT_EQ(y.to_vector(), std::vector<float>(size, 12.F));
        launched.backward(weight, x, y);
        EXPECT_EQ(x.grad().to_vector(), std::vector<float>(size, 12.F));
        EXPECT_EQ(weight.grad, 4.F * static_cast<float>(size));
    }
}

TEST_P(LaunchTest, CountsAreChecked) {
    const auto x = device_.tensor<float>(std::vector<float>(4, launch_poison));
    const auto none = module_.fill.try_call(x, 1.F);
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code(), ErrorCode::missing_argument);
    const auto many = module_.fill.groups(1, 0xFFFFFFFFU).try_call(x, 1.F);
    ASSERT_FALSE(many.ok());
    EXPECT_EQ(many.error().code(), ErrorCode::value_range);
    EXPECT_EQ(x.to_vector(), std::vector<float>(4, launch_poison));
}

TEST_P(LaunchTest, GlobalsAreSetBeforehand) {
    const std::vector<float> given{1.F, 2.F, 3.F};
    const auto x = device_.tensor<float>(given);
    const auto unset = globals_.gained.try_call(x);
    ASSERT_FALSE(unset.ok());
    EXPECT_EQ(unset.error().code(), ErrorCode::missing_argument);
    globals::Globals values;
    values.look_gain = 4.F;
    values.scene = globals::Scene{{{1.F, 1.F, 1.F}, 3.F}, {1.F, 2.F, 4.F}, 1};
    const globals::Module set = globals_.set(values);
    EXPECT_EQ(set.gained(x).to_vector(), (std::vector<float>{5.F, 9.F, 13.F}));
    EXPECT_EQ(set.lit(x).to_vector(), (std::vector<float>{24.F, 96.F, 216.F}));
    // A copy keeps the rest.
    globals::Globals less;
    less.look_gain = 1.F;
    EXPECT_EQ(set.lit.set(less)(x).to_vector(), (std::vector<float>{6.F, 24.F, 54.F}));
    EXPECT_EQ(set.lit(x).to_vector(), (std::vector<float>{24.F, 96.F, 216.F}));
}

TEST_P(LaunchTest, GlobalsMayBeArrays) {
    globals::Globals values;
    values.tables_0 = values.tables_1 = values.tables_2 = Buffer<float>(device_, std::vector{1.F, 1.F, 1.F});
    values.tables_1 = Buffer<float>(device_, std::vector{10.F, 20.F, 30.F});
    const auto first = device_.tensor<float>({100, 200, 300});
    const auto second = device_.tensor<float>({1000, 2000, 3000});
    values.rows_0 = first;
    values.rows_1 = second;
    values.shelves_0_books = values.shelves_1_books = Buffer<float>(device_, std::vector{1.F, 1.F, 1.F});
    values.shelves_0_height = 0.25F;
    values.shelves_1_height = 0.5F;
    values.grids_0 = values.grids_1 = device_.zeros<float>({3});
    const auto i = device_.tensor<std::int32_t>({0, 1, 2});
    EXPECT_THAT(globals_.gathered.set(values)(i).to_vector(),
                ::testing::ElementsAre(101.25F, 2020.5F, 301.25F));
    values.tables_2 = {};
    const auto unset = globals_.gathered.set(values).try_call(i);
    ASSERT_FALSE(unset.ok());
    EXPECT_THAT(std::string(unset.error().what()), ::testing::HasSubstr("'tables"));
}

TEST_P(LaunchTest, GlobalsMayBeTensors) {
    globals::Globals values;
    values.table = device_.tensor<float>(std::vector<float>(5, launch_poison));
    values.steps = device_.tensor<float>(std::vector<float>{1.F, 2.F, 3.F, 4.F, 5.F});
    Encoder encoder = device_.encoder();
    globals_.tabulate.set(values).threads(4).append_to(encoder, 3.F);
    encoder.submit();
    EXPECT_EQ(values.table.to_vector(), (std::vector<float>{3.F, 6.F, 9.F, 12.F, launch_poison}));
}

TEST_P(LaunchTest, GlobalsMayBeBuffersAndPointers) {
    const std::vector<std::int32_t> numbers{0, 1, 2};
    const auto i = device_.tensor<std::int32_t>(numbers);
    const kf::RWBuffer<float> sums(device_, std::vector<float>{1.F, 2.F, 3.F});
    global_forms::Globals values;
    values.sums = sums;
    values.numbers = sums;
    values.tree_bark_rings = 2.F;
    values.tree_bark_offsets = std::array<std::int32_t, 2>{5, 7};
    values.tree_bark_depths = sums;
    values.tree_bark_marks = kf::RWBuffer<std::int32_t>(device_, numbers);
    const global_forms::Module set = forms_.set(values);
    // Each waits for what the one before wrote.
    set.collect(i, 1.F);
    set.count_up(i);
    EXPECT_EQ(sums.to_vector(), (std::vector<float>{5.F, 6.F, 7.F}));
    const auto unset = set.grown.try_call(i);
    ASSERT_FALSE(unset.ok());
    EXPECT_THAT(unset.error().what(), testing::HasSubstr("tree.height"));
    global_forms::Globals height;
    height.tree_height = 1.F;
    EXPECT_EQ(set.grown.set(height)(i).to_vector(), (std::vector<float>{11.F, 13.F, 15.F}));
    EXPECT_EQ(values.tree_bark_marks.to_vector(), (std::vector<std::int32_t>{7, 8, 9}));
}

TEST_P(LaunchTest, GlobalsOfSeveralModulesHaveTheirNames) {
    global_forms::Globals values;
    values.scenery_scale = 2.F;
    values.backdrop_scale = 10.F;
    values.fog = global_forms::Fog{2.F, {1.F, 3.F, 5.F}};
    values.air_gain = 4.F;
    values.haze = 0.5F;
    const global_forms::Module set = forms_.set(values);
    EXPECT_EQ(set.both(3.F), 36.F);
    EXPECT_EQ(set.far(3.F), 25.5F);
}

}  // namespace
}  // namespace kf::test
