// Methods of structs through a generated header, on each device.
#include "globals.h"
#include "members.h"
#include "testing.h"

namespace kf::test {
namespace {

using members::Particle;
using members::ParticleFields;
using members::Scaler;
using members::ScalerFields;
using ::testing::Each;
using ::testing::ElementsAre;

class MethodsTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    members::Module module_{device_};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MethodsTest);
INSTANTIATE_TEST_SUITE_P(Devices, MethodsTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

constexpr std::array method_sizes{0, 1, 31, 33, 4097};
constexpr std::size_t border = 3;

/// Values with a border that must stay as it is.
template <class T>
std::vector<T> bordered(std::vector<T> values, const T& poison) {
    values.insert(values.begin(), border, poison);
    values.insert(values.end(), border, poison);
    return values;
}

template <class T>
Tensor<T, 1> inside(const Tensor<T, 1>& whole) {
    return whole.slice(0, border, whole.shape()[0] - static_cast<std::int64_t>(border));
}

std::vector<Particle> particles(std::size_t count) {
    std::vector<Particle> made(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto part = static_cast<float>(i % 16) / 8;
        made[i] = {{part, -part, 1}, {2, part, part * 2}, static_cast<std::int32_t>(i)};
    }
    return made;
}

Particle moved(Particle particle) {
    particle.pos = {particle.pos.x + particle.vel.x / 2, particle.pos.y + particle.vel.y / 2,
                    particle.pos.z + particle.vel.z / 2};
    ++particle.steps;
    return particle;
}

TEST_P(MethodsTest, OfAnObjectByValue) {
    const Scaler scaler{3, 1};
    float one = 4;
    scaler.scale_value(module_, one);
    EXPECT_EQ(one, 13);
    for (const int size : method_sizes) {
        const std::vector<float> values = eighths(static_cast<std::size_t>(size));
        const auto whole = device_.tensor(bordered(values, 77.F));
        scaler.scale_value(module_, inside(whole));
        std::vector<float> expected = values;
        for (float& value : expected) value = value * 3 + 1;
        EXPECT_EQ(whole.to_vector(), bordered(expected, 77.F)) << size;
    }
    EXPECT_EQ(Scaler::twice(module_, 4.F), 8);
    EXPECT_EQ((Particle{{}, {}, 4}).count(module_, 3), 7);
    // What is given by value is only read.
    const Particle particle{{}, {}, 4};
    EXPECT_EQ(particle.step(module_), 5);
    EXPECT_EQ(particle.steps, 4);
}

TEST_P(MethodsTest, ThatMutateWriteTensorsOfObjects) {
    for (const int size : method_sizes) {
        const std::vector<Particle> values = particles(static_cast<std::size_t>(size));
        const Particle poison{{7, 7, 7}, {7, 7, 7}, 7};
        const auto whole = device_.tensor(bordered(values, poison));
        module_.Particle_update(inside(whole), 0.5F);
        std::vector<Particle> expected = values;
        for (Particle& particle : expected) particle = moved(particle);
        EXPECT_EQ(whole.to_vector(), bordered(expected, poison)) << size;
    }
}

TEST_P(MethodsTest, ThatMutateWriteTheFieldsThatAreTensors) {
    for (const int size : method_sizes) {
        const std::vector<Particle> values = particles(static_cast<std::size_t>(size));
        std::vector<float3> positions;
        std::vector<float3> expected;
        std::vector<std::int32_t> steps;
        for (Particle particle : values) {
            particle.vel = {2, 4, 6};
            positions.push_back(particle.pos);
            expected.push_back(moved(particle).pos);
            steps.push_back(particle.steps);
        }
        const float3 poison{7, 7, 7};
        const auto pos = device_.tensor(bordered(positions, poison));
        const auto count = device_.tensor(bordered(steps, -5));
        ParticleFields{inside(pos), float3{2, 4, 6}, inside(count)}.update(module_, 0.5F);
        for (std::int32_t& step : steps) ++step;
        EXPECT_EQ(pos.to_vector(), bordered(expected, poison)) << size;
        EXPECT_EQ(count.to_vector(), bordered(steps, -5)) << size;
    }
}

TEST_P(MethodsTest, GiveTheObjectGradients) {
    for (const int size : method_sizes) {
        const std::vector<float> values = eighths(static_cast<std::size_t>(size));
        const auto count = static_cast<std::size_t>(size);
        const auto val = device_.tensor(values).with_grads();
        const auto whole = device_.tensor(bordered(std::vector<Scaler>(count, {3, 1}), {9, 9})).with_grads();
        const auto y = module_.Scaler_scaled(inside(whole), val);
        module_.Scaler_scaled.backward(inside(whole), val, y);
        std::vector<float> results = values;
        std::vector<Scaler> gradients(count);
        for (std::size_t i = 0; i < count; ++i) {
            results[i] = values[i] * 9 + 1;
            gradients[i] = {values[i] * 6, 0};
        }
        EXPECT_EQ(y.to_vector(), results) << size;
        EXPECT_EQ(whole.grad().to_vector(), bordered(gradients, Scaler{})) << size;
        EXPECT_THAT(val.grad().to_vector(), Each(9.F)) << size;

        const auto scale = device_.tensor(std::vector<float>(count, 3.F)).with_grads();
        const ScalerFields fields{scale, 1.F};
        EXPECT_EQ(fields.scaled(module_, val).to_vector(), results) << size;
        module_.Scaler_scaled.backward(fields, val, y);
        std::vector<float> expected = values;
        for (float& value : expected) value *= 6;
        EXPECT_EQ(scale.grad().to_vector(), expected) << size;
    }
    Diff<Scaler> scaler{{3, 1}, {}};
    const auto val = device_.tensor<float>({1, 2, 3});
    module_.Scaler_scaled.backward(scaler, val, module_.Scaler_scaled(scaler.value, val));
    EXPECT_EQ(scaler.grad, (Scaler{36, 0}));
    // On the object itself, which gets no gradient.
    const auto some = device_.tensor<float>({1, 2, 3}).with_grads();
    scaler.value.scaled_backward(module_, some, module_.Scaler_scaled(scaler.value, some));
    EXPECT_THAT(some.grad().to_vector(), Each(9.F));
    const auto scales = device_.tensor(std::vector<float>(3, 3.F)).with_grads();
    ScalerFields{scales, 1.F}.scaled_backward(module_, val, module_.Scaler_scaled(scaler.value, val));
    EXPECT_EQ(scales.grad().to_vector(), (std::vector<float>{6, 12, 18}));
}

TEST_P(MethodsTest, FusedLossesTakeObjectsInEachForm) {
    const auto val = device_.tensor<float>({1, 2, 3});
    Diff<Scaler> scaler{{3, 1}, {}};
    EXPECT_THAT(module_.Scaler_scaled.fused(scaler, val).to_vector(), ElementsAre(10, 19, 28));
    EXPECT_EQ(scaler.grad, (Scaler{36, 0}));
    const auto whole = device_.tensor(std::vector<Scaler>(3, {3, 1})).with_grads();
    EXPECT_THAT(module_.Scaler_scaled.fused(whole, val).to_vector(), ElementsAre(10, 19, 28));
    EXPECT_THAT(whole.grad().to_vector(), ElementsAre(Scaler{6, 0}, Scaler{12, 0}, Scaler{18, 0}));
    const auto scale = device_.tensor<float>({3, 3, 3}).with_grads();
    EXPECT_THAT(module_.Scaler_scaled.fused({scale, 1.F}, val).to_vector(), ElementsAre(10, 19, 28));
    EXPECT_THAT(scale.grad().to_vector(), ElementsAre(6, 12, 18));
}

/// What a generated struct adds to the module's functions is templates: only a call compiles them.
TEST_P(MethodsTest, ObjectsHaveTheirFusedPassesAndForwardDerivatives) {
    const Scaler scaler{3, 1};
    const auto val = device_.tensor<float>({1, 2, 3}).with_grads();
    EXPECT_THAT(scaler.scaled_fused(module_, val).to_vector(), ElementsAre(10, 19, 28));
    EXPECT_THAT(val.grad().to_vector(), Each(9.F));
    Diff<float> one{2, 0};
    EXPECT_EQ(scaler.scaled_fused(module_, one), 19);
    EXPECT_EQ(one.grad, 9);

    const auto along = device_.tensor<float>({1, 0, 2});
    const auto [y, dy] = scaler.scaled_jvp(module_, Dual(val, along));
    EXPECT_THAT(y.to_vector(), ElementsAre(10, 19, 28));
    EXPECT_THAT(dy.to_vector(), ElementsAre(9, 0, 18));
    EXPECT_EQ(scaler.scaled_jvp(module_, Dual(2.F, 1.F)).tangent, 9);

    const auto scales = device_.tensor<float>({3, 3, 3}).with_grads();
    const ScalerFields fields{scales, 1.F};
    EXPECT_THAT(fields.scaled_fused(module_, val).to_vector(), ElementsAre(10, 19, 28));
    EXPECT_THAT(scales.grad().to_vector(), ElementsAre(6, 12, 18));
    EXPECT_THAT(fields.scaled_jvp(module_, Dual(val, along)).tangent.to_vector(), ElementsAre(9, 0, 18));
    const ScalerFields ways{device_.tensor<float>({1, 1, 0}), 0.F};
    EXPECT_THAT(module_.Scaler_scaled.jvp({fields, ways}, val).tangent.to_vector(), ElementsAre(6, 12, 0));
}

TEST_P(MethodsTest, ConstructorsMakeObjectsAndTensorsOfThem) {
    EXPECT_EQ(module_.make_scaler(3.F, 4.F), (Scaler{3, 4}));
    for (const int size : method_sizes) {
        const std::vector<float> values = eighths(static_cast<std::size_t>(size));
        const auto target =
            device_.tensor(bordered(std::vector<Scaler>(static_cast<std::size_t>(size)), {9, 9}));
        module_.make_scaler(device_.tensor(values), 4.F, out(inside(target)));
        std::vector<Scaler> expected;
        for (const float value : values) expected.push_back({value, 4});
        EXPECT_EQ(target.to_vector(), bordered(expected, Scaler{9, 9})) << size;
    }
}

TEST_P(MethodsTest, OverloadsStaticFunctionsAndSeveralOutputs) {
    const Scaler scaler{3, 5};
    EXPECT_EQ(scaler.dtype(module_, 2.F), 6);
    EXPECT_THAT(scaler.dtype(module_, 2.F, device_.tensor<float>({1, 2})).to_vector(), ElementsAre(7, 8));
    EXPECT_EQ(members::Units::to_feet(module_, 2.F), 8);
    const auto val = device_.tensor<float>({1, 2}).with_grads();
    const auto [whole, part] = scaler.split(module_, val);
    EXPECT_THAT(whole.to_vector(), ElementsAre(3, 6));
    EXPECT_THAT(part.to_vector(), ElementsAre(5, 10));
    module_.Scaler_split.backward(scaler, val, whole, part);
    EXPECT_THAT(val.grad().to_vector(), ElementsAre(8, 8));
}

TEST_P(MethodsTest, OfGenericStructsAndOnesWithoutGradient) {
    const auto x = device_.tensor<float>({1, 2, 3}).with_grads();
    EXPECT_THAT(members::Box_float{2}.plus(module_, x).to_vector(), ElementsAre(3, 4, 5));
    const members::Table table{{1, 2, 3}};
    const auto y = table.at(module_, x);
    EXPECT_THAT(y.to_vector(), ElementsAre(1, 4, 9));
    module_.Table_at.backward(table, x, y);
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(1, 2, 3));
}

TEST_P(MethodsTest, TakeFieldsThatTheKernelMakes) {
    const auto x = device_.tensor<float>({{1, 2, 3}, {4, 5, 6}}).with_grads();
    const auto weights = device_.tensor<float>({10, 100}).with_grads();
    const members::SiteFields site{kf::Made{}, kf::RandFloat{}, 2.F, weights};
    const auto y = site.sample(module_, x);
    EXPECT_THAT(y.to_vector(), ElementsAre(2, 14, 26, 108, 120, 132));
    module_.Site_sample.backward({kf::Made{}, kf::RandFloat{}, 2.F, weights}, x, y);
    EXPECT_THAT(x.grad().to_vector(), Each(2.F));
    EXPECT_THAT(weights.grad().to_vector(), ElementsAre(6, 3));
    const auto placed = members::SiteFields{kf::int2{1, 2}, kf::RandFloat{}, 2.F, weights};
    EXPECT_THAT(placed.sample(module_, x).to_vector(), ElementsAre(212, 214, 216, 218, 220, 222));
    const auto random =
        module_.Site_random({{}, kf::RandFloat{}, 0.F, std::array{0.F, 0.F}}, kf::Shape<1>{{33}}).to_vector();
    EXPECT_THAT(random, ::testing::SizeIs(33));
    EXPECT_THAT(random, Each(::testing::AllOf(::testing::Ge(0.F), ::testing::Lt(1.F))));
}

TEST_P(MethodsTest, TakeAFieldThatIsAWholeTensor) {
    const auto table = device_.tensor<float>({1, 2, 3}).with_grads();
    const auto i = device_.tensor<std::int32_t>({2, 0, 2});
    const members::LookupFields lookup{table, 10.F};
    const auto y = lookup.at(module_, i);
    EXPECT_THAT(y.to_vector(), ElementsAre(30, 10, 30));
    module_.Lookup_at.backward({table, 10.F}, i, y);
    EXPECT_THAT(table.grad().to_vector(), ElementsAre(10, 0, 20));
}

// Tensors are read and written through; the other fields of what changes are written.
TEST_P(MethodsTest, ChangeObjectsThatHoldTensors) {
    const auto table = device_.tensor<float>({1, 2, 3, 4}).with_grads();
    const auto seen = device_.tensor<std::int32_t>({0, 0, 0, 0});
    const auto flowing = device_.tensor<float>({1, 2, 3});
    const auto grad = device_.tensor<float>({0, 0, 0});
    const auto total = device_.tensor<float>({10, 20, 30}).with_grads(flowing, grad);
    const auto count = device_.tensor<std::int32_t>({5, 6, 7});
    const auto at = device_.tensor<std::int32_t>({2, 0, 3});
    const members::MeterFields meter{table, seen, total, count};
    module_.Meter_add.backward(meter, at);
    EXPECT_THAT(table.grad().to_vector(), ElementsAre(2, 0, 1, 3));
    EXPECT_THAT(grad.to_vector(), ElementsAre(2, 4, 6));
    meter.add(module_, at);
    EXPECT_THAT(total.to_vector(), ElementsAre(23, 41, 64));
    EXPECT_THAT(count.to_vector(), ElementsAre(6, 7, 8));
    EXPECT_THAT(module_.Meter_mark({table, seen, 1.F, 2}, at).to_vector(), ElementsAre(12, 12, 12));
    EXPECT_THAT(seen.to_vector(), ElementsAre(1, 0, 1, 1));
}

TEST_P(MethodsTest, HaveFunctionsBesideThatChangeStructsOfTensors) {
    const auto table = device_.tensor<float>({1, 2, 3, 4});
    const auto seen = device_.tensor<std::int32_t>({0, 0, 0, 0});
    members::MeterFields<Tensor<float, 1>, Tensor<std::int32_t, 1>, float, std::int32_t> meter{table, seen,
                                                                                               10.F, 4};
    EXPECT_EQ(module_.read_meter(meter, 2, 2.F), 46);
    EXPECT_EQ(meter.total, 23);
    EXPECT_EQ(meter.count, 5);
    meter.total = 10;
    const auto dtable = device_.tensor<float>({4, 8, 12, 16});
    Dual dual{meter, decltype(meter){dtable, {}, 1.F, 0}};
    const auto [y, dy] = module_.read_meter.jvp(dual, 2, {2.F, 0.5F});
    EXPECT_EQ(y, 46);
    EXPECT_EQ(dy, 2 * 14 + 23 * 0.5F);
    EXPECT_EQ(dual.value.total, 23);
    EXPECT_EQ(dual.tangent.total, 14);
}

TEST_P(MethodsTest, RefuseFieldsThatDisagree) {
    const auto pos = device_.tensor<float3>({{1, 2, 3}, {4, 5, 6}});
    const auto steps = device_.tensor<std::int32_t>({1, 2, 3});
    const auto failed = module_.Particle_update.try_call(ParticleFields{pos, float3{}, steps}, 1.F);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code(), ErrorCode::shape_mismatch);
    EXPECT_THAT(failed.error().what(), ::testing::HasSubstr("this.steps"));
    EXPECT_THAT(steps.to_vector(), ElementsAre(1, 2, 3));
}

TEST_P(MethodsTest, AreConfiguredAsFunctionsAre) {
    const globals::Module lit(device_);
    globals::Globals values;
    values.look_gain = 2.F;
    const globals::Lamp lamp{3};
    const auto x = device_.tensor<float>({{1, 2, 3}, {4, 5, 6}});
    const auto w = device_.tensor<float>({1, 10, 100}).with_grads();
    const auto shine = lit.Lamp_shine.set(values).map({{"w", {1}}});
    const auto y = shine(lamp, x, w);
    EXPECT_THAT(y.to_vector(), ElementsAre(6, 120, 1800, 24, 300, 3600));
    shine.backward(lamp, x, w, y);
    EXPECT_THAT(w.grad().to_vector(), ElementsAre(30, 42, 54));
    const auto by_row = device_.tensor<float>({1, 10});
    EXPECT_THAT(lamp.shine(lit.set(values), x, by_row).to_vector(), ElementsAre(6, 12, 18, 240, 300, 360));
    const auto filled = device_.zeros<float>({4});
    lit.Lamp_fill.set(values).threads(3)(lamp, filled);
    EXPECT_THAT(filled.to_vector(), ElementsAre(6, 6, 6, 0));
}

}  // namespace
}  // namespace kf::test
