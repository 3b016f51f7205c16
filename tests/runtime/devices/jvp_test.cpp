// Forward derivatives through the generated header, on each device: values, tensors, structs, whole tensors.
#include <kf/dual.h>

#include <array>
#include <type_traits>

#include "jvp.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JvpTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    jvp::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JvpTest);
INSTANTIATE_TEST_SUITE_P(Devices, JvpTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(JvpTest, Values) {
    const auto [y, dy] = module_.polynomial.jvp(2.F, {8.F, 1.F}, -1.F, {3.F, 0.5F});
    static_assert(std::is_same_v<decltype(dy), const float>);
    EXPECT_EQ(y, 41);
    EXPECT_EQ(dy, 13);
    EXPECT_EQ(module_.polynomial.jvp(2, 8, -1, Dual(3.F)).tangent, 0) << "no tangents: 0";
    EXPECT_EQ(module_.polynomial.jvp.try_call(2, 8, -1, Dual(3.F, 1.F)).value().tangent, 20);
}

TEST_P(JvpTest, Tensors) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{4097}}) {
        const auto x = device_.tensor<float>(eighths(size));
        const auto dx = device_.tensor<float>(std::vector<float>(size, 2));
        const Dual<Tensor<float, 1>> made = module_.polynomial.jvp({2, 1}, 8, {-1, 3}, {x, dx});
        std::vector<float> y;
        std::vector<float> dy;
        for (const float v : eighths(size)) {
            y.push_back(2 * v * v + 8 * v - 1);
            dy.push_back((4 * v + 8) * 2 + v * v + 3);
        }
        EXPECT_EQ(made.value.to_vector(), y);
        EXPECT_EQ(made.tangent.to_vector(), dy);
        EXPECT_EQ(module_.polynomial.jvp(2, 8, -1, x).tangent.to_vector(), std::vector<float>(size, 0));
    }
}

TEST_P(JvpTest, ObjectsThatChange) {
    const auto objects = device_.tensor<jvp::Mover>({{float3{1, 2, 3}, float3{4, 5, 6}, 7}});
    const auto along = device_.tensor<jvp::Mover>({{float3{0, 1, 0}, float3{1, 0, 0}, 9}});
    module_.Mover_move.jvp(Dual(objects, along), Dual(2.F, 3.F));
    EXPECT_THAT(objects.to_vector(), ElementsAre(jvp::Mover{float3{17, 22, 27}, float3{4, 5, 6}, 8}));
    EXPECT_THAT(along.to_vector(), ElementsAre(jvp::Mover{float3{52, 61, 72}, float3{1, 0, 0}, 0}))
        << "the tangent changes where it lies";
    module_.Mover_move.jvp(Dual(objects), Dual(1.F, 1.F));
    EXPECT_EQ(objects.to_vector().front().pos, (float3{21, 27, 33}));
    const auto [y, dy] = module_.Mover_shove.jvp(Dual(jvp::Mover{float3{1, 0, 0}, float3{2, 0, 0}, 0}),
                                                 {device_.tensor<float>({3}), device_.tensor<float>({1})});
    EXPECT_THAT(y.to_vector(), ElementsAre(6));
    EXPECT_THAT(dy.to_vector(), ElementsAre(2));
}

TEST_P(JvpTest, VectorsMatricesAndArrays) {
    const auto [m, dm] = module_.outer_value.jvp({float2{1, 2}, float2{0, 1}}, float3{3, 4, 5});
    EXPECT_EQ(m, (float2x3{{{3, 4, 5}, {6, 8, 10}}}));
    EXPECT_EQ(dm, (float2x3{{{0, 0, 0}, {3, 4, 5}}}));
    const std::array<float2, 2> w{float2{1, 2}, float2{3, 4}};
    const auto made = module_.shapes.jvp(float3{1, 0, 0}, float2x3{{{1, 0, 0}, {2, 0, 0}}}, {w, w});
    EXPECT_EQ(made.value, 2 * (3 + 8) * 1);
    EXPECT_EQ(made.tangent, 2 * 22) << "of second degree in w";
}

TEST_P(JvpTest, SeveralOutputs) {
    Dual<float3> total{float3{1, 2, 3}, float3{1, 0, 0}};
    const auto [y, dy] = module_.parts_value.jvp({2.5F, 1.F}, 2.F, 3, total);
    EXPECT_EQ(y.result, 37.5F);
    EXPECT_EQ(y.square, 6.25F);
    EXPECT_EQ(y.whole, 2);
    EXPECT_EQ(dy.result, 30);
    EXPECT_EQ(dy.square, 5);
    EXPECT_EQ(dy.whole, 0);
    EXPECT_EQ(total.value, (float3{2.5F, 5, 7.5F})) << "written in place, both";
    EXPECT_EQ(total.tangent, (float3{3.5F, 2, 3}));

    const auto sums = device_.tensor<float3>({{1, 2, 3}, {4, 5, 6}});
    const auto along = device_.tensor<float3>({{1, 0, 0}, {0, 0, 0}});
    const auto x = device_.tensor<float>({2, 3});
    const auto dx = device_.tensor<float>({1, 0});
    const auto tensors = module_.parts.jvp({x, dx}, 1.F, 1, {sums, along});
    EXPECT_THAT(tensors.value.square.to_vector(), ElementsAre(4, 9));
    EXPECT_THAT(tensors.tangent.square.to_vector(), ElementsAre(4, 0));
    EXPECT_FALSE(tensors.tangent.whole) << "an int has no tangent";
    EXPECT_THAT(sums.to_vector(), ElementsAre(float3{2, 4, 6}, float3{12, 15, 18}));
    EXPECT_THAT(along.to_vector(), ElementsAre(float3{3, 2, 3}, float3{0, 0, 0}));
}

