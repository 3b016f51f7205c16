// kf_bench_vulkan DEVICE: times on one Vulkan device by the host's clock, over batches of calls, as JSON.
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "measure.h"
#include "strategies.h"

namespace {

using namespace bench_support;

/// Microseconds for one of `calls` calls that are waited for together.
double batch(const kf::Device& device, int calls, int rounds, const std::function<void()>& call) {
    const auto round = [&] {
        for (int i = 0; i < calls; ++i) call();
        device.wait();
    };
    warm_up(round);
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) times.push_back(1e6 * seconds(round) / calls);
    return median(times);
}

nlohmann::json time_size(const kf::Device& device, const bench::Module& module, std::int64_t count) {
    const std::vector<float> xs = uniform(count, 1);
    const std::vector<float> flows = uniform(count, 2);
    const auto x = device.tensor(xs).with_grads();
    const auto y = device.empty<float>({count}).with_grads(device.tensor(flows), {});
    const auto a = device.tensor<float>({2}).with_grads();
    const auto b = device.tensor<float>({8}).with_grads();
    const auto c = device.tensor<float>({-1}).with_grads();
    module.polynomial(2, 8, -1, x, kf::out(y));
    module.polynomial.backward(a, b, c, x, y);
    const Expected expected(xs, flows);
    nlohmann::json result;
    result["count"] = count;
    result["error"] = {{"forward", forward_error(xs, y.to_vector())},
                       {"a.grad", relative(a.grad().to_vector()[0], expected.a)},
                       {"b.grad", relative(b.grad().to_vector()[0], expected.b)},
                       {"c.grad", relative(c.grad().to_vector()[0], expected.c)},
                       {"x.grad", gradient_error(xs, flows, x.grad().to_vector())}};
    const int calls = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 29) / count, 8, 64));
    const auto note = [&](const char* name, double bytes, const std::function<void()>& call) {
        const double time = batch(device, calls, 15, call);
        result["times"][name] = {{"us", time},
                                 {"GB_per_s", bytes * static_cast<double>(count) / time / 1000}};
    };
    note("forward.values", 8, [&] { module.polynomial(2, 8, -1, x, kf::out(y)); });
    note("backward.tensors", 16, [&] { module.polynomial.backward(a, b, c, x, y); });
    return result;
}

nlohmann::json time_strategies(const kf::Device& device, const bench::Module& module, std::int64_t count) {
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(2, (std::int64_t{1} << 24) / count));
    const Strategies strategies(device, count, wanted);
    const int calls = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 28) / count, 4, 64));
    nlohmann::json result{{"count", strategies.side() * strategies.side()}};
    for (const Strategies::Case& one : strategies.cases(module)) {
        std::size_t turn = 0;
        const double time =
            batch(device, calls, 9, [&] { one.call(strategies.sets()[turn++ % strategies.sets().size()]); });
        result["times"][one.name] = {{"us", time}, {"GB_per_s", one.bytes / time / 1000}};
    }
    result["error"] = strategies.errors(module);
    return result;
}

nlohmann::json time_gather(const kf::Device& device, const bench::Module& module, std::int64_t count) {
    const auto x = device.tensor(uniform(count, 1));
    const auto y = device.empty<float>({count}).with_grads(device.tensor(uniform(count, 2)), {});
    const auto weights = device.tensor<float>({1}).with_grads();
    const auto exact = module.weighted.options({.deterministic = true});
    return {{"count", count},
            {"gather_us", batch(device, 32, 9, [&] { module.weighted.backward(weights, x, y); })},
            {"gather.deterministic_us", batch(device, 8, 5, [&] { exact.backward(weights, x, y); })}};
}

nlohmann::json time_calls(const kf::Device& device, const bench::Module& module) {
    const auto x = device.tensor(uniform(1024, 1));
    const auto y = device.empty<float>({1024});
    std::vector<double> times;
    for (int round = -2; round < 31; ++round) {
        const double time = seconds([&] {
            for (int i = 0; i < 400; ++i) module.polynomial(2, 8, -1, x, kf::out(y));
            device.flush();
        });
        device.wait();
        if (round >= 0) times.push_back(1e6 * time / 400);
    }
    return {{"unit", "us of CPU time a call"}, {"forward", median(times)}};
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const kf::Device device = kf::Device::open(argc > 1 ? argv[1] : "vulkan");
        const bench::Module module(device);
        nlohmann::json result;
        result["device"] = device.info().name;
        result["driver"] = device.info().driver;
        result["calls"] = time_calls(device, module);
        const std::int64_t largest = device.info().is_cpu ? 20 : 26;
        for (const std::int64_t power : {std::int64_t{20}, largest}) {
            if (power != 20 || result["sizes"].is_null()) {
                result["sizes"].push_back(time_size(device, module, std::int64_t{1} << power));
            }
        }
        for (const std::int64_t power : {std::int64_t{20}, largest}) {
            if (power != 20 || result["strategies"].is_null()) {
                result["strategies"].push_back(time_strategies(device, module, std::int64_t{1} << power));
            }
        }
        for (const int power : {16, 20, 22}) {
            result["gathers"].push_back(time_gather(device, module, std::int64_t{1} << power));
        }
        result["sums_of_ones"] = sum_ones(device, std::int64_t{1} << largest);
        std::cout << result.dump(2) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "kf_bench_vulkan: " << error.what() << '\n';
        return 1;
    }
}
