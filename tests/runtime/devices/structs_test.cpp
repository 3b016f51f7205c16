// Structs through a generated header: by value, in tensors and field by field, on each device.
#include "structs.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "testing.h"

namespace kf::test {
namespace {

using structs::Light;
using structs::Ray;
using structs::RayFields;
using structs::Scene;
using ::testing::Each;
using ::testing::ElementsAre;

class StructsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    structs::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StructsTest);
INSTANTIATE_TEST_SUITE_P(Devices, StructsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

constexpr Ray poison{{-1e9F, 1e9F, -1e9F}, {1e9F, -1e9F, 1e9F}};

/// Eighths: the products and sums here are exact in float.
float eighth(std::size_t i) { return static_cast<float>(i % 16) / 8 - 1; }

std::vector<Ray> two_part_rays(std::size_t count, std::size_t seed = 0) {
    std::vector<Ray> rays(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = 7 * i + seed;
        rays[i] = {{eighth(at), eighth(at + 3), eighth(at + 6)},
                   {eighth(at + 1), eighth(at + 9), eighth(at + 5)}};
    }
    return rays;
}

float3 traced(const Ray& ray, float t) {
    const auto& [pos, dir] = ray;
    return {pos.x + dir.x * t * pos.z, pos.y + dir.y * t * pos.x, pos.z + dir.z * t * pos.y};
}

/// Where 1 flows into each component of traced().
Ray traced_gradient(const Ray& ray, float t) {
    const auto& [pos, dir] = ray;
    return {{1 + dir.y * t, 1 + dir.z * t, 1 + dir.x * t}, {t * pos.z, t * pos.x, t * pos.y}};
}

/// Between three others in front and four behind, which must stay as they are.
template <class T>
std::vector<T> bordered_structs(std::vector<T> values, const T& border) {
    values.insert(values.begin(), 3, border);
    values.insert(values.end(), 4, border);
    return values;
}

template <class T>
Tensor<T, 1> middle_of(const Tensor<T, 1>& whole) {
    return whole.slice(0, 3, whole.size() - 4);
}

TEST_P(StructsTest, Values) {
    const Ray ray{{1, 2, 3}, {4, 5, 6}};
    EXPECT_EQ(module_.raytrace(ray, 2), (float3{25, 12, 27}));
    Diff<Ray> with_gradient{ray, {}};
    Diff<float> t{2, 100};
    module_.raytrace.backward(with_gradient, t);
    EXPECT_EQ(with_gradient.grad, traced_gradient(ray, 2));
    EXPECT_EQ(t.grad, 100 + 4 * 3 + 5 * 1 + 6 * 2);
    module_.raytrace.backward(with_gradient, 2);
    EXPECT_EQ(with_gradient.grad.dir, (float3{12, 4, 8})) << "gradients accumulate";
}

TEST_P(StructsTest, TensorsOfEverySizeInTheMiddleOfABuffer) {
    for (const std::size_t size : {0U, 1U, 31U, 33U, 257U, 4097U}) {
        const std::vector<Ray> rays = two_part_rays(size);
        const auto whole = device_.tensor(bordered_structs(rays, poison)).with_grads();
        const auto target = device_.tensor(std::vector<float3>(size + 7, {7, 7, 7}));
        module_.raytrace(middle_of(whole), 0.5F, out(middle_of(target)));
        module_.raytrace.backward(middle_of(whole), 0.5F, middle_of(target));
        std::vector<float3> hits;
        std::vector<Ray> gradients;
        for (const Ray& ray : rays) {
            hits.push_back(traced(ray, 0.5F));
            gradients.push_back(traced_gradient(ray, 0.5F));
        }
        EXPECT_EQ(target.to_vector(), bordered_structs(hits, float3{7, 7, 7})) << size;
        EXPECT_EQ(whole.grad().to_vector(), bordered_structs(gradients, Ray{})) << size;
        EXPECT_EQ(whole.to_vector(), bordered_structs(rays, poison)) << size;
    }
}

TEST_P(StructsTest, OtherViewsOfTheSameMemory) {
    const std::vector<Ray> rays = two_part_rays(6 * 5);
    const auto grid = device_.tensor<Ray>(std::span<const Ray>(rays), {6, 5}).with_grads();
    const auto t = device_.tensor<float>({0.5F, 1, 2, -1, 0});
    const std::vector<float> ts = t.to_vector();
    std::vector<float3> hits;
    for (std::size_t i = 0; i < rays.size(); ++i) hits.push_back(traced(rays[i], ts[i % 5]));
    const auto expect_hits = [&](const std::vector<float3>& found) { EXPECT_EQ(found, hits); };
    expect_hits(module_.raytrace(grid, t).to_vector());
    const auto numbers = device_.empty<float>({30, 6});
    numbers.view<Ray, 1>().copy_from(rays);
    const auto flat = module_.raytrace(numbers.view<Ray, 1>(), 0.5F).to_vector();
    for (std::size_t i = 0; i < rays.size(); ++i) EXPECT_EQ(flat[i], traced(rays[i], 0.5F));
    // Every other row, upside down: strided, and its gradient too.
    const auto some = grid.slice(0, 4, std::numeric_limits<std::int64_t>::min(), -2);
    const auto found = module_.raytrace(some, t);
    ASSERT_EQ(found.shape(), (Shape<2>{3, 5}));
    for (std::size_t i = 0; i < 15; ++i)
        EXPECT_EQ(found.to_vector()[i], hits[(4 - 2 * (i / 5)) * 5 + i % 5]) << i;
    module_.raytrace.backward(some, t, found);
    const std::vector<Ray> gradients = grid.grad().to_vector();
    for (std::size_t i = 0; i < rays.size(); ++i) {
        const Ray expected = (i / 5) % 2 == 0 ? traced_gradient(rays[i], ts[i % 5]) : Ray{};
        EXPECT_EQ(gradients[i], expected) << i;
    }
}

TEST_P(StructsTest, FieldByField) {
    for (const std::size_t size : {0U, 1U, 33U, 4097U}) {
        const std::vector<Ray> rays = two_part_rays(size);
        std::vector<float3> positions;
        std::vector<float3> directions;
        for (const Ray& ray : rays) {
            positions.push_back(ray.pos);
            directions.push_back(ray.dir);
        }
        const auto pos = device_.tensor(bordered_structs(positions, poison.pos)).with_grads();
        const auto dir = device_.tensor(bordered_structs(directions, poison.dir)).with_grads();
        const RayFields soa{middle_of(pos), middle_of(dir)};
        const auto hits = module_.raytrace(soa, 2);
        module_.raytrace.backward(soa, 2, hits);
        std::vector<float3> pos_gradients;
        std::vector<float3> dir_gradients;
        for (std::size_t i = 0; i < size; ++i) {
            EXPECT_EQ(hits.to_vector().at(i), traced(rays[i], 2));
            if (i == 40) break;
        }
        for (const Ray& ray : rays) {
            pos_gradients.push_back(traced_gradient(ray, 2).pos);
            dir_gradients.push_back(traced_gradient(ray, 2).dir);
        }
        EXPECT_EQ(pos.grad().to_vector(), bordered_structs(pos_gradients, float3{})) << size;
        EXPECT_EQ(dir.grad().to_vector(), bordered_structs(dir_gradients, float3{})) << size;
        // A tensor and a value; the value's gradient is the sum over the calls.
        const auto origin = device_.tensor(positions).with_grads();
        const auto mixed = module_.raytrace(RayFields{origin, float3{1, 2, -1}}, 0.5F);
        Diff<float3> shared{{1, 2, -1}, {}};
        module_.raytrace.backward({origin, shared}, 0.5F, mixed);
        float3 sum;
        for (std::size_t i = 0; i < size; ++i) {
            const Ray expected = traced_gradient({positions[i], {1, 2, -1}}, 0.5F);
            sum = {sum.x + expected.dir.x, sum.y + expected.dir.y, sum.z + expected.dir.z};
        }
        EXPECT_EQ(shared.grad, sum) << size;
        // Its class is found out, with a gradient or without.
        shared.grad = {};
        module_.raytrace.backward(RayFields{origin, shared}, 0.5F, mixed);
        EXPECT_EQ(shared.grad, sum) << size;
        module_.raytrace.backward(RayFields{origin, float3{1, 2, -1}}, 0.5F, mixed);
    }
}

Scene a_scene(float k) {
    Scene scene;
    scene.lights = {Light{{1, 0.5F, -1}, k}, Light{{0.25F, 2, 0}, 0.5F}};
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) scene.basis[r][c] = eighth(5 * r + c + 2);
    scene.scale = 0.5F;
    scene.count = 3;
    scene.on = k > 0;
    scene.tint = {half(0.5F), half(9), half(-2)};
    return scene;
}

float shaded(const Scene& scene, const Ray& ray) {
    const auto dot = [](const float3& a, const float3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; };
    float sum = 0;
    for (const Light& light : scene.lights) sum += dot(light.color, ray.pos) * light.power;
    float3 turned;
    for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t c = 0; c < 3; ++c) turned[r] += scene.basis[r][c] * ray.dir[c];
    }
    sum += dot(turned, ray.pos) * scene.scale;
    sum += float(scene.tint[0]) * float(scene.tint[2]) * ray.dir.x;
    return scene.on ? sum * static_cast<float>(scene.count) : sum;
}

