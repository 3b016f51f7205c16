// Results and gradients that calls share, combined in the ways of the call spec, on each device.
#include <cmath>
#include <cstdint>
#include <numeric>

#include "accumulate.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t sizes[] = {0, 1, 31, 33, 4097};

class AccumulateTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    accumulate::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AccumulateTest);
INSTANTIATE_TEST_SUITE_P(Devices, AccumulateTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

double sum_of(const std::vector<float>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST_P(AccumulateTest, Sums) {
    const accumulate::Module exact = module_.options({.deterministic = true});
    for (const std::size_t size : sizes) {
        const std::vector<float> values = eighths(size);
        const auto x = device_.tensor<float>(values);
        EXPECT_THAT(module_.sum_float(x).to_vector(), ElementsAre(static_cast<float>(sum_of(values))));
        EXPECT_THAT(exact.sum_float(x).to_vector(), ElementsAre(static_cast<float>(sum_of(values))));
        const std::vector<double> wide(values.begin(), values.end());
        EXPECT_THAT(module_.sum_double(device_.tensor<double>(wide)).to_vector(),
                    ElementsAre(sum_of(values)));
        std::vector<std::int32_t> whole(size);
        std::iota(whole.begin(), whole.end(), -7);
        EXPECT_THAT(module_.sum_int(device_.tensor<std::int32_t>(whole)).to_vector(),
                    ElementsAre(std::accumulate(whole.begin(), whole.end(), 0)));
        std::vector<std::int64_t> wide_whole(size);
        std::iota(wide_whole.begin(), wide_whole.end(), std::int64_t{1} << 52);
        // Of 4097 the sum is past 2^63, where signed numbers may not go in C++.
        const std::vector<std::uint64_t> positive(wide_whole.begin(), wide_whole.end());
        const auto wrapped = std::accumulate(positive.begin(), positive.end(), std::uint64_t{0});
        EXPECT_THAT(module_.sum_int64(device_.tensor<std::int64_t>(wide_whole)).to_vector(),
                    ElementsAre(static_cast<std::int64_t>(wrapped)))
            << "sums wrap";
        const std::vector<std::uint8_t> bytes(size, 7);
        EXPECT_THAT(module_.sum_uint8(device_.tensor<std::uint8_t>(bytes)).to_vector(),
                    ElementsAre(static_cast<std::uint8_t>(7 * size)))
            << "sums wrap";
        const std::vector<half> small(size, half(0.5F));
        const auto halves = module_.sum_half(device_.tensor<half>(small)).to_vector();
        EXPECT_EQ(static_cast<float>(halves.at(0)), static_cast<float>(half(0.5F * static_cast<float>(size))))
            << "added up in float, and rounded once";
    }
}

TEST_P(AccumulateTest, AlongSomeDimensions) {
    constexpr std::int64_t rows = 33;
    constexpr std::int64_t columns = 129;
    const auto x = device_.tensor<float>(eighths(rows * columns)).reshape<2>({rows, columns});
    const std::vector<float> values = x.to_vector();
    auto guarded = device_.tensor<float>(std::vector<float>(columns + 8, 77));
    const auto out = guarded.slice(0, 4, 4 + columns).reshape<2>({1, columns});
    module_.sum_float(x, kf::out(out));
    std::vector<float> wanted(columns + 8, 77);
    for (std::int64_t j = 0; j < columns; ++j) {
        wanted[static_cast<std::size_t>(4 + j)] = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            wanted[static_cast<std::size_t>(4 + j)] += values[static_cast<std::size_t>(i * columns + j)];
        }
    }
    EXPECT_EQ(guarded.to_vector(), wanted);
    EXPECT_EQ(module_.rows(x).shape()[0], rows);
    EXPECT_EQ(module_.sum_float.accumulate({{"result", "none"}})(x).to_vector(), values);
}

TEST_P(AccumulateTest, Values) {
    const auto x = device_.tensor<float3>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
    float3 result{77, 77, 77};
    module_.ten.accumulate({{"result", "sum"}})(x, result);
    EXPECT_EQ(result, (float3{120, 150, 180}));
    module_.ten.accumulate({{"result", "first"}})(x, result);
    EXPECT_EQ(result, (float3{10, 20, 30}));
    module_.ten.accumulate({{"result", "sum"}})(device_.tensor<float3>(std::vector<float3>{}), result);
    EXPECT_EQ(result, (float3{0, 0, 0}));
    const auto refused = module_.ten.try_call(x, result);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().what(), HasSubstr("an output is never broadcast"));
}

