// Tensors on a driver in host memory: makers, views, gradients, transfers.
#include <kf/kf.h>

#include <gtest/gtest.h>

#include <cstring>

#include "core/device_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using kf::test::expect_error;
using kf::test::FakeDevice;
using testing::HasSubstr;

class TensorTest : public testing::Test {
protected:
    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device = detail::make_device(fake);
};

using V = std::vector<float>;

TEST_F(TensorTest, AreMadeFromValues) {
    EXPECT_EQ(device.tensor<float>({1, 2, 3}).to_vector(), (V{1, 2, 3}));
    const auto matrix = device.tensor<float>({{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(matrix.shape(), (Shape<2>{2, 3}));
    EXPECT_EQ(matrix.strides(), (Shape<2>{3, 1}));
    EXPECT_EQ(matrix.to_vector(), (V{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(device.tensor<float>({{{1, 2}, {3, 4}}}).shape(), (Shape<3>{1, 2, 2}));
    EXPECT_EQ(device.tensor<bool>({true, false, true}).to_vector(), (std::vector<bool>{true, false, true}));
    EXPECT_EQ(device.tensor<bool>(std::vector<bool>{false, true}).to_vector(),
              (std::vector<bool>{false, true}));
    EXPECT_EQ(device.tensor<float3>({{1, 2, 3}, {4, 5, 6}}).to_vector()[1], (float3{4, 5, 6}));
    EXPECT_EQ(device.tensor<std::int16_t>({-1, 2, 3}).to_vector(), (std::vector<std::int16_t>{-1, 2, 3}));
    expect_error(ErrorCode::shape_mismatch, HasSubstr("rows"), [&] {
        (void)device.tensor<float>({{1, 2}, {3, 4, 5}});
    });
    const V three{1, 2, 3};
    expect_error(ErrorCode::shape_mismatch, HasSubstr("the host side has 3"), [&] {
        (void)device.tensor<float>(std::span<const float>(three), {2, 2});
    });
}

TEST_F(TensorTest, HaveElementsOfFourDimensions) {
    const ElementType element{ScalarType::float32, 4, {2, 1, 3, 2}};
    EXPECT_EQ(element.size(), 48);
    EXPECT_EQ(to_string(element), "float[2][1][3][2]");
    const AnyTensor tensor = AnyTensor::ones(device, element, {1, 1, 1, 1, 1, 1, 1, 2});
    std::vector<std::byte> bytes(96);
    tensor.read(bytes);
    std::vector<float> scalars(24);
    std::memcpy(scalars.data(), bytes.data(), bytes.size());
    EXPECT_EQ(scalars, V(24, 1));
    bytes.resize(100);
    expect_error(ErrorCode::shape_mismatch,
                 HasSubstr("2 elements of 48 bytes, the host side has 2 and 4 bytes"),
                 [&] { tensor.write(bytes); });
}

TEST_F(TensorTest, CountOnlyTheExtentsThatAnElementHas) {
    const ElementType three{ScalarType::float32, 1, {3}};
    EXPECT_EQ(three, element_of<float3>);
    EXPECT_EQ(three.size(), 12);
    EXPECT_EQ(to_string(three), "float3");
    expect_error(ErrorCode::value_range, HasSubstr("float[3][0]"), [&] {
        (void)AnyTensor::empty(device, {ScalarType::float32, 2, {3, 0}}, {2});
    });
}

TEST_F(TensorTest, AreFilled) {
    EXPECT_EQ(device.zeros<half>({3}).to_vector(), (std::vector<half>(3, half(0.F))));
    EXPECT_EQ(device.ones<half>({3}).to_vector(), (std::vector<half>(3, half(1.F))));
    EXPECT_EQ(device.ones<bool>({5}).to_vector(), (std::vector<bool>(5, true)));
    EXPECT_EQ(device.ones<std::int8_t>({5}).to_vector(), (std::vector<std::int8_t>(5, 1)));
    EXPECT_EQ(device.ones<std::uint16_t>({5}).to_vector(), (std::vector<std::uint16_t>(5, 1)));
    EXPECT_EQ(device.ones<std::int32_t>({2, 2}).to_vector(), (std::vector<std::int32_t>(4, 1)));
    EXPECT_EQ(device.ones<std::int64_t>({3}).to_vector(), (std::vector<std::int64_t>(3, 1)));
    EXPECT_EQ(device.ones<double2>({2}).to_vector()[1], (double2{1, 1}));
    EXPECT_EQ(device.ones<float>({3}).to_vector(), (V{1, 1, 1}));
}

TEST_F(TensorTest, MayBeEmpty) {
    const auto tensor = device.zeros<float>({0, 3}).with_grads();
    EXPECT_EQ(tensor.size(), 0);
    EXPECT_EQ(tensor.address(), 0U);
    EXPECT_TRUE(tensor.to_vector().empty());
    tensor.copy_from({});
    EXPECT_EQ(device.tensor<float>({1, 2}).slice(0, 2, 9).size(), 0);
    EXPECT_TRUE(fake->commands.empty() || fake->count("read_back") == 0);
}

TEST_F(TensorTest, RefuseImpossibleShapes) {
    expect_error(ErrorCode::shape_mismatch, HasSubstr("negative"), [&] { (void)device.empty<float>({-1}); });
    expect_error(ErrorCode::shape_mismatch, HasSubstr("too large"), [&] {
        (void)device.empty<float>({std::int64_t{1} << 40, std::int64_t{1} << 40});
    });
    EXPECT_FALSE(Device().try_make([&] { return device.empty<float>({-1}); }).ok());
}

TEST_F(TensorTest, SliceAsNumPyDoes) {
    const auto x = device.tensor<float>({0, 1, 2, 3, 4, 5});
    EXPECT_EQ(x.slice(0, 1, 4).to_vector(), (V{1, 2, 3}));
    EXPECT_EQ(x.slice(0, 0, 6, 2).to_vector(), (V{0, 2, 4}));
    EXPECT_EQ(x.slice(0, -2, 100).to_vector(), (V{4, 5}));
    EXPECT_EQ(x.slice(0, 4, 1, -2).to_vector(), (V{4, 2}));
    EXPECT_EQ(x.slice(-1, 5, INT64_MIN, -1).to_vector(), (V{5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(x.slice(0, 3, 3).size(), 0);
    EXPECT_EQ(x.slice(0, 1, 6, 2).slice(0, 1, 3).to_vector(), (V{3, 5}));
    expect_error(ErrorCode::index_range, HasSubstr("step"), [&] { (void)x.slice(0, 0, 1, 0); });
    expect_error(ErrorCode::index_range, HasSubstr("dimension 1"), [&] { (void)x.slice(1, 0, 1); });
}

TEST_F(TensorTest, HaveViews) {
    const auto m = device.tensor<float>({{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(m.transpose().to_vector(), (V{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(m.transpose({1, 0}).shape(), (Shape<2>{3, 2}));
    EXPECT_FALSE(m.transpose().is_contiguous());
    EXPECT_EQ(m.select(1, -1).to_vector(), (V{3, 6}));
    EXPECT_EQ(m.select(0, 1).select(0, 0).to_vector(), (V{4}));
    EXPECT_EQ(m.select(0, 1).broadcast_to({2, 3}).to_vector(), (V{4, 5, 6, 4, 5, 6}));
    EXPECT_EQ(m.reshape({6}).to_vector(), (V{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(m.any().insert_axis(1).shape(), (Dims{2, 1, 3}));
    expect_error(ErrorCode::index_range, HasSubstr("index 2"), [&] { (void)m.select(0, 2); });
    expect_error(ErrorCode::index_range, HasSubstr("twice"), [&] { (void)m.transpose({1, 1}); });
    expect_error(ErrorCode::shape_mismatch, HasSubstr("[2, 3] doesn't broadcast to [2, 4]"), [&] {
        (void)m.broadcast_to({2, 4});
    });
    expect_error(ErrorCode::layout_mismatch, HasSubstr("not contiguous"),
                 [&] { (void)m.transpose().reshape({6}); });
}

TEST_F(TensorTest, AreWrittenThroughViews) {
    const auto m = device.tensor<float>({{1, 2, 3}, {4, 5, 6}});
    m.select(1, 1).copy_from({20, 50});
    EXPECT_EQ(m.to_vector(), (V{1, 20, 3, 4, 50, 6}));
    m.transpose().copy_from({1, 2, 3, 4, 5, 6});
    EXPECT_EQ(m.to_vector(), (V{1, 3, 5, 2, 4, 6}));
    m.slice(1, 2, INT64_MIN, -1).copy_from({10, 20, 30, 40, 50, 60});
    EXPECT_EQ(m.to_vector(), (V{30, 20, 10, 60, 50, 40}));
    expect_error(ErrorCode::layout_mismatch, HasSubstr("broadcast"), [&] {
        m.select(0, 0).broadcast_to({2, 3}).copy_from({1, 2, 3, 4, 5, 6});
    });
    EXPECT_FALSE(m.try_copy_from(V{1}).ok());
}

TEST_F(TensorTest, KeepGradientsInViews) {
    const auto x = device.tensor<float>({{1, 2, 3}, {4, 5, 6}}).with_grads();
    EXPECT_EQ(x.grad().to_vector(), V(6, 0.F));
    x.grad().copy_from({10, 20, 30, 40, 50, 60});
    EXPECT_EQ(x.select(0, 1).grad().to_vector(), (V{40, 50, 60}));
    EXPECT_EQ(x.slice(1, 1, 3).grad().to_vector(), (V{20, 30, 50, 60}));
    EXPECT_EQ(x.transpose().grad_in().to_vector(), (V{10, 40, 20, 50, 30, 60}));
    EXPECT_EQ(x.reshape({6}).slice(0, 4, 6).grad_out().to_vector(), (V{50, 60}));
    EXPECT_EQ(x.select(0, 0).broadcast_to({2, 3}).grad().strides(), (Shape<2>{0, 1}));
    EXPECT_FALSE(x.grad().grad());
    EXPECT_FALSE(device.tensor<float>({1}).grad());
    EXPECT_EQ(x.grad_in().address(), x.grad_out().address());
}

TEST_F(TensorTest, HaveNoViewsWithPushedGradients) {
    const AnyTensor bare = device.tensor<float>({1, 2, 3, 4}).any();
    const auto zeros = [&](const Dims& shape) { return AnyTensor::zeros(device, element_of<float>, shape); };
    // A call spec's map may give the call's dimensions in any order.
    for (const Dims& shape : {Dims{4, 4}, Dims{4, 3}, Dims{3, 4, 2}}) {
        const AnyTensor x = bare.with_grads({}, zeros(shape));
        const std::array<std::int64_t, 1> order{0};
        const std::vector<std::pair<const char*, std::function<void()>>> views = {
            {"slice", [&] { (void)x.slice(0, 1, 3); }},
            {"slice", [&] { (void)x.slice(0, 3, INT64_MIN, -1); }},
            {"select", [&] { (void)x.select(0, 3); }},
            {"transpose", [&] { (void)x.transpose(order); }},
            {"broadcast_to",
             [&] {
                 (void)x.broadcast_to({2, 4});
             }},
            {"insert_axis", [&] { (void)x.insert_axis(0); }},
            {"reshape",
             [&] {
                 (void)x.reshape({2, 2});
             }},
            {"view", [&] { (void)x.view(element_of<float2>, alignof(float2)); }}};
        for (const auto& [name, view] : views) {
            expect_error(
                ErrorCode::layout_mismatch,
                HasSubstr(std::string(name) + ": the tensor has shape [4] and its gradient, to push to, " +
                          to_string(shape)),
                view);
        }
        EXPECT_EQ(x.without_grads().slice(0, 1, 3).shape(), (Dims{2}));
    }
    EXPECT_NO_THROW((void)zeros({1, 1}).with_grads({}, zeros({3, 4})));
    EXPECT_NO_THROW((void)zeros({5, 6}).with_grads({}, zeros({6, 5})));
    for (const Dims& shape : {Dims{3, 3}, Dims{}, Dims{5}}) {
        expect_error(ErrorCode::shape_mismatch, HasSubstr("grad_out: expected shape [4], found"),
                     [&] { (void)bare.with_grads({}, zeros(shape)); });
    }
    expect_error(ErrorCode::shape_mismatch, HasSubstr("grad_out: expected shape [1, 1], found [4]"), [&] {
        (void)zeros({1, 1}).with_grads({}, zeros({4}));
    });
}

TEST_F(TensorTest, TakeGradientsOfLess) {
    const auto values = device.tensor<float>({1, 2, 3, 4, 5, 6}).reshape<2>({2, 3});
    const auto x = values.with_grads({}, device.tensor<float>({7, 8, 9}).reshape<2>({1, 3}));
    EXPECT_EQ(x.any().grad().shape(), (Dims{1, 3})) << "as it was given";
    EXPECT_EQ(x.slice(0, 1, 2).grad().to_vector(), (V{7, 8, 9})) << "each row's";
    EXPECT_EQ(x.transpose().grad().to_vector(), (V{7, 7, 8, 8, 9, 9}));
    const auto both = device.zeros<float, 2>({1, 3});
    expect_error(ErrorCode::shape_mismatch, HasSubstr("grad_in: expected shape [2, 3], found [1, 3]"),
                 [&] { (void)values.with_grads(both, both); });
    expect_error(ErrorCode::shape_mismatch, HasSubstr("found [2, 2] (an extent of 1 gets the sum)"), [&] {
        (void)values.with_grads({}, device.zeros<float, 2>({2, 2}));
    });
}

TEST_F(TensorTest, TakeGradientsThatFit) {
    const auto x = device.tensor<float>({1, 2, 3});
    const auto in = device.tensor<float>({4, 5, 6});
    const auto both = x.with_grads(in, device.zeros<float>({3}));
    EXPECT_EQ(both.grad_in().to_vector(), (V{4, 5, 6}));
    EXPECT_EQ(both.grad().to_vector(), (V{0, 0, 0}));
    EXPECT_EQ(x.with_grads(in, {}).grad().to_vector(), (V{4, 5, 6}));
    EXPECT_FALSE(x.grad());  // x itself is as it was
    expect_error(ErrorCode::shape_mismatch, HasSubstr("grad_in: expected shape [3], found [2]"),
                 [&] { (void)x.with_grads(device.zeros<float>({2}), {}); });
    expect_error(ErrorCode::device_mismatch, HasSubstr("grad_out"), [&] {
        const Device other = detail::make_device(std::make_shared<FakeDevice>());
        (void)x.with_grads({}, other.zeros<float>({3}));
    });
    expect_error(ErrorCode::type_mismatch, HasSubstr("a tensor of int has no gradient"),
                 [&] { (void)device.tensor<int>({1}).with_grads(); });
}

TEST_F(TensorTest, AreTyped) {
    const AnyTensor any = device.zeros<float>({2}).any();
    EXPECT_NO_THROW((Tensor<float, 1>(any)));
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("expected an int tensor of rank 1, found a float tensor of rank 1"),
                 [&] { (void)Tensor<int, 1>(any); });
    expect_error(ErrorCode::rank_mismatch, HasSubstr("rank 2"), [&] { (void)Tensor<float, 2>(any); });
    expect_error(ErrorCode::missing_argument, HasSubstr("null"), [] { (void)AnyTensor().shape(); });
}

TEST_F(TensorTest, OutliveTheirDevice) {
    auto tensor = device.tensor<float>({1, 2});
    device = Device();
    EXPECT_EQ(tensor.to_vector(), (V{1, 2}));
    EXPECT_EQ(tensor.device().info().id, "fake:0");
}

TEST(DeviceNames, AreExplainedWhenUnknown) {
    const auto result = Device::try_open("metal:0");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), ErrorCode::no_device);
    EXPECT_THAT(result.error().what(), HasSubstr("vulkan"));
    EXPECT_THROW((void)result.value(), DeviceError);
}

}  // namespace
