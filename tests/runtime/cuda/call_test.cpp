// Whole calls on the CUDA driver: the caller's stream, and calls captured into a graph.
#include <kf/graph.h>
#include <kf/half.h>
#include <kf/invoke.h>
#include <kf/kf.h>
#include <kf/vulkan.h>

#include "core/artifact.h"
#include "core/device_state.h"
#include "core/tensor_state.h"
#include "runtime/core/fake_driver.h"
#include "runtime/core/manifests.h"
#include "runtime/core/record_place.h"
#include "testing.h"

namespace kf::test {
namespace {

using detail::Arg;
using detail::invoke;
using detail::PassKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One launch, as a kernel sees it.
struct Launch {
    const manifest::Kernel& kernel;
    const std::byte* block;

    template <class T>
    T field(RecordKind kind, std::int64_t argument = -1) const {
        T value;
        std::memcpy(&value, block + record_place(kernel, "cuda", kind, argument), sizeof value);
        return value;
    }
    template <class T>
    T* memory(RecordKind kind, std::int64_t argument) const {
        return reinterpret_cast<T*>(field<std::uint64_t>(kind, argument));
    }
};

class CallTest : public FakeCudaTest {
protected:
    CallTest() : device_(detail::make_device(open())), stream_(fake_.create_stream()) {}

    /// Kernels of the fake driver's for all kernels of the manifest.
    detail::FunctionRef load(const Manifest& given, const std::function<void(const Launch&)>& run,
                             std::optional<Device> on = std::nullopt) {
        manifest_ = given;
        std::string entries;
        for (manifest::Kernel& kernel : manifest_.kernels) {
            entries += (entries.empty() ? "" : ",") + entry_of(kernel);
        }
        for (manifest::Kernel& kernel : manifest_.kernels) {
            kernel.layouts = {{"cuda", kernel.layouts.at("fake")}};
            const std::string entry = entry_of(kernel);
            kernel.images = {cuda_image("cubin", "sm_90", FakeCuda::cubin("sm_90", entries), entry)};
            fake_.block_sizes[entry] = static_cast<std::size_t>(kernel.layouts.at("cuda").size);
            fake_.kernels[entry] = [&kernel, run](const std::byte* block, auto...) {
                run({kernel, block});
                return cuda::CUDA_SUCCESS;
            };
        }
        module_ = Module::load(on.value_or(device_), artifact::write(manifest_));
        return module_.function(manifest_.functions.front().name);
    }

    /// The kernel's name, with the interface that the manifest's has.
    static std::string entry_of(const manifest::Kernel& kernel) {
        const std::string& made = kernel.images.front().entry_point;
        return kernel.name + made.substr(made.rfind('_'));
    }

    detail::FunctionRef load_polynomial(std::optional<Device> on = std::nullopt) {
        const auto run = [](const Launch& launch) {
            const auto* x = launch.memory<const float>(RecordKind::data, 3);
            auto* y = launch.memory<float>(RecordKind::data, 4);
            for (std::int64_t i = 0; i < launch.field<std::int64_t>(RecordKind::launch); ++i) {
                y[i] = launch.field<float>(RecordKind::value, 0) * x[i] * x[i] +
                       launch.field<float>(RecordKind::value, 1) * x[i] +
                       launch.field<float>(RecordKind::value, 2);
            }
        };
        return load(polynomial(), run, std::move(on));
    }
    static std::array<Arg, 5> polynomial_args(const Tensor<float, 1>&& x) = delete;  // it is pointed to
    static std::array<Arg, 5> polynomial_args(const Tensor<float, 1>& x) {
        static const std::array<float, 3> abc{2, 8, -1};
        return {Arg::in(abc[0]), Arg::in(abc[1]), Arg::in(abc[2]), Arg::in(x), Arg::none()};
    }

