// kf_bench_vulkan DEVICE: times on one Vulkan device by the host's clock, over batches of calls, as JSON; by
// turns with kernels written by hand, where they could be compiled.
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include <kf/graph.h>

#include "batches.h"
#include "bench.h"
#include "call_kinds.h"
#include "core/device_state.h"
#include "strategies.h"
#include "vulkan/driver.h"
#include "vulkan_reference.h"

namespace {

using namespace bench_support;

std::vector<double> batches(const kf::Device& device, int calls, int rounds, const std::vector<Call>& each) {
    return bench_support::batches([&] { device.wait(); }, calls, rounds, each);
}

double batch(const kf::Device& device, int calls, int rounds, const Call& call) {
    return batches(device, calls, rounds, {call}).front();
}

/// Ours beside the one written by hand, if there is one; `bytes` are moved by a call.
void compare_on_vulkan(nlohmann::json& result, const kf::Device& device, const std::string& name,
                       double bytes, int calls, int rounds, const Call& ours, const Call& by_hand) {
    std::vector<Call> each{ours};
    if (by_hand) each.push_back(by_hand);
    const std::vector<double> times = batches(device, calls, rounds, each);
    const auto note = [&](const std::string& key, double time) {
        result["times"][key] = {{"us", time}, {"GB_per_s", bytes / time / 1000}};
    };
    note(name, times[0]);
    if (by_hand) {
        note(name + ".hand", times[1]);
        result["of_hand_written"][name] = times[1] / times[0];
    }
}

nlohmann::json time_size(const kf::Device& device, const bench::Module& module, HandWritten* by_hand,
                         std::int64_t count) {
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
    const int calls = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 29) / count, 8, 512));
    const auto numbers = static_cast<double>(count);
    compare_on_vulkan(result, device, "forward.values", 8 * numbers, calls, 15,
                      [&] { module.polynomial(2, 8, -1, x, kf::out(y)); }, {});
    const Call hand = [&] { by_hand->polynomial(a, b, c, x, y); };
    compare_on_vulkan(
        result, device, "backward.tensors", 16 * numbers, calls, 15,
        [&] { module.polynomial.backward(a, b, c, x, y); }, by_hand == nullptr ? Call() : hand);
    return result;
}

/// How far both are apart, relative to the larger; HUGE_VAL where only one of them is a number.
double apart(const std::vector<double>& ours, const std::vector<double>& by_hand) {
    double largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        if (ours[i] == by_hand[i]) continue;
        const double difference =
            std::abs(ours[i] - by_hand[i]) / std::max(std::abs(ours[i]), std::abs(by_hand[i]));
        largest = std::isfinite(difference) ? std::max(largest, difference) : HUGE_VAL;
    }
    return largest;
}

nlohmann::json time_strategies(const kf::Device& device, const bench::Module& module, HandWritten* by_hand,
                               std::int64_t count) {
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(2, (std::int64_t{1} << 24) / count));
    const Strategies strategies(device, count, wanted);
    const int calls = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 28) / count, 4, 512));
    nlohmann::json result{{"count", strategies.side() * strategies.side()}};
    std::size_t turn = 0;
    const auto next = [&]() -> const StrategySet& {
        return strategies.sets()[turn++ % strategies.sets().size()];
    };
    for (const Strategies::Case& one : strategies.cases(module)) {
        const Call hand = [&] { by_hand->run(one.name, strategies.inputs(), next()); };
        if (by_hand != nullptr) {
            static_cast<void>(strategies.take_gradients(one.name));
            one.call(strategies.sets().front());
            const std::vector<double> ours = strategies.take_gradients(one.name);
            by_hand->run(one.name, strategies.inputs(), strategies.sets().front());
            result["from_hand_written"][one.name] = apart(ours, strategies.take_gradients(one.name));
        }
        compare_on_vulkan(
            result, device, one.name, one.bytes, calls, 9, [&] { one.call(next()); },
            by_hand == nullptr ? Call() : hand);
    }
    result["error"] = strategies.errors(module);
    return result;
}

nlohmann::json time_gather(const kf::Device& device, const bench::Module& module, HandWritten* by_hand,
                           std::int64_t count) {
    const auto x = device.tensor(uniform(count, 1));
    const auto y = device.empty<float>({count}).with_grads(device.tensor(uniform(count, 2)), {});
    const auto weights = device.tensor<float>({1}).with_grads();
    const auto exact = module.weighted.options({.deterministic = true});
    const int calls = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 25) / count, 8, 512));
    std::vector<Call> each{[&] { module.weighted.backward(weights, x, y); }};
    if (by_hand != nullptr) each.emplace_back([&] { by_hand->gather(x, y, weights); });
    const std::vector<double> times = batches(device, calls, 9, each);
    nlohmann::json result{
        {"count", count},
        {"gather_us", times[0]},
        {"gather.deterministic_us", batch(device, 8, 5, [&] { exact.backward(weights, x, y); })}};
    if (by_hand != nullptr) {
        result["gather.one_atomic_each_us"] = times[1];
        result["times_faster"] = times[1] / times[0];
    }
    return result;
}

