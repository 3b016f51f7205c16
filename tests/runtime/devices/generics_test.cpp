// Generic functions, overloads and interfaces through a generated header, on each device.
#include "generics.h"

#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;

class GenericsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    generics::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GenericsTest);
INSTANTIATE_TEST_SUITE_P(Devices, GenericsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

/// Values with a border that must stay as it is.
std::vector<float> with_border(std::vector<float> values, float border) {
    values.insert(values.begin(), 3, border);
    values.insert(values.end(), 4, border);
    return values;
}

TEST_P(GenericsTest, StatedAndInferredArguments) {
    EXPECT_EQ(module_.scale(3.F, 0.5F), 1.5F);
    EXPECT_EQ(module_.biggest(), 7.0);
    const auto doubles = device_.tensor<double>({1, 2, 3}).with_grads();
    const auto y = module_.scale(doubles, 0.5);
    EXPECT_THAT(y.to_vector(), ElementsAre(0.5, 1, 1.5));
    module_.scale.backward(doubles, 0.5, y);
    EXPECT_THAT(doubles.grad().to_vector(), ElementsAre(0.5, 0.5, 0.5));
    const auto ints = device_.tensor<std::int32_t>({1, -2, 3});
    EXPECT_THAT(module_.add_any(ints, 7).to_vector(), ElementsAre(8, 5, 10));
}

TEST_P(GenericsTest, EverySizeInTheMiddleOfABuffer) {
    for (const std::int64_t size : {0, 1, 31, 33, 257, 4097}) {
        const std::vector<float> values = eighths(static_cast<std::size_t>(size));
        const auto whole = device_.tensor(with_border(values, 77)).with_grads();
        const auto target = device_.tensor(std::vector<float>(values.size() + 7, 55.F));
        const auto x = whole.slice(0, 3, 3 + size);
        const auto y = target.slice(0, 3, 3 + size);
        module_.norm(x, out(y));
        module_.norm.backward(x, y);
        std::vector<float> squares = values;
        std::vector<float> gradients = values;
        for (float& value : squares) value *= value;
        for (float& value : gradients) value *= 2;
        EXPECT_EQ(target.to_vector(), with_border(squares, 55)) << size;
        EXPECT_EQ(whole.grad().to_vector(), with_border(gradients, 0)) << size;
    }
}

TEST_P(GenericsTest, ExtentsOfVectorsAndArrays) {
    const auto vectors = device_.tensor<float3>({{1, 2, 3}, {4, 5, 6}}).with_grads();
    const auto squares = module_.sum_vector(vectors);
    EXPECT_THAT(squares.to_vector(), ElementsAre(14, 77));
    module_.sum_vector.backward(vectors, squares);
    EXPECT_THAT(vectors.grad().to_vector(), ElementsAre(float3{2, 4, 6}, float3{8, 10, 12}));
    const auto rows = device_.tensor<float>({{1, 2, 3, 4}, {5, 6, 7, 8}});
    EXPECT_THAT(module_.sum_rows(rows).to_vector(), ElementsAre(30, 174));
    const auto arrays = device_.tensor<std::array<float, 3>>({{1, 2, 3}, {4, 5, 6}});
    const auto weights = device_.tensor<std::array<float, 3>>({{1, 0, 2}, {0, 1, 0}});
    EXPECT_THAT(module_.sum_three(arrays, weights).to_vector(), ElementsAre(7, 5));
}

TEST_P(GenericsTest, OverloadsByExtentTypeAndCount) {
    const auto one = device_.tensor<float>({1, 2}).with_grads();
    const auto two = device_.tensor<float2>({{1, 2}, {3, 4}}).with_grads();
    EXPECT_THAT(module_.measure(one).to_vector(), ElementsAre(2, 4));
    EXPECT_THAT(module_.measure(two).to_vector(), ElementsAre(5, 13));
    EXPECT_EQ(module_.measure(4), 20);
    EXPECT_THAT(module_.measure(one, 3).to_vector(), ElementsAre(3, 6));
    module_.measure.backward(one, {});
    module_.measure.backward(two, {});
    EXPECT_THAT(one.grad().to_vector(), ElementsAre(2, 2));
    EXPECT_THAT(two.grad().to_vector(), ElementsAre(float2{3, 1}, float2{3, 1}));
}

TEST_P(GenericsTest, Interfaces) {
    const auto shapes = device_.tensor<float>({1, 2, 3}).with_grads();
    const auto k = device_.tensor<float>({1, 10, 100}).with_grads();
    EXPECT_THAT(module_.area(shapes, k).to_vector(), ElementsAre(1, 40, 900));
    module_.area.backward(shapes, k, {});
    EXPECT_THAT(shapes.grad().to_vector(), ElementsAre(2, 40, 600));
    EXPECT_THAT(k.grad().to_vector(), ElementsAre(1, 4, 9));
    const auto sized = device_.tensor<float2>({{2, 3}, {1, 5}, {4, 4}});
    const auto twice = device_.zeros<float>({3});
    EXPECT_THAT(module_.fill(sized, k, out(twice)).to_vector(), ElementsAre(6, 50, 1600));
    EXPECT_THAT(twice.to_vector(), ElementsAre(2, 20, 200));
}

}  // namespace
}  // namespace kf::test
