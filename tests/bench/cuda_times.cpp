// GPU times, by CUDA events around graphs of several calls over as many buffers.
#include <functional>
#include <iostream>
#include <utility>

#include "bench.h"
#include "cuda_bench.h"
#include "cuda_graph.h"
#include "measure.h"
#include "reference.h"

namespace {

using namespace bench_support;

float* pointer(const kf::Tensor<float, 1>& tensor) {
    return reinterpret_cast<float*>(tensor.address());  // NOLINT(performance-no-int-to-ptr)
}

/// One set of what a call reads and writes; calls go round several, so that caches don't hold them.
struct Buffers {
    kf::Tensor<float, 1> x;
    kf::Tensor<float, 1> x_with_grad;
    kf::Tensor<float, 1> y;
    kf::Tensor<float, 1> flow;
    kf::Tensor<float, 1> y_with_flow;
};

class Comparison {
public:
    Comparison(const kf::Device& device, std::int64_t count)
        : device_(device),
          count_(count),
          xs_(uniform(count, 1)),
          flows_(uniform(count, 2)),
          sets_(static_cast<std::size_t>(std::max<std::int64_t>(2, (std::int64_t{1} << 25) / count))) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        for (std::size_t i = 0; i < sets_; ++i) {
            Buffers set;
            set.x = device.tensor(xs_);
            set.x_with_grad = set.x.with_grads();
            set.y = device.empty<float>({count});
            set.flow = device.tensor(flows_);
            set.y_with_flow = set.y.with_grads(set.flow, {});
            buffers_.push_back(set);
        }
        calls_ = std::max<std::size_t>(sets_, 8);
        device.wait();
    }
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;
    ~Comparison() { cudaStreamDestroy(stream_); }

    nlohmann::json run() {
        const kf::Device on_stream = device_.with_stream(stream_);
        const bench::Module module(on_stream);
        module.loaded().load_all();
        const auto a = device_.tensor<float>({2}).with_grads();
        const auto b = device_.tensor<float>({8}).with_grads();
        const auto c = device_.tensor<float>({-1}).with_grads();
        const auto ra = device_.zeros<float>({1});
        const auto rb = device_.zeros<float>({1});
        const auto rc = device_.zeros<float>({1});
        float* const grads[] = {pointer(ra), pointer(rb), pointer(rc)};

        add("copy", 8, [&](const Buffers& set) {
            check(cudaMemcpyAsync(pointer(set.y), pointer(set.x), static_cast<std::size_t>(count_) * 4,
                                  cudaMemcpyDeviceToDevice, stream_));
        });
        add("forward.hand", 8, [&](const Buffers& set) {
            reference::forward(2, 8, -1, pointer(set.x), pointer(set.y), count_, stream_);
        });
        add("forward.values", 8,
            [&](const Buffers& set) { module.polynomial(2, 8, -1, set.x, kf::out(set.y)); });
        add("forward.tensors", 8,
            [&](const Buffers& set) { module.polynomial(a, b, c, set.x, kf::out(set.y)); });
        add("backward.hand", 16, [&](const Buffers& set) {
            reference::backward(pointer(a), pointer(b), pointer(set.x), pointer(set.flow), grads[0], grads[1],
                                grads[2], pointer(set.x_with_grad.grad()), count_, stream_);
        });
        add("backward.tensors", 16, [&](const Buffers& set) {
            module.polynomial.backward(a, b, c, set.x_with_grad, set.y_with_flow);
        });
        add("backward_of_abc.hand", 8, [&](const Buffers& set) {
            reference::backward(pointer(a), pointer(b), pointer(set.x), pointer(set.flow), grads[0], grads[1],
                                grads[2], nullptr, count_, stream_);
        });
        add("backward_of_abc.tensors", 8,
            [&](const Buffers& set) { module.polynomial.backward(a, b, c, set.x, set.y_with_flow); });

        nlohmann::json result;
        result["count"] = count_;
        result["calls_each"] = calls_;
        result["error"] = errors(module, a, b, c);
        measure(result);
        result["backward.values_us"] = time_values(bench::Module(device_));
        return result;
    }

private:
    struct Candidate {
        std::string name;
        double bytes;  ///< for an element
        std::unique_ptr<Graph> graph;
        std::vector<double> times;
    };

