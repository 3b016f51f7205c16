// Structs that hold buffers, through the generated wrappers: nested ones, methods and launches.
#include <array>
#include <type_traits>
#include <vector>

#include "buffer_structs.h"
#include "testing.h"

namespace kf::test {
namespace {

using buffer_structs::LayerFields;
using buffer_structs::NetFields;
using buffer_structs::Row;
using buffer_structs::SharedFields;
using buffer_structs::ShelfFields;
using buffer_structs::Spot;
using buffer_structs::StackFields;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Indices = Tensor<std::int32_t, 1>;

using Layer = LayerFields<Buffer<float>, RWBuffer<float>, std::int32_t>;
using ReadLayer = LayerFields<Buffer<float>, Buffer<float>, std::int32_t>;
template <class Given>
using Net = NetFields<float, Given, Given, Tensor<float, 1>>;
static_assert(!std::is_convertible_v<ReadLayer, Layer>, "what is only read isn't given where calls write");
static_assert(!std::is_convertible_v<Net<ReadLayer>, Net<Layer>>);
template <class Given>
using Stack = StackFields<float, std::array<Given, 2>, Tensor<float, 1>>;
static_assert(!std::is_convertible_v<Stack<ReadLayer>, Stack<Layer>>);
static_assert(
    std::is_same_v<decltype(StackFields{1.0F, std::array<Layer, 2>(), Tensor<float, 1>()}), Stack<Layer>>);

/// What holds a number may hold one with a gradient, in arrays, too.
template <class Number>
using Numbers =
    StackFields<float, std::array<LayerFields<Buffer<float>, RWBuffer<float>, Number>, 2>, Tensor<float, 1>>;
static_assert(std::is_convertible_v<Numbers<float>, Numbers<DiffArg<float>>>);
static_assert(!std::is_convertible_v<Numbers<Buffer<float>>, Numbers<DiffArg<float>>>);

template <class Counter>
using Spots = buffer_structs::AppendStructuredBuffer_SpotFields<RWBuffer<Spot>, Counter>;
template <class Given>
constexpr bool can_keep =
    std::is_invocable_v<const buffer_structs::KeepFunction&, Given, Tensor<float, 1>, Tensor<float3, 1>>;
static_assert(can_keep<Spots<RWBuffer<std::uint32_t>>>);
static_assert(!can_keep<Spots<Buffer<std::uint32_t>>>, "calls write the counter");
static_assert(!can_keep<Spots<RWBuffer<float>>>);

class BufferStructsTest : public ::testing::TestWithParam<std::string> {
protected:
    [[nodiscard]] Layer layer(const std::vector<float>& weights) const {
        return {Buffer<float>(device_, weights), device_.zeros<float>({5}), 2};
    }

