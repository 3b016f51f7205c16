// Calls with pointers, on a driver in host memory: addresses, and the memory that commands wait for.
#include <kf/invoke.h>
#include <kf/kf.h>

#include <gtest/gtest.h>

#include <type_traits>

#include "core/artifact.h"
#include "core/device_state.h"
#include "core/tensor_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::invoke;
using detail::PassKind;
using manifest::Pointee;
using manifest::RecordKind;
using testing::HasSubstr;

using Floats = Tensor<float, 1>;
static_assert(std::is_convertible_v<Floats, Pointer<float>>);
static_assert(std::is_convertible_v<Floats, Pointer<const float>>);
static_assert(std::is_convertible_v<Floats, Pointer<void>>);
static_assert(!std::is_convertible_v<Floats, Pointer<int>>);
static_assert(!std::is_convertible_v<std::uint64_t, Pointer<float>>, "an address is given by name");

Argument pointer(std::string name, Access access, Pointee pointee = Pointee::values) {
    Argument argument = value(std::move(name));
    argument.kind = manifest::kinds::Pointer{access, pointee, 4};
    argument.type = "float*";
    return argument;
}

class PointerTest : public testing::Test {
protected:
    void SetUp() override {
        ManifestBuilder builder;
        builder.add("f",
                    {pointer("p", Access::read_write), pointer("q", Access::read), tensor("x", 1),
                     as(Role::result, tensor("result", 1))},
                    false);
        const Manifest manifest = builder.get();
        module = Module::load(device, artifact::write(manifest));
        f = module.function("f");
    }

    void call(const Pointer<float>& p, const Pointer<const float>& q, const Options& options = {}) {
        std::array args{Arg::in(p), Arg::in(q), Arg::in(x), Arg::none()};
        invoke(f.with(options), 0, PassKind::forward, args);
    }
    /// Whether the last call writes the tensor's memory, by what it says; nothing when it isn't told.
    std::optional<bool> writes(const Floats& tensor) {
        for (const driver::Use& use : fake->last_dispatch().uses) {
            if (use.allocation == tensor.any().state()->allocation.get()) return use.writes;
        }
        return std::nullopt;
    }

    std::shared_ptr<FakeDevice> fake = std::make_shared<FakeDevice>();
    Device device = detail::make_device(fake);
    Module module;
    detail::FunctionRef f;
    Floats x = device.tensor<float>({1, 2, 3});
    Floats a = device.zeros<float>({8});
    Floats b = device.zeros<float>({8});
};

TEST_F(PointerTest, GivesAddresses) {
    for (int i = 0; i < 3; ++i) {
        call(a.slice(0, 2, 4), Pointer<const float>(0xFFFF'FFFF'FFFF'FFFCULL));
        const auto& command = fake->last_dispatch();
        EXPECT_EQ(command.field<std::uint64_t>(RecordKind::pointer, 0), a.address() + 8);
        EXPECT_EQ(command.field<std::uint64_t>(RecordKind::pointer, 1), 0xFFFF'FFFF'FFFF'FFFCULL);
        call(b, {});
        EXPECT_EQ(fake->last_dispatch().field<std::uint64_t>(RecordKind::pointer, 0), b.address());
        EXPECT_EQ(fake->last_dispatch().field<std::uint64_t>(RecordKind::pointer, 1), 0U);
    }
}

TEST_F(PointerTest, WaitsForWhatItLeadsTo) {
    for (int i = 0; i < 3; ++i) {
        call(a, b);
        EXPECT_EQ(writes(a), true);
        EXPECT_EQ(writes(b), false) << "its type only reads";
        call(Pointer<float>(a.address()), b);
        EXPECT_EQ(writes(a), std::nullopt) << "nothing is guessed";
    }
}

TEST_F(PointerTest, WaitsForWhatItIsTold) {
    for (int i = 0; i < 2; ++i) {
        call(a, {}, {.reads = {a.any()}, .writes = {b.any()}});
        EXPECT_EQ(writes(a), false);
        EXPECT_EQ(writes(b), true);
        call(Pointer<float>(a.address()), {}, {.reads = {b.any()}, .writes = {a.any(), {}}});
        EXPECT_EQ(writes(a), true);
        EXPECT_EQ(writes(b), false);
        call(a, {});
        EXPECT_EQ(writes(a), true);
        EXPECT_EQ(writes(b), std::nullopt);
    }
}

TEST_F(PointerTest, RefusesWhatDoesNotFit) {
    call(a, b);
    const std::size_t before = fake->count("dispatch");
    const Device elsewhere = detail::make_device(std::make_shared<FakeDevice>());
    const auto foreign = elsewhere.zeros<float>({8});
    expect_error(ErrorCode::device_mismatch, HasSubstr("argument 'p': the tensor is on device"),
                 [&] { call(foreign, b); });
    expect_error(ErrorCode::device_mismatch, HasSubstr("writes: the tensor is on device"),
                 [&] { call(a, b, {.writes = {foreign.any()}}); });
    expect_error(ErrorCode::layout_mismatch,
                 HasSubstr("argument 'p': its address, 0x1a, is no multiple of 4"),
                 [&] { call(Pointer<float>(26), b); });
    expect_error(ErrorCode::layout_mismatch, HasSubstr("argument 'p': a pointer's elements lie one after"),
                 [&] { call(a.slice(0, 0, 8, 2), b); });
    const auto integers = device.zeros<int>({2});
    const std::uint64_t address = integers.address();
    const Pointer<float> null;
    std::array args{Arg::make(Arg::Kind::pointer, &address, nullptr, nullptr, &integers.any()), Arg::in(null),
                    Arg::in(x), Arg::none()};
    expect_error(ErrorCode::type_mismatch, HasSubstr("argument 'p': expected float*, found an int tensor"),
                 [&] { invoke(f, 0, PassKind::forward, args); });
    args[0] = Arg::in(x);
    expect_error(ErrorCode::type_mismatch, HasSubstr("argument 'p': expected float*"),
                 [&] { invoke(f, 0, PassKind::forward, args); });
    args[0] = Arg::none();
    expect_error(ErrorCode::missing_argument, HasSubstr("argument 'p': expected float*, found nothing"),
                 [&] { invoke(f, 0, PassKind::forward, args); });
    EXPECT_EQ(fake->count("dispatch"), before);
}

}  // namespace