    Device device_;
    cuda::CUstream stream_;
    Manifest manifest_;
    Module module_;
};

TEST_F(CallTest, OneCallOnTheCallersStream) {
    const auto f = load_polynomial();
    const auto x = device_.tensor<float>({1, 2, 3, 4});
    auto args = polynomial_args(x);
    {
        const Device on = device_.with_stream(stream_);
        EXPECT_EQ(on, device_);
        EXPECT_EQ(on.info().id, "cuda:0");
        invoke(f, 0, PassKind::forward, args, nullptr, nullptr, &on);
    }
    EXPECT_EQ(args[4].allocated.state()->device, device_.state()) << "the result remembers no stream";
    fake_.synchronize(stream_);
    fake_.destroy_stream(stream_);
    EXPECT_THAT((Tensor<float, 1>(args[4].allocated)).to_vector(), ElementsAre(9, 23, 41, 63));
}

TEST_F(CallTest, AModuleOnTheCallersStream) {
    const Device on = device_.with_stream(stream_);
    const auto f = load_polynomial(on);
    const auto x = device_.tensor<float>({1, 2, 3, 4});
    auto args = polynomial_args(x);
    invoke(f, 0, PassKind::forward, args);
    const Tensor<float, 1> y(args[4].allocated);
    EXPECT_EQ(y.device(), device_);
    auto again = polynomial_args(y);
    Encoder encoder = device_.encoder();
    const auto z = on.zeros<float>({4});
    const auto target = out(z);
    again[4] = Arg::out(target);
    invoke(f, 0, PassKind::forward, again, &encoder);
    encoder.submit();
    EXPECT_EQ(z.to_vector()[0], 2 * 81 + 8 * 9 - 1);
    EXPECT_THAT(y.to_vector(), ElementsAre(9, 23, 41, 63));
    EXPECT_EQ(on.with_stream(stream_), device_) << "a handle's stream is replaced, not stacked";
}

TEST_F(CallTest, RecordedCallsOnTheCallersStream) {
    const auto f = load_polynomial();
    const auto x = device_.tensor<float>({1, 2, 3, 4});
    const auto y = device_.zeros<float>({4});
    const auto z = device_.zeros<float>({4});
    const auto to_y = out(y);
    const auto to_z = out(z);
    Encoder encoder = device_.with_stream(stream_).encoder();
    // A hook's commands go with the call, to the same stream.
    const auto hooked = detail::with_hook(f, [&](detail::HookedCall& call) {
        auto args = polynomial_args(x);
        args[4] = Arg::out(to_y);
        invoke(f, 0, PassKind::forward, args, &call.encoder());
    });
    auto args = polynomial_args(y);
    args[4] = Arg::out(to_z);
    invoke(hooked, 0, PassKind::forward, args, &encoder);
    module_.load_all();
    device_.wait();
    EXPECT_EQ(fake_.calls["cuLaunchKernel"], 0);
    fake_.begin_capture(stream_);
    encoder.submit();
    const auto graph = fake_.end_capture(stream_);
    EXPECT_THAT(z.to_vector(), ElementsAre(0, 0, 0, 0)) << "it is the stream that has them";
    fake_.launch(graph, stream_);
    fake_.synchronize(stream_);
    EXPECT_THAT(y.to_vector(), ElementsAre(9, 23, 41, 63));
    EXPECT_THAT(z.to_vector(), ElementsAre(2 * 81 + 8 * 9 - 1, 2 * 529 + 8 * 23 - 1, 2 * 1681 + 8 * 41 - 1,
                                           2 * 3969 + 8 * 63 - 1));
    fake_.destroy(graph);
}

TEST_F(CallTest, PreparedCallsAndGraphsOnTheCallersStream) {
    const Device on = device_.with_stream(stream_);
    for (const bool own : {false, true}) {
        const auto f = load_polynomial(own ? std::optional(on) : std::nullopt);
        const auto x = device_.tensor<float>({1, 2, 3, 4});
        auto args = polynomial_args(x);
        Encoder encoder = detail::preparing_encoder(f);
        invoke(f, 0, PassKind::forward, args, &encoder);
        const Tensor<float, 1> y(args[4].allocated);
        const PreparedCall prepared = detail::prepared_call(encoder);
        Graph graph(device_);
        prepared.append_to(graph.encoder());
        auto again = polynomial_args(y);
        invoke(f, 0, PassKind::forward, again, &graph.encoder());
        const Tensor<float, 1> z(again[4].allocated);
        const std::size_t launches = fake_.calls["cuLaunchKernel"];
        prepared();
        prepared(on);
        EXPECT_EQ(fake_.calls["cuLaunchKernel"], launches + 2);
        graph.replay(on);
        prepared.set("c", 0);
        graph.set("b", 0);
        prepared(on);
        EXPECT_THAT(y.to_vector(), ElementsAre(10, 24, 42, 64));
        EXPECT_EQ(z.to_vector()[0], 2 * 81 + 8 * 9 - 1);
        graph.replay();
        EXPECT_THAT(y.to_vector(), ElementsAre(1, 7, 17, 31));
        EXPECT_THAT(z.to_vector(), ElementsAre(1, 97, 577, 1921));
        EXPECT_EQ(fake_.calls["cuLaunchKernel"], launches + 3);
        // A foreign graph would keep addresses of memory that it doesn't own.
        fake_.begin_capture(stream_);
        for (const auto& refused :
             std::vector<std::function<void()>>{[&] { prepared(on); }, [&] { graph.replay(on); }}) {
            EXPECT_THAT(error_of(refused), HasSubstr("what was prepared can't be part of that graph"));
        }
        fake_.destroy(fake_.end_capture(stream_));
    }
}

TEST_F(CallTest, CommandBuffersAreVulkans) {
    VkCommandBuffer_T* const commands = reinterpret_cast<VkCommandBuffer_T*>(std::uintptr_t{16});
    EXPECT_THAT(
        error_of([&] { CommandBufferEncoder(device_, commands); }),
        HasSubstr("device-mismatch: a Vulkan command buffer takes calls of a Vulkan device, not of cuda"));
}

TEST_F(CallTest, DevicesWithoutStreamsSaySo) {
    const Device other = detail::make_device(std::make_shared<FakeDevice>());
    EXPECT_EQ(error_of([&] { (void)other.with_stream(stream_); }),
              "device-mismatch: with_stream: fake:0 (Fake) takes no stream; CUDA devices do");
    const auto f = load_polynomial();
    const auto x = device_.tensor<float>({1, 2, 3, 4});
    auto args = polynomial_args(x);
    EXPECT_THAT(error_of([&] { invoke(f, 0, PassKind::forward, args, nullptr, nullptr, &other); }),
                HasSubstr("device-mismatch: polynomial: the stream is of another device than the module"));
}

TEST_F(CallTest, CapturedCallsNeedTheirKernelsAndOutputsBeforehand) {
    const auto f = load_polynomial();
    const auto x = device_.tensor<float>({1, 2, 3, 4});
    const auto y = device_.zeros<float>({4});
    const auto target = out(y);
    const Device on = device_.with_stream(stream_);
    device_.wait();
    const auto call = [&](bool give) {
        auto args = polynomial_args(x);
        if (give) {
            args[4] = Arg::out(target);
        }
        invoke(f, 0, PassKind::forward, args, nullptr, nullptr, &on);
    };
    fake_.begin_capture(stream_);
    EXPECT_THAT(
        error_of([&] { call(true); }),
        HasSubstr("kernel 'polynomial.forward.contiguous' isn't loaded yet: call the module's load()"));
    fake_.destroy(fake_.end_capture(stream_));
    module_.load_all();
    fake_.begin_capture(stream_);
    EXPECT_THAT(error_of([&] { call(false); }),
                HasSubstr("stream-captured: cuda: the stream is being captured into a graph, and no memory"));
    call(true);
    const auto graph = fake_.end_capture(stream_);
    EXPECT_THAT(y.to_vector(), ElementsAre(0, 0, 0, 0));
    x.copy_from({4, 3, 2, 1});
    device_.wait();
    fake_.launch(graph, stream_);
    fake_.synchronize(stream_);
    EXPECT_THAT(y.to_vector(), ElementsAre(63, 41, 23, 9));
    fake_.destroy(graph);
}

TEST_F(CallTest, CapturedCallsReadNothingBack) {
    ManifestBuilder builder;
    builder.add("f", {value("a"), as(Role::result, value("result"))}, false);
    const auto f = load(builder.get(), [](const Launch&) {});
    module_.load_all();
    const Device on = device_.with_stream(stream_);
    fake_.begin_capture(stream_);
    const float a = 1;
    float result = 0;
    std::array args{Arg::in(a), Arg::out(result)};
    EXPECT_THAT(error_of([&] { invoke(f, 0, PassKind::forward, args, nullptr, nullptr, &on); }),
                HasSubstr("nothing can be read back: give calls tensors for results and gradients"));
    EXPECT_EQ(fake_.calls["cuLaunchKernel"], 0) << "asked before it ran";
    fake_.destroy(fake_.end_capture(stream_));
}

TEST_F(CallTest, HalfGradientsAreSummedInAGraphOnceACallWasMade) {
    ManifestBuilder builder;
    builder.add("f", {with_gradient(tensor("x", 1, ScalarType::float16)), tensor("y", 1),
                      as(Role::result, tensor("result", 1))});
    const auto f = load(builder.get(), [](const Launch& launch) {
        // Four calls share the one element; the sum is zero each time, and is left so.
        auto* sum = launch.memory<float>(RecordKind::sums, 0);
        *sum += 4;
        auto* gradient = launch.memory<half>(RecordKind::grad_out, 0);
        *gradient = half(static_cast<float>(*gradient) + *sum);
        *sum = 0;
    });
    module_.load_all();
    const auto x = device_.zeros<half>({1}).with_grads();
    const auto y = device_.zeros<float>({4});
    const Device on = device_.with_stream(stream_);
    const auto call = [&] {
        std::array args{Arg::in(x), Arg::in(y), Arg::none()};
        invoke(f, 0, PassKind::backward, args, nullptr, nullptr, &on);
    };
    fake_.begin_capture(stream_);
    EXPECT_THAT(error_of(call), HasSubstr("make it once in the same way before the capture begins"));
    fake_.destroy(fake_.end_capture(stream_));
    call();
    device_.wait();
    fake_.synchronize(stream_);
    fake_.begin_capture(stream_);
    call();
    call();
    const auto graph = fake_.end_capture(stream_);
    call();
    fake_.synchronize(stream_);
    fake_.launch(graph, stream_);
    fake_.synchronize(stream_);
    EXPECT_EQ(static_cast<float>(x.grad().to_vector()[0]), 16);
    fake_.destroy(graph);
}

TEST(Devices, CudaIsAskedForFirstAndSaysWhyNot) {
    std::string why_not;
    if (!cuda::enumerate_cuda(&why_not).empty()) {
        EXPECT_EQ(devices().front().id, "cuda:0");
        EXPECT_EQ(Device::open("cuda:0").info().backend, "cuda");
        return;
    }
    EXPECT_EQ(error_of([] { (void)Device::open("cuda:0"); }), "no-driver: no device 'cuda:0': " + why_not);
    EXPECT_EQ(why_not.find('\n'), std::string::npos);
    EXPECT_EQ(why_not.find("cuda: "), 0);
}

}  // namespace
}  // namespace kf::test