    Device device_ = Device::open(GetParam());
    buffer_structs::Module module_{device_};
    Indices rows_ = device_.tensor<std::int32_t>({0, 1});
    Tensor<float, 1> x_ = device_.tensor<float>({2, 3});
    // Two weights a row, and one that no call reaches: y = w0 + w1 x.
    Layer first_ = layer({1, 2, 3, 4, 99});
    Layer second_ = layer({5, 6, 7, 8, 99});
    NetFields<float, Layer, Layer, Tensor<float, 1>> net_{0.5F, first_, second_,
                                                          device_.tensor<float>({10, 20})};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BufferStructsTest);
INSTANTIATE_TEST_SUITE_P(Devices, BufferStructsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(BufferStructsTest, AreTreesOfModules) {
    const auto x = x_.with_grads();
    const Tensor<float, 1> y = module_.run(net_, rows_, x);
    EXPECT_THAT(y.to_vector(), ElementsAre(10 + 0.5F * (5 + 6 * 5), 20 + 0.5F * (7 + 8 * 15)));
    module_.run.backward(net_, rows_, x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(0.5F * 6 * 2, 0.5F * 8 * 4));
    EXPECT_THAT(second_.grads.to_vector(), ElementsAre(0.5F, 2.5F, 0.5F, 7.5F, 0));
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(3, 6, 4, 12, 0));
}

TEST_P(BufferStructsTest, AreInArrays) {
    const StackFields net{0.5F, std::array{first_, second_}, net_.bias};
    const auto x = x_.with_grads();
    const Tensor<float, 1> y = module_.run_stack(net, rows_, x);
    EXPECT_THAT(y.to_vector(), ElementsAre(10 + 0.5F * (5 + 6 * 5), 20 + 0.5F * (7 + 8 * 15)));
    module_.run_stack.backward(net, rows_, x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(0.5F * 6 * 2, 0.5F * 8 * 4));
    EXPECT_THAT(second_.grads.to_vector(), ElementsAre(0.5F, 2.5F, 0.5F, 7.5F, 0));
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(3, 6, 4, 12, 0));
    const auto again = device_.zeros<float>({3});
    module_.train_stack.threads(2)(net, 2U, x_, again);
    EXPECT_THAT(again.to_vector(), ElementsAre(27.5F, 83.5F, 0));
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(6, 12, 8, 24, 0));
    net.clear(module_, rows_);
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(0, 0, 8, 24, 0));
    EXPECT_THAT(second_.grads.to_vector(), ElementsAre(0, 0, 1, 15, 0));
    Layer wrong = second_;
    wrong.grads = first_.grads;
    try {
        (void)module_.run_stack(StackFields{0.5F, std::array{first_, wrong}, net_.bias}, rows_, x_);
        FAIL() << "accepted";
    } catch (const ArgumentError& error) {
        EXPECT_THAT(error.what(), HasSubstr("'net.layers[1].grads'"));
    }
    EXPECT_THAT(second_.grads.to_vector(), ElementsAre(0, 0, 1, 15, 0));
    const LayerFields first{first_.weights, first_.grads, 2.0F};
    const LayerFields second{first_.weights, first_.grads, 3.0F};
    const Numbers<DiffArg<float>> numbers = StackFields{0.5F, std::array{first, second}, net_.bias};
    EXPECT_EQ(numbers.layers[1].inputs.value(), 3);
}

TEST_P(BufferStructsTest, ArePickedByIndices) {
    const auto levels = [&] {
        std::array<RWBuffer<float>, 3> made;
        for (std::size_t b = 0; b < made.size(); ++b)
            made[b] = RWBuffer<float>(device_, std::vector<float>(70, float(b + 1)));
        return made;
    };
    const auto counts = [&]() -> RWBuffer<std::uint32_t> { return device_.zeros<std::uint32_t>({3}); };
    const auto weights = [&] { return device_.zeros<float>({2}); };
    const ShelfFields left{levels(), counts(), std::array<Pointer<float>, 2>{weights(), weights()}};
    const auto seen = weights();
    const ShelfFields right{levels(), counts(), std::array<Pointer<float>, 2>{weights(), seen}};
    const auto y = module_.pick(
        {left, right},
        {device_.tensor<float>({2, 2}), device_.tensor<float>({3, 3}), device_.tensor<float>({4, 4})},
        device_.tensor<std::int32_t>({0, 1}));
    EXPECT_THAT(y.to_vector(), ElementsAre(2 + 70 * 4 + 1, 5 + 70 * 4 + 2));
    EXPECT_EQ(right.levels[0].to_vector()[64], 2);
    EXPECT_EQ(left.levels[1].to_vector()[65], 6);
    EXPECT_EQ(left.levels[1].to_vector()[64], 2);
    EXPECT_THAT(right.counts.to_vector(), ElementsAre(0, 1, 0));
    EXPECT_THAT(seen.to_vector(), ElementsAre(0, 0));
}