TEST_P(JvpTest, Structs) {
    jvp::Ray ray;
    ray.origin = {1, 2, 3};
    ray.direction = {1, 0, 1};
    ray.id = 7;
    ray.weights = {1, 2};
    ray.scale = 2;
    jvp::Ray along;
    along.direction = {0, 1, 0};
    along.id = 9;
    along.scale = 9;
    const auto t = device_.tensor<float>({1, 2});
    const auto dt = device_.tensor<float>({0, 1});
    const auto check = [](const jvp::Ray& y, const jvp::Ray& dy) {
        EXPECT_EQ(y.origin, (float3{5, 2, 7}));
        EXPECT_EQ(y.id, 7);
        EXPECT_EQ(dy.origin, (float3{2, 4, 2}));
        EXPECT_EQ(dy.direction, (float3{0, 1, 0}));
        EXPECT_EQ(dy.weights, (std::array<float, 2>{2, 0}));
        EXPECT_EQ(dy.id, 0) << "no tangent";
        EXPECT_EQ(dy.scale, 0) << "no_diff";
    };
    const auto batch = module_.advance.jvp({ray, along}, {t, dt});
    check(batch.value.to_vector()[1], batch.tangent.to_vector()[1]);
    const auto tensors = module_.advance.jvp(
        {device_.tensor<jvp::Ray>({ray, ray}), device_.tensor<jvp::Ray>({along, along})}, {t, dt});
    check(tensors.value.to_vector()[1], tensors.tangent.to_vector()[1]);
    const auto one = module_.advance_value.jvp({ray, along}, {2.F, 1.F});
    check(one.value, one.tangent);

    using Fields =
        jvp::RayFields<Tensor<float3, 1>, float3, Tensor<std::int32_t, 1>, std::array<float, 2>, float>;
    Fields fields{device_.tensor<float3>({ray.origin, ray.origin}), ray.direction,
                  device_.tensor<std::int32_t>({7, 7}), ray.weights, ray.scale};
    Fields moving;
    moving.direction = along.direction;
    const auto made = module_.advance_fields.jvp({fields, moving}, {t, dt});
    EXPECT_EQ(made.value.origin.to_vector()[1], (float3{5, 2, 7}));
    EXPECT_EQ(made.tangent.origin.to_vector()[1], (float3{2, 4, 2}));
}

TEST_P(JvpTest, WholeTensors) {
    const auto weights = device_.tensor<float>({1, 2, 3, 4, 5, 6}).reshape<2>({2, 3});
    const auto x = device_.tensor<float>({1, 0, 2});
    const auto dx = device_.tensor<float>({0, 1, 0});
    const auto y = device_.tensor<float>({0, 0});
    const auto dy = device_.tensor<float>({9, 9});
    module_.linear_layer.jvp(Grid<1>{{2}}, weights, {x, dx}, {y, dy});
    EXPECT_THAT(y.to_vector(), ElementsAre(7, 16));
    EXPECT_THAT(dy.to_vector(), ElementsAre(2, 5));
    const auto data = device_.tensor<half3>({half3{half(1.F), half(2.F), half(3.F)}});
    const auto along = device_.tensor<half3>({half3{half(4.F), half(0.F), half(2.F)}});
    module_.halve.jvp(Grid<1>{{1}}, {data, along}, device_.tensor<float>({0.5F}));
    EXPECT_EQ(static_cast<float>(data.to_vector()[0].z), 1.5F);
    EXPECT_EQ(static_cast<float>(along.to_vector()[0].x), 2.F);
}

TEST_P(JvpTest, Recorded) {
    const auto x = device_.tensor<float>({1, 2});
    Encoder encoder = device_.encoder();
    const auto made = module_.scaled.jvp.append_to(encoder, {x, x});
    encoder.submit();
    EXPECT_THAT(made.value.to_vector(), ElementsAre(1, 2));
    EXPECT_THAT(made.tangent.to_vector(), ElementsAre(7, 14)) << "the derivative that the function gives";
}

TEST_P(JvpTest, TangentsAreCheckedBeforeTheLaunch) {
    const auto made =
        module_.scaled.jvp.try_call({device_.tensor<float>({1, 2}), device_.tensor<float>({1})});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code(), ErrorCode::shape_mismatch);
    EXPECT_THAT(made.error().what(), HasSubstr("scaled.jvp: argument 'tangents.x': it has shape [1]"));
    for (const std::string& name : module_.loaded().functions()) EXPECT_FALSE(name.ends_with(".jvp"));
}

}  // namespace
}  // namespace kf::test