TEST_P(AccumulateTest, Gradients) {
    constexpr std::int64_t rows = 33;
    constexpr std::int64_t columns = 129;
    const auto x = device_.tensor<float>(eighths(rows * columns)).reshape<2>({rows, columns});
    std::vector<float> squares = x.to_vector();
    for (float& value : squares) {
        value *= value;
    }
    const auto a = device_.tensor<float>({2}).reshape<2>({1, 1});
    const auto pushed = device_.zeros<float, 2>({rows, columns});
    module_.weigh.accumulate({{"a.grad", "push"}}).backward(a.with_grads({}, pushed), x, Tensor<float, 2>());
    EXPECT_EQ(pushed.to_vector(), squares);
    const auto summed = a.with_grads();
    module_.weigh.backward(summed, x, Tensor<float, 2>());
    EXPECT_THAT(summed.grad().to_vector(), ElementsAre(static_cast<float>(sum_of(squares))));
    const auto first =
        device_.tensor<float>(std::vector<float>(columns, 2)).reshape<2>({1, columns}).with_grads();
    module_.weigh.accumulate({{"a.grad", "first"}}).backward(first, x, Tensor<float, 2>());
    squares.resize(columns);
    EXPECT_EQ(first.grad().to_vector(), squares);
}

TEST_P(AccumulateTest, GradientsOfLess) {
    constexpr std::int64_t rows = 33;
    constexpr std::int64_t columns = 129;
    const auto x = device_.tensor<float>(eighths(rows * columns)).reshape<2>({rows, columns});
    const std::vector<float> values = x.to_vector();
    for (const bool deterministic : {false, true}) {
        for (const bool by_columns : {false, true}) {
            const std::int64_t extent = by_columns ? columns : rows;
            const Dims shape = by_columns ? Dims{1, columns} : Dims{rows, 1};
            std::vector<float> wanted(static_cast<std::size_t>(extent + 8), 77);
            const auto guarded = device_.tensor<float>(wanted);
            const auto sums = guarded.slice(0, 4, 4 + extent).reshape<2>({shape[0], shape[1]});
            module_.weigh.options({.deterministic = deterministic})
                .backward(x.with_grads({}, sums), x, Tensor<float, 2>());
            for (std::int64_t i = 0; i < rows * columns; ++i) {
                const float value = values[static_cast<std::size_t>(i)];
                wanted[static_cast<std::size_t>(4 + (by_columns ? i % columns : i / columns))] +=
                    value * value;
            }
            EXPECT_EQ(guarded.to_vector(), wanted) << to_string(shape);
        }
    }
}

TEST_P(AccumulateTest, ListsOfValues) {
    const auto push = module_.weigh_value.accumulate({{"a.grad", "push"}});
    for (const std::size_t size : sizes) {
        const auto x = device_.tensor<float>(eighths(size));
        std::vector<float> wanted = x.to_vector();
        for (float& value : wanted) {
            value *= value;
        }
        kf::Diff weight{2.0F};
        push.backward(weight, x, Tensor<float, 1>());
        ASSERT_TRUE(weight.pushed);
        EXPECT_EQ((Tensor<float, 1>(weight.pushed).to_vector()), wanted);
        EXPECT_EQ(weight.grad, 0) << "sums are another way";
        push.backward(weight, x, Tensor<float, 1>());
        for (float& value : wanted) {
            value *= 2;
        }
        EXPECT_EQ((Tensor<float, 1>(weight.pushed).to_vector()), wanted) << "added to what is there";
        push.backward(weight, device_.tensor<float>({1, 3}), Tensor<float, 1>());
        EXPECT_THAT((Tensor<float, 1>(weight.pushed).to_vector()), ElementsAre(1, 9)) << "another shape";
    }
    kf::Diff weight{2.0F};
    weight.pushed = device_.tensor<float>({5, 7}).any();
    const auto given = Tensor<float, 1>(weight.pushed);
    const auto refused = push.backward.try_call(weight, given, Tensor<float, 1>());
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().what(), HasSubstr("shares memory with argument 'x'"));
}