nlohmann::json time_lookup(const kf::Device& device, const bench::Module& module, HandWritten* by_hand,
                           std::int64_t count) {
    const auto x = device.tensor(uniform(count, 1));
    const auto index = device.tensor(indices(count, table_size, 3));
    const auto y = device.empty<float>({count}).with_grads(device.tensor(uniform(count, 2)), {});
    const auto table = device.zeros<float>({table_size}).with_grads();
    const int calls = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 25) / count, 8, 512));
    std::vector<Call> each{[&] { module.looked_up.backward(table, index, x, y); }};
    if (by_hand != nullptr) each.emplace_back([&] { by_hand->look_up(x, index, y, table); });
    const std::vector<double> times = batches(device, calls, 9, each);
    nlohmann::json result{{"count", count}, {"lookup_us", times[0]}};
    if (by_hand != nullptr) {
        result["lookup.one_atomic_each_us"] = times[1];
        result["times_faster"] = times[1] / times[0];
    }
    return result;
}

nlohmann::json time_calls(const kf::Device& device, const bench::Module& module) {
    const auto x = device.tensor(uniform(1024, 1));
    const auto y = device.empty<float>({1024});
    constexpr int graph_calls = 20;
    const auto time = [&](int calls, const std::function<void()>& call) {
        std::vector<double> times;
        for (int round = -2; round < 31; ++round) {
            const double one = seconds([&] {
                for (int i = 0; i < calls; ++i) call();
                device.flush();
            });
            device.wait();
            if (round >= 0) times.push_back(1e6 * one / calls);
        }
        return median(times);
    };
    const auto prepared = module.polynomial.prepare(2, 8, -1, x, kf::out(y));
    kf::Graph graph(device);
    for (int i = 0; i < graph_calls; ++i) prepared.append_to(graph.encoder());
    const kf::PreparedCall last = graph.node();
    float next = 0;
    const double forward = time(400, [&] { module.polynomial(2, 8, -1, x, kf::out(y)); });
    const double replayed = time(400, [&] { prepared(); });
    const double replays = time(400 / graph_calls, [&] { graph.replay(); });
    const double changed = time(400 / graph_calls, [&] {
        last.set("c", next += 1);
        graph.replay();
    });
    return {{"unit", "us of CPU time a call"},
            {"forward", forward},
            {"prepared", replayed},
            {"graph", replays},
            {"graph.set", changed},
            {"graph_of_prepared", replays / (graph_calls * replayed)}};
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string id = argc > 1 ? argv[1] : "vulkan";
        // Opened here, so that kernels written by hand run on the same driver.
        const auto driver = kf::vulkan::open_vulkan(
            id.find(':') == std::string::npos ? 0 : std::stoi(id.substr(id.find(':') + 1)));
        const kf::Device device = kf::detail::make_device(driver);
        std::optional<HandWritten> compiled;
        if (!std::string_view(KF_BENCH_BY_HAND).empty()) compiled.emplace(driver, KF_BENCH_BY_HAND);
        HandWritten* const by_hand = compiled ? &*compiled : nullptr;
        const bench::Module module(device);
        nlohmann::json result;
        result["device"] = device.info().name;
        result["driver"] = device.info().driver;
        result["calls"] = time_calls(device, module);
        result["call_kinds"] = time_call_kinds(device);
        const std::int64_t largest = device.info().is_cpu ? 20 : 26;
        for (const std::int64_t power : {std::int64_t{20}, largest}) {
            if (power != 20 || result["sizes"].is_null()) {
                result["sizes"].push_back(time_size(device, module, by_hand, std::int64_t{1} << power));
            }
        }
        for (const std::int64_t power : {std::int64_t{20}, largest}) {
            if (power != 20 || result["strategies"].is_null()) {
                result["strategies"].push_back(
                    time_strategies(device, module, by_hand, std::int64_t{1} << power));
            }
        }
        for (const int power : {16, 20, 22}) {
            result["gathers"].push_back(time_gather(device, module, by_hand, std::int64_t{1} << power));
            result["lookups"].push_back(time_lookup(device, module, by_hand, std::int64_t{1} << power));
        }
        result["sums_of_ones"] = sum_ones(device, std::int64_t{1} << largest);
        std::cout << result.dump(2) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "kf_bench_vulkan: " << error.what() << '\n';
        return 1;
    }
}
