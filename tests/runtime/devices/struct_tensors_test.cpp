// Tensors of structs as parameters, through a generated header, on each device.
#include "struct_tensors.h"

#include <cstdint>
#include <numeric>

#include "testing.h"

namespace kf::test {
namespace {

using struct_tensors::Light;
using struct_tensors::Ray;

class StructTensorsTest : public ::testing::TestWithParam<std::string> {
protected:
    Tensor<std::int32_t, 1> indices(std::size_t count) {
        std::vector<std::int32_t> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0);
        return device_.tensor(numbers);
    }

    Device device_ = Device::open(GetParam());
    struct_tensors::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StructTensorsTest);
INSTANTIATE_TEST_SUITE_P(Devices, StructTensorsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

/// Quarters: what is made of them here is exact in float.
std::vector<Ray> some_rays(std::size_t count) {
    std::vector<Ray> rays(count);
    for (std::size_t i = 0; i < count; ++i) {
        const float x = static_cast<float>(i % 8) / 4;
        rays[i] = {static_cast<std::int32_t>(i), {x, x + 1, x - 1}, 3, x + 2};
    }
    return rays;
}

TEST_P(StructTensorsTest, AreReadAndHaveGradients) {
    for (const std::size_t count : {1U, 31U, 4097U}) {
        SCOPED_TRACE(count);
        const std::vector<Ray> rays = some_rays(count);
        const auto given = device_.tensor(rays).with_grads();
        const auto at = indices(count);
        const std::vector<float> results = module_.trace(at, given, 2.F).to_vector();
        module_.trace.backward(at, given, 2.F, device_.zeros<float>({static_cast<std::int64_t>(count)}));
        const std::vector<Ray> gradients = given.grad().to_vector();
        for (std::size_t i = 0; i < count; ++i) {
            const Ray& ray = rays[i];
            const float along = ray.pos.x + 2 * ray.pos.y + 3 * ray.pos.z;
            ASSERT_EQ(results[i], along * ray.t * 2 + ray.weight);
            ASSERT_EQ(gradients[i].pos, (float3{2 * ray.t, 4 * ray.t, 6 * ray.t}));
            ASSERT_EQ(gradients[i].t, 2 * along);
            ASSERT_EQ(gradients[i].tag, 0);
            ASSERT_EQ(gradients[i].weight, 0);
        }
    }
}

TEST_P(StructTensorsTest, AreWritten) {
    const std::vector<Light> lights = {{{1, 2, 3}, 4}, {{5, 6, 7}, 8}, {{9, 10, 11}, 12}};
    const auto target = device_.tensor(std::vector<Light>(5, Light{{-1, -1, -1}, -1}));
    module_.move(indices(3), 0.5F, device_.tensor(lights), target.slice(0, 1, 4));
    const std::vector<Light> found = target.to_vector();
    EXPECT_EQ(found[0].power, -1);
    EXPECT_EQ(found[4].color, (float3{-1, -1, -1}));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found[i + 1].power, lights[i].power * lights[i].power);
        EXPECT_EQ(found[i + 1].color.z, lights[i].color.z / 2);
    }
}

TEST_P(StructTensorsTest, AreAddedTo) {
    const auto sums = device_.zeros<Light>({2});
    const auto halves = device_.zeros<half3>({3});
    module_.collect(device_.tensor(std::vector<std::int32_t>{0, 1, 1, 1}),
                    device_.tensor(std::vector<float>{1, 2, 3, 4}), sums);
    module_.collect_halves(device_.tensor(std::vector<std::int32_t>{0, 1, 1, 1}),
                           device_.tensor(std::vector<half3>(4, half3{half(1), half(2), half(3)})), halves);
    EXPECT_EQ(sums.to_vector()[1].color, (float3{9, 18, 3}));
    EXPECT_EQ(sums.to_vector()[0].power, 1);
    const std::vector<half3> found = halves.to_vector();
    EXPECT_EQ(static_cast<float>(found[1].z), 9);
    EXPECT_EQ(static_cast<float>(found[0].y), 2);
    EXPECT_EQ(static_cast<float>(found[2].x), 0);
}

}  // namespace
}  // namespace kf::test