TEST_P(StructsTest, RecordsPreparedCallsWithLargeValuesAsTheyAre) {
    const std::vector<Ray> rays = two_part_rays(33);
    const auto prepared = module_.shade.prepare(a_scene(2), device_.tensor(rays));
    Encoder encoder = device_.encoder();
    prepared.append_to(encoder);
    prepared.set("scene.lights.power", float2{100, 200});
    encoder.submit();
    for (std::size_t i = 0; const float found : prepared.result().to_vector())
        EXPECT_EQ(found, shaded(a_scene(2), rays[i++]));
    Scene changed = a_scene(2);
    changed.lights[0].power = 100;
    changed.lights[1].power = 200;
    prepared();
    for (std::size_t i = 0; const float found : prepared.result().to_vector())
        EXPECT_EQ(found, shaded(changed, rays[i++]));
}

TEST_P(StructsTest, NestedWithArraysMatricesAndSmallTypes) {
    const std::vector<Ray> rays = two_part_rays(33);
    EXPECT_EQ(module_.shade(a_scene(2), rays[5]), shaded(a_scene(2), rays[5]));
    EXPECT_EQ(module_.shade(a_scene(-2), rays[5]), shaded(a_scene(-2), rays[5]));
    std::vector<Scene> scenes;
    for (std::size_t i = 0; i < rays.size(); ++i) scenes.push_back(a_scene(eighth(i)));
    const auto whole = device_.tensor(bordered_structs(scenes, a_scene(1))).with_grads();
    const auto ray_tensor = device_.tensor(rays).with_grads();
    const auto shades = module_.shade(middle_of(whole), ray_tensor);
    const std::vector<float> found = shades.to_vector();
    for (std::size_t i = 0; i < rays.size(); ++i) EXPECT_EQ(found[i], shaded(scenes[i], rays[i])) << i;
    module_.shade.backward(middle_of(whole), ray_tensor, shades);
    const std::vector<Scene> gradients = whole.grad().to_vector();
    ASSERT_EQ(gradients.size(), rays.size() + 7);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        Scene expected;
        if (i >= 3 && i < 36) {
            const Scene& scene = scenes[i - 3];
            const Ray& ray = rays[i - 3];
            const float k = scene.on ? 3.F : 1.F;
            for (std::size_t n = 0; n < 2; ++n) {
                const Light& light = scene.lights[n];
                for (std::size_t c = 0; c < 3; ++c) {
                    expected.lights[n].color[c] = k * light.power * ray.pos[c];
                    expected.lights[n].power += k * light.color[c] * ray.pos[c];
                }
            }
            for (std::size_t r = 0; r < 3; ++r)
                for (std::size_t c = 0; c < 3; ++c) expected.basis[r][c] = k * 0.5F * ray.pos[r] * ray.dir[c];
            expected.tint = {half(k * -2 * ray.dir.x), half(0), half(k * 0.5F * ray.dir.x)};
        }
        EXPECT_EQ(gradients[i].lights, expected.lights) << i;
        EXPECT_EQ(gradients[i].basis, expected.basis) << i;
        EXPECT_EQ(gradients[i].scale, 0) << "no_diff";
        EXPECT_EQ(gradients[i].count, 0) << i;
        for (std::size_t n = 0; n < 3; ++n)
            EXPECT_EQ(float(gradients[i].tint[n]), float(expected.tint[n])) << i << " " << n;
    }
}

