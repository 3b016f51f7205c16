// Buffers and pointers through the generated wrappers: what they take, and what compiles.
#include <type_traits>
#include <vector>

#include "buffers.h"
#include "pointers.h"
#include "testing.h"

namespace kf::test {
namespace {

using buffers::Look;
using ::testing::ElementsAre;
using Indices = Tensor<std::int32_t, 1>;

template <class Function, class... Given>
constexpr bool can_call = std::is_invocable_v<const Function&, Given...>;

// What is only read isn't given where a function writes.
static_assert(can_call<buffers::GatherFunction, Buffer<float3>, Indices>);
static_assert(can_call<buffers::GatherFunction, RWBuffer<float3>, Indices>);
static_assert(can_call<buffers::GatherFunction, Tensor<float3, 2>, Indices>);
static_assert(!can_call<buffers::GatherFunction, Buffer<float>, Indices>);
static_assert(can_call<buffers::ScatterFunction, RWBuffer<float3>, Indices, Tensor<float3, 1>>);
static_assert(can_call<buffers::ScatterFunction, Tensor<float3, 1>, Indices, Tensor<float3, 1>>);
static_assert(!can_call<buffers::ScatterFunction, Buffer<float3>, Indices, Tensor<float3, 1>>);
static_assert(can_call<buffers::AddWordsFunction, Buffer<float>, RWBuffer<half>, Indices>);
static_assert(!can_call<buffers::AddWordsFunction, Buffer<float>, Buffer<half>, Indices>);
static_assert(!can_call<buffers::AdvanceFunction, Buffer<float>, Tensor<float, 1>>);
static_assert(can_call<buffers::AdvanceFunction, Tensor<float, 1>, Buffer<float>>);
static_assert(can_call<buffers::ScaleFunction, Tensor<float3, 1>, RWBuffer<float>>);
static_assert(can_call<buffers::AdvanceFunction, RWBuffer<float>, Tensor<float, 1>>);
// Slang's buffers with formats are the same, and a constant buffer is its struct.
static_assert(can_call<buffers::TintFunction, Buffer<float3>, RWBuffer<float3>, Look, float2, Indices>);
static_assert(
    can_call<buffers::TintFunction, Buffer<float3>, RWBuffer<float3>, Buffer<Look>, float2, Indices>);
static_assert(!can_call<buffers::TintFunction, Buffer<float3>, Buffer<float3>, Look, float2, Indices>);
static_assert(!can_call<buffers::TintFunction, Buffer<float4>, RWBuffer<float3>, Look, float2, Indices>);
static_assert(
    !can_call<buffers::TintFunction, Buffer<float3>, RWBuffer<float3>, buffers::Particle, float2, Indices>);
static_assert(!can_call<buffers::TintFunction, Buffer<float3>, RWBuffer<float3>, Look, float3, Indices>);
static_assert(can_call<pointers::ReadOnlyFunction, Buffer<float>, Indices>);
static_assert(!can_call<pointers::ReadAtFunction, Buffer<float>, Indices>, "its type may write");
static_assert(can_call<pointers::ReadAtFunction, RWBuffer<float>, Indices>);
static_assert(!can_call<pointers::ReadAtFunction, std::uint64_t, Indices>);
static_assert(can_call<pointers::ReachFunction, Tensor<buffers::Particle, 1>, Indices>);

class BuffersTest : public ::testing::TestWithParam<std::string> {
protected:
    Device device_ = Device::open(GetParam());
    Indices i_ = device_.tensor<std::int32_t>({2, 0, 1});
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BuffersTest);
INSTANTIATE_TEST_SUITE_P(Devices, BuffersTest, ::testing::ValuesIn(device_ids()),
                         [](const auto& test) { return test_name(test.param); });

TEST_P(BuffersTest, AreReadAndWritten) {
    const buffers::Module module(device_);
    const std::vector<float3> values{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    const Buffer<float3> points(device_, values);
    EXPECT_THAT(module.gather(points, i_).to_vector(), ElementsAre(values[2], values[0], values[1]));
    const RWBuffer<float3> sums = device_.zeros<float3>({3});
    for (int k = 0; k < 3; ++k)
        module.scatter(sums, i_, points.size() == 3 ? device_.tensor<float3>(values) : Tensor<float3, 1>());
    EXPECT_THAT(sums.to_vector(), ElementsAre(float3{12, 15, 18}, float3{21, 24, 27}, float3{3, 6, 9}));
    EXPECT_THAT(module.gather(sums, i_).to_vector(),
                ElementsAre(float3{3, 6, 9}, float3{12, 15, 18}, float3{21, 24, 27}));
}

TEST_P(BuffersTest, HoldStructs) {
    const buffers::Module module(device_);
    std::vector<buffers::Particle> start(3);
    for (std::size_t k = 0; k < 3; ++k) start[k] = {{0, 0, float(k)}, 2, half(1.F), {}, {1, 2, 3}};
    RWBuffer<buffers::Particle> old(device_, start);
    RWBuffer<buffers::Particle> next = device_.empty<buffers::Particle>({3});
    Encoder encoder = device_.encoder();
    for (int k = 0; k < 4; ++k) {
        module.step_particles.append_to(encoder, old, next, i_, 0.5F);
        std::swap(old, next);
    }
    encoder.submit();
    const std::vector<buffers::Particle> found = old.to_vector();
    // The weights are 1, 0, -0.5 and -0.75.
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(found[k].position, (float3{-0.125F, -0.25F, float(k) - 0.375F}));
}

TEST_P(BuffersTest, MeetConstantBuffers) {
    const buffers::Module module(device_);
    const Buffer<float3> from(device_, std::vector<float3>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
    const Look look{{1, 2, 1}, {9, 0.5F}, 1};
    const std::vector<float3> expected{{2, 5, 6}, {3.5F, 7, 10.5F}, {-1, -1, 8}};
    for (const bool in_memory : {false, true}) {
        const RWBuffer<float3> to(device_, std::vector<float3>(3, {-1, -1, -1}));
        if (in_memory)
            module.tint(from, to, Buffer<Look>(device_, std::vector<Look>{look}), {0, 7}, i_);
        else
            module.tint(from, to, look, {0, 7}, i_);
        EXPECT_EQ(to.to_vector(), expected);
    }
}

TEST_P(BuffersTest, HaveGradients) {
    const buffers::Module module(device_);
    const std::vector<float3> values{{1, 2, 3}, {4, 5, 6}};
    const auto v = Buffer<float3>(device_, values).with_grads();
    const auto k = device_.tensor<float>({2, 3});
    const auto y = module.scale(v, k);
    EXPECT_THAT(y.to_vector(), ElementsAre(float3{2, 4, 6}, float3{12, 15, 18}));
    for (int i = 0; i < 2; ++i) module.scale.backward(v, k, y);
    EXPECT_THAT(v.grad().to_vector(), ElementsAre(float3{4, 4, 4}, float3{6, 6, 6}));
    EXPECT_FALSE(k.grad());
    const RWBuffer<float3> own = device_.zeros<float3>({2});
    module.scale.backward(Buffer<float3>(device_, values).with_grads(own), k, y);
    EXPECT_THAT(own.to_vector(), ElementsAre(float3{2, 2, 2}, float3{3, 3, 3}));
    const std::vector<buffers::Spring> springs{{{1, 2, 3}, 4}, {{0, 0, 1}, 5}};
    const auto spring = Buffer<buffers::Spring>(device_, springs).with_grads();
    module.energy.backward(spring, 2.F, module.energy(spring, 2.F));
    const std::vector<buffers::Spring> grads = spring.grad().to_vector();
    EXPECT_EQ(grads[0].end, (float3{16, 32, 48}));
    EXPECT_EQ(grads[0].stiffness, 28);
    EXPECT_EQ(grads[1].end, (float3{0, 0, 20}));
}

TEST_P(BuffersTest, PointersLeadToTensorsAndAddresses) {
    const pointers::Module module(device_);
    const auto values = device_.tensor<float>({1, 2, 3, 4, 5, 6, 7, 8, 9});
    EXPECT_THAT(module.read_at(values, i_).to_vector(), ElementsAre(9, 1, 5));
    EXPECT_THAT(module.read_only(Buffer<float>(values), i_).to_vector(), ElementsAre(6, 2, 4));
    const Pointer<float> address(values.address() + 4);
    EXPECT_THAT(
        module.read_only.options({.reads = {values.any()}})(Pointer<const float>(address.address()), i_)
            .to_vector(),
        ElementsAre(8, 4, 6));
    const auto counter = device_.zeros<std::uint32_t>({1});
    const auto amounts = device_.tensor<std::uint32_t>({1, 2, 3});
    for (int k = 0; k < 3; ++k) module.count(counter, amounts);
    EXPECT_THAT(counter.to_vector(), ElementsAre(18U));
}

}  // namespace
}  // namespace kf::test
