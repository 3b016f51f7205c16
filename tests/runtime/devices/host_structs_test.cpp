// A project's own C++ structs through a generated header, on each device.
#include <type_traits>
#include <vector>

#include "host_structs.h"
#include "testing.h"

namespace kf::test {
namespace {

using ::testing::ElementsAre;

class HostStructsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    host_structs::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HostStructsTest);
INSTANTIATE_TEST_SUITE_P(Devices, HostStructsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

app::Ray ray(float x) {
    app::Ray made;
    made.id = 7;
    made.cost = 0.5;
    made.origin = {{x}, {2}, {3}};
    for (std::size_t i = 0; i < 3; ++i) made.direction[i] = static_cast<float>(i + 1);
    made.materials[0].albedo = {0.25F, 0.5F, 0.75F};
    made.materials[1].roughness = 0.5F;
    made.materials[1].texture = 9;
    made.points[1] = {100, 200, 300};
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 2; ++column) {
            const auto value = static_cast<float>(10 * row + column);
            made.rows[row][column] = value;
            (&made.columns[column].x)[row] = value;
            const auto at = static_cast<std::size_t>(3 * column + row);
            made.flat[at] = made.stated[at] = value;
        }
    }
    return made;
}

TEST_P(HostStructsTest, ReadsFieldsWhereTheyAre) {
    static_assert(!std::is_trivially_copyable_v<app::Ray>, "as little as a struct of Eigen's vectors");
    const float3 at = module_.at(ray(1), 2.F);
    EXPECT_THAT((std::vector{at.x, at.y, at.z}), ElementsAre(102.25F, 204.5F, 306.75F));
    // 1 * row 0 + 2 * row 1 + 3 * row 2, of all four matrices.
    const float2 both = module_.transformed(ray(1), float3{1, 2, 3});
    EXPECT_THAT((std::vector{both.x, both.y}), ElementsAre(80 * 1100.F, 86 * 1100.F));
    const auto rays = device_.tensor<app::Ray>(std::vector{ray(1), ray(5)});
    EXPECT_EQ(module_.at(rays, 2.F).to_vector()[1].x, 106.25F);
}

void expect_changed(const app::Ray& changed, float x) {
    EXPECT_EQ(changed.origin.x, x + 8);
    EXPECT_EQ(changed.direction[2], 3);
    EXPECT_EQ(changed.materials[1].albedo, (std::array{8.F, 16.F, 24.F}));
    EXPECT_EQ(changed.materials[1].roughness, 0.5F);
    EXPECT_TRUE(changed.hit);
    EXPECT_EQ(changed.shape, app::Shape::plane);
    EXPECT_EQ(changed.rows[2][0], 8);
    EXPECT_EQ(changed.rows[2][1], 21);
    EXPECT_EQ(changed.columns[0].z, 8);
    EXPECT_EQ(changed.columns[1].z, 21);
    EXPECT_EQ(changed.flat[2], 8);
    EXPECT_EQ(changed.flat[5], 21);
    EXPECT_EQ(changed.stated[2], 20);
    EXPECT_EQ(changed.stated[5], 8);
    EXPECT_EQ(changed.points[0].z, 6);
    EXPECT_EQ(changed.points[1].y, 200);
    EXPECT_EQ(changed.weight.bits, 0x4800);
}

TEST_P(HostStructsTest, LeavesAloneWhatSlangLacks) {
    app::Ray one = ray(1);
    module_.change(one, 8.F);
    expect_changed(one, 1);
    const auto rays = device_.tensor<app::Ray>(std::vector{ray(1), ray(2), ray(3)});
    module_.change(rays, 8.F);
    const std::vector<app::Ray> changed = rays.to_vector();
    for (std::size_t i = 0; i < changed.size(); ++i) {
        expect_changed(changed[i], static_cast<float>(i) + 1);
        EXPECT_EQ(changed[i].id, 7);
        EXPECT_EQ(changed[i].cost, 0.5);
        EXPECT_EQ(changed[i].materials[1].texture, 9);
    }
    EXPECT_EQ(one.id, 7);
}

TEST_P(HostStructsTest, ReturnsTheUsersTypes) {
    const app::Pair<int, unsigned> pair = module_.swapped({3, 4U});
    EXPECT_EQ(pair.first, 4);
    EXPECT_EQ(pair.second, 3U);
    const Tensor<app::Pair<int, unsigned>, 1> pairs = module_.swapped(
        device_.tensor<app::Pair<int, unsigned>>(std::vector<app::Pair<int, unsigned>>{{1, 2}, {5, 6}}));
    EXPECT_EQ(pairs.to_vector()[1].first, 6);
}

TEST_P(HostStructsTest, GivesGradientsInTheSameStruct) {
    const auto rays = device_.tensor<app::Ray>(std::vector{ray(1), ray(5)}).with_grads();
    module_.at.backward(rays, 2.F, module_.at(rays, 2.F));
    const app::Ray gradient = rays.grad().to_vector()[1];
    EXPECT_EQ(gradient.origin.y, 1);
    EXPECT_EQ(gradient.direction[0], 1);
    EXPECT_EQ(gradient.materials[0].albedo[2], 1);
    EXPECT_EQ(gradient.materials[1].roughness, 12);
    EXPECT_EQ(gradient.points[0].x, 0);
    EXPECT_EQ(gradient.points[1].x, 1);
    EXPECT_EQ(gradient.id, 0);
    Diff<app::Ray> one{ray(1), {}};
    module_.at.backward(one, 2.F, module_.at(ray(1), 2.F));
    EXPECT_EQ(one.grad.materials[1].roughness, 12);
    EXPECT_EQ(one.grad.points[1].z, 1);
}

TEST_P(HostStructsTest, SetsGlobals) {
    const app::View view{{640, 480}, 1, 5};
    EXPECT_EQ(module_.depth.set({.view = view})(0.5F), 483);
}

}  // namespace
}  // namespace kf::test