TEST_P(StructsTest, ResultsAndWhatIsChangedInPlace) {
    for (const std::size_t size : {0U, 1U, 33U, 4097U}) {
        const std::vector<Ray> rays = two_part_rays(size);
        const std::vector<Ray> others = two_part_rays(size, 4);
        const auto ray = device_.tensor(rays).with_grads();
        const auto whole = device_.tensor(bordered_structs(others, poison));
        const auto target = device_.tensor(std::vector<Ray>(size + 7, poison));
        module_.advance(ray, 2, middle_of(whole), out(middle_of(target)));
        std::vector<Ray> next;
        std::vector<Ray> changed = others;
        for (std::size_t i = 0; i < size; ++i) {
            Ray& made = next.emplace_back();
            for (std::size_t c = 0; c < 3; ++c) {
                made.pos[c] = rays[i].pos[c] + rays[i].dir[c] * 2;
                made.dir[c] = rays[i].dir[c] * others[i].dir[c];
                changed[i].pos[c] *= 2;
            }
        }
        EXPECT_EQ(target.to_vector(), bordered_structs(next, poison)) << size;
        EXPECT_EQ(whole.to_vector(), bordered_structs(changed, poison)) << size;
        // A new tensor for the result.
        const auto again = device_.tensor(others);
        const auto result = module_.advance(ray, 2, again);
        EXPECT_EQ(result.to_vector(), next) << size;
        again.copy_from(others);
        module_.advance.backward(ray, 2, again, result);
        std::vector<Ray> gradients;
        for (const Ray& other : others) {
            Ray& made = gradients.emplace_back(Ray{{1, 1, 1}, {}});
            for (std::size_t c = 0; c < 3; ++c) made.dir[c] = 2 + other.dir[c];
        }
        EXPECT_EQ(ray.grad().to_vector(), gradients) << size;
    }
    Ray other{{1, 2, 3}, {4, 5, 6}};
    EXPECT_EQ(module_.advance_one({{1, 1, 1}, {1, 2, 3}}, 2, other), (Ray{{3, 5, 7}, {4, 10, 18}}));
    EXPECT_EQ(other, (Ray{{2, 4, 6}, {4, 5, 6}}));
}