TEST_P(BufferStructsTest, Count) {
    const RWBuffer<std::uint32_t> count = device_.zeros<std::uint32_t>({1});
    const RWBuffer<Spot> spots = device_.zeros<Spot>({3});
    const auto places = device_.tensor<float3>({{1, 2, 3}, {4, 5, 6}});
    for (int k = 0; k < 2; ++k)
        module_.keep(Spots<RWBuffer<std::uint32_t>>{spots, count}, device_.tensor<float>({-1, 2}), places);
    EXPECT_THAT(count.to_vector(), ElementsAre(2));
    const std::vector<Spot> found = spots.to_vector();
    EXPECT_EQ(found[1].weight, 2);
    EXPECT_EQ(found[1].place, (float3{4, 5, 6}));
    EXPECT_EQ(found[2].weight, 0);
}

TEST_P(BufferStructsTest, GoIntoLaunches) {
    const auto y = device_.zeros<float>({3});
    Encoder encoder = device_.encoder();
    for (int k = 0; k < 2; ++k) module_.train.threads(2).append_to(encoder, net_, 2U, x_, y);
    encoder.submit();
    EXPECT_THAT(y.to_vector(), ElementsAre(27.5F, 83.5F, 0));
    EXPECT_THAT(second_.grads.to_vector(), ElementsAre(1, 5, 1, 15, 0));
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(6, 12, 8, 24, 0));
    module_.clear_all.threads(3)(net_);
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(0, 0, 0, 24, 0));
    EXPECT_THAT(second_.grads.to_vector(), ElementsAre(0, 0, 0, 15, 0));
}

TEST_P(BufferStructsTest, AreObjectsOfMethods) {
    const auto x = x_.with_grads();
    const Tensor<float, 1> y = first_.eval(module_, rows_, x);
    EXPECT_THAT(y.to_vector(), ElementsAre(5, 15));
    first_.eval_backward(module_, rows_, x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(2, 4));
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(1, 2, 1, 3, 0));
    first_.clear(module_, rows_);
    EXPECT_THAT(first_.grads.to_vector(), ElementsAre(0, 0, 1, 3, 0));
}

TEST_P(BufferStructsTest, HoldPointersAndBytes) {
    const auto left = device_.tensor<float>({1, 2, 3});
    const auto right = device_.tensor<float>({4, 5, 6});
    const RWBuffer<std::uint32_t> counts(device_, std::vector<std::uint32_t>{7, 8, 9});
    const RWBuffer<std::uint32_t> more = device_.zeros<std::uint32_t>({3});
    const auto sums = device_.zeros<float>({3});
    const RWBuffer<Spot> spots(device_, std::vector<Spot>{{2, {1, 2, 3}}, {3, {4, 5, 6}}});
    const RWBuffer<Spot> scaled = device_.zeros<Spot>({3});
    module_.spread(buffer_structs::PairFields{SharedFields{left, spots, counts, sums},
                                              SharedFields{right, scaled, more, device_.zeros<float>({3})}},
                   rows_, x_);
    EXPECT_EQ(scaled.to_vector()[1].place, (float3{12, 15, 18}));
    EXPECT_EQ(scaled.to_vector()[2].weight, 0);
    EXPECT_THAT(sums.to_vector(), ElementsAre(2, 6, 0));
    EXPECT_THAT(right.to_vector(), ElementsAre(6, 8, 6));
    EXPECT_THAT(more.to_vector(), ElementsAre(8U, 9U, 0U));
}

TEST_P(BufferStructsTest, HoldAddresses) {
    const auto values = device_.tensor<float>({1, 2, 3, 4});
    const auto written = device_.zeros<float>({3});
    const Row by_value{1, values.address(), 10};
    const auto row = device_.tensor<Row>({{0, values.address(), 2}, {3, values.address(), 3}});
    const Buffer<Row> rows(device_, std::vector<Row>{{0, written.address(), 5}, {0, written.address(), 7}});
    const auto y = module_.in_rows.options({.reads = {values.any()}, .writes = {written.any()}})(
        by_value, row, rows, rows_);
    EXPECT_THAT(y.to_vector(), ElementsAre(2 * 2 + 1 * 10 * 5, 3 * 3 + 4 * 10 * 7));
    EXPECT_THAT(written.to_vector(), ElementsAre(1, 1, 0));
}

}  // namespace
}  // namespace kf::test
