// Calls with buffers, on a driver in host memory: what is bound, and what is refused.
#include <kf/invoke.h>
#include <kf/kf.h>

#include <gtest/gtest.h>

#include <type_traits>

#include "core/artifact.h"
#include "core/device_state.h"
#include "core/resource_list.h"
#include "core/tensor_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::invoke;
using detail::PassKind;
using testing::HasSubstr;

using Floats = Tensor<float, 1>;
static_assert(std::is_convertible_v<Floats, Buffer<float>> && std::is_convertible_v<Floats, RWBuffer<float>>);
static_assert(std::is_convertible_v<RWBuffer<float>, Buffer<float>>);
static_assert(!std::is_convertible_v<Buffer<float>, RWBuffer<float>>, "what is only read isn't written");
static_assert(!std::is_convertible_v<Buffer<float>, RWBuffer<void>>);
static_assert(std::is_convertible_v<RWBuffer<float>, RWBuffer<void>>);
static_assert(!std::is_convertible_v<Floats, Buffer<int>> && std::is_convertible_v<Floats, Buffer<void>>);
static_assert(std::is_convertible_v<Buffer<float>, Pointer<const float>>);
static_assert(!std::is_convertible_v<Buffer<float>, Pointer<float>>);
static_assert(std::is_convertible_v<RWBuffer<float>, Pointer<float>>);
static_assert(std::is_convertible_v<RWBuffer<float>, Floats> &&
              !std::is_convertible_v<Buffer<float>, Floats>);

class BufferTest : public testing::Test {
protected:
    void SetUp() override {
        ManifestBuilder builder;
        builder.add("f",
                    {buffer("a", Access::read), buffer("b", Access::read_write),
                     buffer("c", Access::read, ScalarType::uint8), tensor("x", 1),
                     as(Role::result, tensor("result", 1))},
                    false);
        module = Module::load(device, artifact::write(builder.get()));
        f = module.function("f");
    }

    void call(const Buffer<float>& one, const RWBuffer<float>& two, const Buffer<void>& three) {
        std::array args{Arg::in(one), Arg::in(two), Arg::in(three), Arg::in(x), Arg::none()};
        invoke(f, 0, PassKind::forward, args);
    }
    /// The bytes that the last call was given as its resource `i`.
    const driver::BufferRange& bound(std::size_t i) {
        return std::get<driver::BufferRange>(fake->last_dispatch().resources.at(i));
    }

    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device = detail::make_device(fake);
    Module module;
    detail::FunctionRef f;
    Floats x = device.tensor<float>({1, 2, 3});
    Floats a = device.zeros<float>({8});
    Floats b = device.zeros<float>({8});
};

TEST_F(BufferTest, AreBound) {
    const auto bytes = device.zeros<std::uint8_t>({12});
    const auto matrix = device.zeros<float>({2, 4});
    for (int i = 0; i < 3; ++i) {
        call(a, b, bytes);
        ASSERT_EQ(fake->last_dispatch().resources.size(), 3U);
        EXPECT_EQ(bound(0).allocation, a.any().state()->allocation);
        EXPECT_EQ(bound(1).size, 32U);
        EXPECT_EQ(bound(2).size, 12U);
        call(b.slice(0, 4, 6), matrix, a);
        EXPECT_EQ(bound(0).offset, 16U);
        EXPECT_EQ(bound(0).size, 8U);
        EXPECT_EQ(bound(1).allocation, matrix.any().state()->allocation);
        EXPECT_EQ(bound(2).size, 32U);
        call(device.zeros<float>({0}), b, a);
        EXPECT_EQ(bound(0).size, 1U) << "less than an element";
    }
}

TEST_F(BufferTest, RefusesWhatCannotBeBound) {
    call(a, b, x);
    const std::size_t before = fake->count("dispatch");
    const auto refused = [&](ErrorCode code, const char* what, const Buffer<float>& one,
                             const RWBuffer<float>& two, const Buffer<void>& three) {
        expect_error(code, HasSubstr(what), [&] { call(one, two, three); });
    };
    refused(ErrorCode::layout_mismatch, "argument 'a': a buffer's elements lie one after the other",
            a.slice(0, 0, 8, 2), b, x);
    refused(ErrorCode::layout_mismatch, "argument 'b': a buffer begins at a multiple of 16 bytes", a,
            b.slice(0, 1, 5), x);
    refused(ErrorCode::shape_mismatch, "argument 'c': it has 6 bytes", a, b, device.zeros<std::uint8_t>({6}));
    refused(ErrorCode::aliasing, "argument 'b': the output shares memory with argument 'a'", a, a, x);
    const Device elsewhere = detail::make_device(std::make_shared<FakeDevice>());
    refused(ErrorCode::device_mismatch, "argument 'a': the tensor is on device", elsewhere.zeros<float>({8}),
            b, x);
    const auto integers = device.zeros<int>({8});
    const RWBuffer<float> written = b;
    std::array args{Arg::in(integers), Arg::in(written), Arg::in(x), Arg::in(x), Arg::none()};
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("argument 'a': expected float buffer, found an int tensor"),
                 [&] { invoke(f, 0, PassKind::forward, args); });
    EXPECT_EQ(fake->count("dispatch"), before);
}

TEST_F(BufferTest, RefusesWhatIsTooLarge) {
    fake->editable_info().max_buffer = 16;
    expect_error(ErrorCode::value_range, HasSubstr("argument 'a': it has 32 bytes; a buffer has at most 16"),
                 [&] { call(a, b, x); });
}

}  // namespace