TEST_P(AccumulateTest, ListsOfValuesThatDontFit) {
    const auto push = module_.weigh_value.accumulate({{"a.grad", "push"}});
    const auto x = device_.tensor<float>(eighths(64));
    const auto refusal = [&](const AnyTensor& pushed) {
        kf::Diff weight{2.0F};
        weight.pushed = pushed;
        const auto refused = push.backward.try_call(weight, x, Tensor<float, 1>());
        return refused.ok() ? std::pair(ErrorCode{}, std::string("nothing"))
                            : std::pair(refused.error().code(), std::string(refused.error().what()));
    };
    const auto guarded = device_.tensor<half>(std::vector<half>(128, half(77.F)));
    for (const std::int64_t size : {64, 5}) {
        const auto [code, what] = refusal(guarded.slice(0, 0, size).any());
        EXPECT_EQ(code, ErrorCode::type_mismatch);
        EXPECT_THAT(what,
                    HasSubstr("argument 'a': its pushed gradients are float, and `pushed` is a tensor of "
                              "half: give one of that type, or a null one, which the call replaces"));
    }
    EXPECT_THAT(guarded.to_vector(), Each(half(77.F)));
    const Device other = Device::open(GetParam());
    const auto foreign = other.tensor<float>(std::vector<float>(64, 77.F));
    const auto [code, what] = refusal(foreign.any());
    EXPECT_EQ(code, ErrorCode::device_mismatch);
    EXPECT_THAT(what, HasSubstr("argument 'a': `pushed`: the tensor is on device"));
    EXPECT_THAT(foreign.to_vector(), Each(77.F));
}

TEST_P(AccumulateTest, FusedLosses) {
    constexpr std::int64_t columns = 129;
    for (const std::int64_t rows : {0, 1, 33}) {
        for (const bool deterministic : {false, true}) {
            const auto loss = module_.loss.options({.deterministic = deterministic});
            const auto values = eighths(static_cast<std::size_t>(rows * columns));
            const auto x = device_.tensor<float>(values).reshape<2>({rows, columns});
            std::vector<float> squares = values;
            for (float& value : squares) {
                value *= value;
            }
            const auto a = device_.tensor<float>({2}).reshape<2>({1, 1}).with_grads();
            const auto total = static_cast<float>(sum_of(squares));
            EXPECT_THAT(loss.fused(a, x).to_vector(), ElementsAre(2 * total));
            EXPECT_THAT(a.grad().to_vector(), ElementsAre(total));
            const auto pushed = device_.zeros<float, 2>({rows, columns});
            (void)loss.accumulate({{"a.grad", "push"}}).fused(a.with_grads({}, pushed), x);
            EXPECT_EQ(pushed.to_vector(), squares);
            kf::Diff weight{2.0F};
            std::int32_t count = 77;
            const auto counted = module_.counted.options({.deterministic = deterministic});
            EXPECT_EQ(counted.fused(weight, device_.tensor<float>(values), count), 2 * total);
            EXPECT_EQ(count, rows * columns);
            EXPECT_EQ(weight.grad, total);
        }
    }
}

TEST_P(AccumulateTest, UnknownWays) {
    try {
        (void)module_.weigh.accumulate({{"a.grad", "largest"}});
        FAIL() << "accepted";
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::unknown_name);
        EXPECT_THAT(error.what(),
                    HasSubstr("no way 'largest' for 'a.grad'; there is: 'sum', 'push', 'first'"));
    }
}

}  // namespace
}  // namespace kf::test