    template <class Call>
    void add(const std::string& name, double bytes, Call&& call) {
        for (const Buffers& set : buffers_) {
            call(set);  // all that is slow the first time, and memory that graphs may not take
        }
        check(cudaStreamSynchronize(stream_));
        check(cudaGetLastError());
        auto graph = std::make_unique<Graph>(stream_, [&] {
            for (std::size_t i = 0; i < calls_; ++i) {
                call(buffers_[i % sets_]);
            }
        });
        candidates_.push_back({name, bytes, std::move(graph), {}});
    }

    void measure(nlohmann::json& result) {
        constexpr int rounds = 40;
        warm_up([&] {
            for (const Candidate& candidate : candidates_) candidate.graph->run();
        });
        for (int round = 0; round < rounds; ++round) {
            for (Candidate& candidate : candidates_) {
                candidate.times.push_back(candidate.graph->run() / static_cast<double>(calls_));
            }
        }
        for (const Candidate& candidate : candidates_) {
            const double time = median(candidate.times);
            result["times"][candidate.name] = {
                {"us", time},
                {"us_least", *std::min_element(candidate.times.begin(), candidate.times.end())},
                {"GB_per_s", candidate.bytes * static_cast<double>(count_) / time / 1000}};
        }
        nlohmann::json& times = result["times"];
        const auto ratio = [&](const char* ours, const char* hand) {
            return times[hand]["us"].get<double>() / times[ours]["us"].get<double>();
        };
        result["of_hand_written"] = {
            {"forward.values", ratio("forward.values", "forward.hand")},
            {"forward.tensors", ratio("forward.tensors", "forward.hand")},
            {"backward.tensors", ratio("backward.tensors", "backward.hand")},
            {"backward_of_abc.tensors", ratio("backward_of_abc.tensors", "backward_of_abc.hand")}};
    }

    /// Against float64, from cleared gradients.
    nlohmann::json errors(const bench::Module& module, const kf::Tensor<float, 1>& a,
                          const kf::Tensor<float, 1>& b, const kf::Tensor<float, 1>& c) {
        const Buffers& set = buffers_[0];
        const Expected expected(xs_, flows_);
        nlohmann::json result;
        set.y.copy_from(std::vector<float>(static_cast<std::size_t>(count_), NAN));
        module.polynomial(2, 8, -1, set.x, kf::out(set.y));
        result["forward"] = forward_error(xs_, set.y.to_vector());
        for (const auto& tensor : {a, b, c}) {
            tensor.grad().copy_from({0});
        }
        const auto x = set.x.with_grads();
        module.polynomial.backward(a, b, c, x, set.y_with_flow);
        result["a.grad"] = relative(a.grad().to_vector()[0], expected.a);
        result["b.grad"] = relative(b.grad().to_vector()[0], expected.b);
        result["c.grad"] = relative(c.grad().to_vector()[0], expected.c);
        result["x.grad"] = gradient_error(xs_, flows_, x.grad().to_vector());
        kf::Diff<float> va{2, 0};
        kf::Diff<float> vb{8, 0};
        kf::Diff<float> vc{-1, 0};
        module.polynomial.backward(va, vb, vc, set.x, set.y_with_flow);
        result["a.grad of a value"] = relative(va.grad, expected.a);
        result["b.grad of a value"] = relative(vb.grad, expected.b);
        result["c.grad of a value"] = relative(vc.grad, expected.c);
        return result;
    }

    /// With host values for a, b and c, whose gradients come back with the call: by the host's clock.
    double time_values(const bench::Module& module) {
        std::vector<double> times;
        for (int i = 0; i < 40; ++i) {
            const Buffers& set = buffers_[static_cast<std::size_t>(i) % sets_];
            kf::Diff<float> a{2, 0};
            kf::Diff<float> b{8, 0};
            kf::Diff<float> c{-1, 0};
            times.push_back(1e6 * seconds([&] {
                                module.polynomial.backward(a, b, c, set.x_with_grad, set.y_with_flow);
                            }));
        }
        return median(times);
    }

    const kf::Device& device_;
    std::int64_t count_;
    std::vector<float> xs_;
    std::vector<float> flows_;
    std::size_t sets_;
    std::size_t calls_ = 0;
    cudaStream_t stream_ = nullptr;
    std::vector<Buffers> buffers_;
    std::vector<Candidate> candidates_;
};

}  // namespace

nlohmann::json time_kernels(const kf::Device& device, std::int64_t count) {
    return Comparison(device, count).run();
}