TEST_P(StructsTest, ArraysOfStructs) {
    const std::array<Light, 3> lights{Light{{1, 0, 0}, 1}, Light{{0, 1, 0}, 2}, Light{{0, 0, 1}, 3}};
    const auto scale = device_.tensor<float>({1, 0.5F, -2}).with_grads();
    const auto result = module_.brightest(lights, scale);
    EXPECT_THAT(result.to_vector(), ElementsAre(14, 7, -28));
    Diff<std::array<Light, 3>> with_gradient{lights, {}};
    module_.brightest.backward(with_gradient, scale, result);
    EXPECT_THAT(scale.grad().to_vector(), Each(14));
    EXPECT_EQ(with_gradient.grad[2], (Light{{-1.5F, -3, -4.5F}, -1.5F}));
}

TEST_P(StructsTest, CallsLikeTheLastOneTakeTheirOwnTensorsAndValues) {
    const auto first = device_.tensor(two_part_rays(100)).with_grads();
    const auto second = device_.tensor(two_part_rays(100, 5)).with_grads();
    const auto target = device_.empty<float3>({100});
    for (int round = 0; round < 3; ++round) {
        for (const auto& rays : {first, second}) {
            const float t = 0.5F * static_cast<float>(round + 1);
            const auto made = module_.raytrace(rays, t);
            module_.raytrace(rays, t, out(target));
            rays.grad().copy_from(std::vector<Ray>(100));
            module_.raytrace.backward(rays, t, made);
            const std::vector<Ray> given = rays.to_vector();
            const std::vector<Ray> gradients = rays.grad().to_vector();
            const std::vector<float3> hits = made.to_vector();
            EXPECT_EQ(hits, target.to_vector());
            for (std::size_t i = 0; i < given.size(); ++i) {
                EXPECT_EQ(hits[i], traced(given[i], t));
                EXPECT_EQ(gradients[i], traced_gradient(given[i], t));
            }
        }
    }
    // A value instead of a tensor, and its own values each time.
    const auto t = device_.tensor<float>({0.5F, 1, 2});
    for (const Ray& ray : two_part_rays(4)) {
        EXPECT_THAT(module_.raytrace(ray, t).to_vector(),
                    ElementsAre(traced(ray, 0.5F), traced(ray, 1), traced(ray, 2)));
    }
    // A tensor that overlaps with what is written is refused, known call or not.
    const auto others = device_.tensor(two_part_rays(100, 2));
    module_.advance(first, 2, others);
    module_.advance(first, 2, others);
    EXPECT_THROW(module_.advance(others.slice(0, 0, 50), 2, others.slice(0, 25, 75)), ArgumentError);
    module_.advance(others.slice(0, 0, 50), 2, others.slice(0, 50, 100));
    EXPECT_THROW(module_.advance(others.slice(0, 0, 50), 2, others.slice(0, 25, 75)), ArgumentError);
}

}  // namespace
}  // namespace kf::test
