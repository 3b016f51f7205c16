// Generators through the generated header, on each device: the same numbers everywhere.
#include <algorithm>
#include <bit>
#include <cmath>

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;

class GeneratorsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    devices::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GeneratorsTest);
INSTANTIATE_TEST_SUITE_P(Devices, GeneratorsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

// The formulas of docs/spec.md.

std::uint32_t wang(std::uint32_t x) {
    x = (x ^ 61) ^ (x >> 16);
    x *= 9;
    x ^= x >> 4;
    x *= 0x27d4eb2d;
    return x ^ (x >> 15);
}

std::uint32_t hash(std::size_t call, int component, const WangHash& options) {
    std::uint32_t state =
        wang(static_cast<std::uint32_t>(call) ^ (options.hash_seed ? wang(options.seed) : options.seed));
    for (std::uint32_t i = 0; i < options.warmup + static_cast<std::uint32_t>(component); ++i) {
        state = wang(state);
    }
    return state;
}

float random(std::size_t call, int component, const RandFloat& options) {
    const std::uint32_t taken = hash(call, component, {options.seed, options.warmup, options.hash_seed});
    const float fraction = std::bit_cast<float>(0x3f800000 | (taken >> 9)) - 1;
    // Apart, so that no compiler fuses them.
    const volatile float product = fraction * (options.max - options.min);
    return std::min(product + options.min, std::nextafter(options.max, options.min));
}

TEST_P(GeneratorsTest, IndicesAreReversedInVectors) {
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{0, 3}, {1, 1}, {31, 33}, {3, 1367}}) {
        const auto made = module_.index({rows, columns});
        const auto given = device_.empty<int64_t2>({rows, columns});
        module_.index(out(given));
        EXPECT_EQ(made.shape(), (std::array<std::int64_t, 2>{rows, columns}));
        const std::vector<int64_t2> found = made.to_vector();
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto call = static_cast<std::int64_t>(i);
            ASSERT_EQ(found[i], (int64_t2{call % columns, call / columns}));
        }
        EXPECT_EQ(given.to_vector(), found);
    }
}

TEST_P(GeneratorsTest, GridsAndRanges) {
    const Grid<2> grid{.shape = {2, 3}, .offset = {5'000'000'000, -7}, .stride = {1LL << 40, 2}};
    const std::int64_t far = 5'000'000'000 + (1LL << 40);
    EXPECT_THAT(
        module_.lattice(grid).to_vector(),
        ElementsAre(int64_t2{-7, 5'000'000'000}, int64_t2{-5, 5'000'000'000}, int64_t2{-3, 5'000'000'000},
                    int64_t2{-7, far}, int64_t2{-5, far}, int64_t2{-3, far}));
    EXPECT_EQ(module_.lattice(Grid<2>{{0, 3}}).shape(), (std::array<std::int64_t, 2>{0, 3}));
    EXPECT_THAT(module_.number(Range{10, 0, -4}).to_vector(), ElementsAre(10, 6, 2));
    EXPECT_EQ(module_.number(17), 17);
    EXPECT_EQ(module_.number.try_call(Range{0, 3, 0}).error().code(), ErrorCode::value_range);
    EXPECT_THROW((void)module_.lattice(Grid<2>{{-1, 3}}), ArgumentError);
}

TEST_P(GeneratorsTest, ThreadsAreCounted) {
    const auto into = device_.empty<std::uint32_t>({7, 33});
    module_.thread(out(into));
    const std::vector<std::uint32_t> found = into.to_vector();
    for (std::uint32_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i);
}

TEST_P(GeneratorsTest, RandomNumbersAreTheSameEverywhere) {
    for (const std::int64_t size : {0, 1, 31, 33, 4097, 1'000'003}) {
        for (const WangHash& options : {WangHash{}, WangHash{7, 2, true}}) {
            const std::vector<uint2> found = module_.hashed(options, {size}).to_vector();
            ASSERT_EQ(found.size(), static_cast<std::size_t>(size));
            for (std::size_t i = 0; i < found.size(); ++i) {
                ASSERT_EQ(found[i], (uint2{hash(i, 0, options), hash(i, 1, options)})) << i;
            }
        }
    }
}

TEST_P(GeneratorsTest, BackwardMakesTheSameNumbers) {
    const RandFloat options{.min = -0.3F, .max = 1.7F, .seed = 5};
    for (const std::size_t size : {std::size_t{0}, std::size_t{33}, std::size_t{100'003}}) {
        const auto x = device_.tensor<float3>(std::vector<float3>(size, float3{1, 1, 1})).with_grads();
        const auto y = module_.jitter(options, x);
        module_.jitter.backward(options, x, y);
        const std::vector<float3> values = y.to_vector();
        const std::vector<float3> gradients = x.grad().to_vector();
        for (std::size_t i = 0; i < size; ++i) {
            const float3 expected{random(i, 0, options), random(i, 1, options), random(i, 2, options)};
            ASSERT_EQ(values[i], expected) << i;
            ASSERT_EQ(gradients[i], expected) << i;
        }
    }
}

TEST_P(GeneratorsTest, AreRecorded) {
    Encoder encoder = device_.encoder();
    const auto ids = module_.index.append_to(encoder, {1, 3});
    const auto numbers = module_.number.append_to(encoder, Range{0, 3});
    encoder.submit();
    EXPECT_THAT(ids.to_vector(), ElementsAre(int64_t2{0, 0}, int64_t2{1, 0}, int64_t2{2, 0}));
    EXPECT_THAT(numbers.to_vector(), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace kf::test
