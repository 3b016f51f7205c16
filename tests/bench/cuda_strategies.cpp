// GPU times of gradients that calls share, by turns with kernels written by hand.
#include <cuda_fp16.h>

#include <memory>

#include "cuda_bench.h"
#include "cuda_graph.h"
#include "measure.h"
#include "reference_strategies.h"
#include "strategies.h"

namespace {

using namespace bench_support;

constexpr int rounds = 30;

template <class P, class Tensor>
P* at(const Tensor& tensor) {
    return reinterpret_cast<P*>(tensor.address());  // NOLINT(performance-no-int-to-ptr)
}

class Stream {
public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    [[nodiscard]] cudaStream_t get() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

struct Candidate {
    std::string name;
    double bytes;
    std::unique_ptr<Graph> graph;
    std::vector<double> times;
};

/// Times calls over several sets, by turns.
class Race {
public:
    Race(cudaStream_t stream, std::size_t calls) : stream_(stream), calls_(calls) {}

    /// `call(i)`: the i-th of a round.
    void add(const std::string& name, double bytes, const std::function<void(std::size_t)>& call) {
        for (std::size_t i = 0; i < calls_; ++i) call(i);
        check(cudaStreamSynchronize(stream_));
        check(cudaGetLastError());
        auto graph = std::make_unique<Graph>(stream_, [&] {
            for (std::size_t i = 0; i < calls_; ++i) call(i);
        });
        candidates_.push_back({name, bytes, std::move(graph), {}});
    }

    nlohmann::json run() {
        warm_up([&] {
            for (const Candidate& candidate : candidates_) candidate.graph->run();
        });
        for (int round = 0; round < rounds; ++round) {
            for (Candidate& candidate : candidates_) {
                candidate.times.push_back(candidate.graph->run() / static_cast<double>(calls_));
            }
        }
        nlohmann::json result;
        for (const Candidate& candidate : candidates_) {
            const double time = median(candidate.times);
            result[candidate.name] = {{"us", time}, {"GB_per_s", candidate.bytes / time / 1000}};
        }
        return result;
    }

private:
    cudaStream_t stream_;
    std::size_t calls_;
    std::vector<Candidate> candidates_;
};

}  // namespace

nlohmann::json time_strategies(const kf::Device& device, std::int64_t count) {
    const Stream stream;
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(2, (std::int64_t{1} << 24) / count));
    const Strategies strategies(device, count, wanted);
    const bench::Module module(device.with_stream(stream.get()));
    module.loaded().load_all();
    const auto side = strategies.side();
    const StrategyInputs& in = strategies.inputs();
    const std::vector<StrategySet>& sets = strategies.sets();
    const auto sums = device.zeros<float>({4});
    Race race(stream.get(), std::max<std::size_t>(wanted, 4));
    for (const Strategies::Case& one : strategies.cases(module)) {
        race.add(one.name, one.bytes, [&](std::size_t i) { one.call(sets[i % sets.size()]); });
        race.add(one.name + ".hand", one.bytes, [&](std::size_t i) {
            const StrategySet& set = sets[i % sets.size()];
            const auto* x = at<const float>(set.x);
            const auto* flow = at<const float>(set.flow);
            auto* grad_x = at<float>(set.x.grad());
            if (one.name == "rows") {
                reference::backward_by_rows(x, at<const float>(in.per_row), flow, grad_x,
                                            at<float>(in.per_row.grad()), side, side, stream.get());
            } else if (one.name == "columns") {
                reference::backward_by_columns(x, at<const float>(in.per_column), flow, grad_x,
                                               at<float>(in.per_column.grad()), side, side, stream.get());
            } else if (one.name == "injective") {
                reference::backward_injective(x, at<const float>(in.per_call), flow, grad_x,
                                              at<float>(in.per_call.grad()), side * side, stream.get());
            } else if (one.name == "half") {
                reference::backward_of_halves(at<const __half>(in.a), at<const __half>(in.b),
                                              at<const __half>(set.half_x), at<const __half>(set.half_flow),
                                              at<reference::HalfSums>(sums), at<__half>(in.a.grad()),
                                              at<__half>(in.b.grad()), at<__half>(in.c.grad()),
                                              at<__half>(set.half_x.grad()), side * side, stream.get());
            } else if (one.name == "sums") {
                reference::sum_squares(x, at<float>(set.total), side * side, stream.get());
            } else {
                reference::backward_of_rays(
                    at<const reference::Ray>(set.rays), 0.5F, at<const float>(set.ray_flow),
                    at<reference::Ray>(set.rays.grad()), strategies.rays(), stream.get());
            }
        });
    }
    nlohmann::json result{{"count", side * side}, {"times", race.run()}};
    for (const Strategies::Case& one : strategies.cases(module)) {
        const nlohmann::json& times = result["times"];
        result["of_hand_written"][one.name] =
            times[one.name + ".hand"]["us"].get<double>() / times[one.name]["us"].get<double>();
    }
    result["error"] = strategies.errors(bench::Module(device));
    return result;
}

nlohmann::json time_gather(const kf::Device& device, std::int64_t count) {
    const Stream stream;
    const bench::Module module(device.with_stream(stream.get()));
    const auto x = device.tensor(uniform(count, 1));
    const auto flow = device.tensor(uniform(count, 2));
    const auto y = device.empty<float>({count}).with_grads(flow, {});
    const auto weights = device.tensor<float>({1}).with_grads();
    const auto hand = device.zeros<float>({1});
    const auto exact = module.weighted.options({.deterministic = true});
    device.wait();
    Race race(stream.get(), 8);
    const double bytes = 8 * static_cast<double>(count);
    race.add("gather", bytes, [&](std::size_t) { module.weighted.backward(weights, x, y); });
    race.add("gather.deterministic", bytes, [&](std::size_t) { exact.backward(weights, x, y); });
    race.add("gather.one_atomic_each", bytes, [&](std::size_t) {
        reference::gather_atomically(at<const float>(x), at<const float>(flow), at<float>(hand), count,
                                     stream.get());
    });
    nlohmann::json times = race.run();
    const double ratio =
        times["gather.one_atomic_each"]["us"].get<double>() / times["gather"]["us"].get<double>();
    return {{"count", count}, {"times", std::move(times)}, {"times_faster", ratio}};
}

nlohmann::json time_lookup(const kf::Device& device, std::int64_t count) {
    const Stream stream;
    const bench::Module module(device.with_stream(stream.get()));
    const auto x = device.tensor(uniform(count, 1));
    const auto index = device.tensor(indices(count, table_size, 3));
    const auto y = device.empty<float>({count}).with_grads(device.tensor(uniform(count, 2)), {});
    const auto table = device.zeros<float>({table_size}).with_grads();
    const auto hand = device.zeros<float>({table_size});
    device.wait();
    Race race(stream.get(), 8);
    const double bytes = 12 * static_cast<double>(count);
    race.add("lookup", bytes, [&](std::size_t) { module.looked_up.backward(table, index, x, y); });
    race.add("lookup.one_atomic_each", bytes, [&](std::size_t) {
        reference::look_up_atomically(at<const float>(x), at<const std::int32_t>(index),
                                      at<const float>(y.grad_in()), at<float>(hand), count, stream.get());
    });
    nlohmann::json times = race.run();
    const double ratio =
        times["lookup.one_atomic_each"]["us"].get<double>() / times["lookup"]["us"].get<double>();
    return {{"count", count}, {"times", std::move(times)}, {"times_faster", ratio}};
}
