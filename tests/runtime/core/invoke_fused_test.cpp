// Fused passes on a driver in host memory: one launch, its result returned, its gradients added.
#include <kf/invoke.h>
#include <kf/kf.h>

#include <algorithm>

#include "core/artifact.h"
#include "core/device_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_driver.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::Arg;
using detail::invoke;
using detail::PassKind;
using manifest::RecordKind;
using testing::ElementsAre;
using testing::HasSubstr;

/// polynomial() with kernels that have the records of both passes.
Manifest fused_polynomial() {
    Manifest manifest = polynomial();
    Call& call = manifest.functions[0].calls[0];
    const auto both = [&](std::int64_t forward) {
        Kernel kernel = manifest.kernels[static_cast<std::size_t>(forward)];
        kernel.name.replace(kernel.name.find("forward"), 7, "fused");
        set_records(kernel, call, {PassKind::fused, kernel.variant});
        kernel.source_hash = kernel.name;
        manifest.kernels.push_back(kernel);
        return static_cast<std::int64_t>(manifest.kernels.size()) - 1;
    };
    call.has_fused = true;
    call.fused = {both(call.forward.contiguous), both(call.forward.strided)};
    return manifest;
}

class InvokeFusedTest : public testing::Test {
protected:
    void SetUp() override {
        module_ = Module::load(device_, artifact::write(fused_polynomial()));
        function_ = module_.function("polynomial");
        fake_->on_dispatch = [this](FakeDevice&, const Command& c) {
            ASSERT_EQ(c.kernel, "polynomial.fused.contiguous");
            const auto a = c.field<float>(RecordKind::value, 0);
            const auto b = c.field<float>(RecordKind::value, 1);
            const float* x = floats(c.field<std::uint64_t>(RecordKind::data, 3));
            float* y = floats(c.field<std::uint64_t>(RecordKind::data, 4));
            const auto flowing = c.field<std::uint64_t>(RecordKind::grad_in, 4);
            const auto dx = c.field<std::uint64_t>(RecordKind::grad_out, 3);
            const auto da = c.field<std::uint64_t>(RecordKind::grad_out, 0);
            for (std::int64_t i = 0; i < c.field<std::int64_t>(RecordKind::launch); ++i) {
                const float g = flowing == 0 ? 1.F : floats(flowing)[i];
                y[i] = a * x[i] * x[i] + b * x[i] + c.field<float>(RecordKind::value, 2);
                if (dx != 0) floats(dx)[i] += (2 * a * x[i] + b) * g;
                if (da != 0) floats(da)[0] += x[i] * x[i] * g;
            }
        };
    }
    float* floats(std::uint64_t address) { return reinterpret_cast<float*>(fake_->at(address)); }
    [[nodiscard]] std::ptrdiff_t dispatches() const {
        return std::ranges::count(fake_->commands, "dispatch", &Command::what);
    }

    std::shared_ptr<FakeDevice> fake_ = std::make_shared<FakeDevice>();
    Device device_ = detail::make_device(fake_);
    Module module_;
    detail::FunctionRef function_;
    const float b_ = 8, c_ = -1;
};

TEST_F(InvokeFusedTest, OneLaunchReturnsAndAdds) {
    Diff a{2.F};
    const auto x = device_.tensor<float>({1, 2, 3, 4}).with_grads();
    for (int turn = 1; turn <= 2; ++turn) {
        std::array args{Arg::in(a), Arg::in(b_), Arg::in(c_), Arg::in(x), Arg::none()};
        invoke(function_, 0, PassKind::fused, args);
        EXPECT_EQ(dispatches(), turn);
        EXPECT_THAT((Tensor<float, 1>(args[4].allocated)).to_vector(), ElementsAre(9, 23, 41, 63));
        EXPECT_EQ(a.grad, 30.F * static_cast<float>(turn));
    }
    EXPECT_THAT(x.grad().to_vector(), ElementsAre(24, 32, 40, 48));
}

TEST_F(InvokeFusedTest, RememberedLaunchesAreThoseOfThePass) {
    const float a = 2;
    for (int turn = 1; turn <= 3; ++turn) {
        const auto x = device_.tensor<float>({1, 2}).with_grads();
        const auto y = device_.empty<float>({2}).with_grads();
        y.grad().copy_from(std::vector<float>{1, 10});
        const auto target = out(y);
        std::array args{Arg::in(a), Arg::in(b_), Arg::in(c_), Arg::in(x), Arg::out(target)};
        invoke(function_, 0, PassKind::fused, args);
        EXPECT_THAT(y.to_vector(), ElementsAre(9, 23));
        EXPECT_THAT(x.grad().to_vector(), ElementsAre(12, 160)) << "what flows into the result";
    }
    EXPECT_EQ(dispatches(), 3);
}

TEST_F(InvokeFusedTest, NothingSharesMemoryWithWhatIsWritten) {
    const float a = 2;
    const auto x = device_.tensor<float>({1, 2}).with_grads();
    for (const auto& shared : {x.grad(), x}) {
        const auto target = out(shared.with_grads());
        std::array args{Arg::in(a), Arg::in(b_), Arg::in(c_), Arg::in(x), Arg::out(target)};
        if (shared.any().address() == x.any().address()) {
            invoke(function_, 0, PassKind::fused, args);  // in place: each element is read, then written
            continue;
        }
        expect_error(ErrorCode::aliasing, HasSubstr("shares memory with argument 'result'"),
                     [&] { invoke(function_, 0, PassKind::fused, args); });
    }
    EXPECT_EQ(dispatches(), 1);
}

TEST_F(InvokeFusedTest, OthersHaveNone) {
    const Module plain = Module::load(device_, artifact::write(polynomial()));
    const float a = 2;
    const auto x = device_.tensor<float>({1, 2}).with_grads();
    std::array args{Arg::in(a), Arg::in(b_), Arg::in(c_), Arg::in(x), Arg::none()};
    expect_error(ErrorCode::not_differentiable, HasSubstr("\"fused\": true"),
                 [&] { invoke(plain.function("polynomial"), 0, PassKind::fused, args); });
}

}  // namespace
