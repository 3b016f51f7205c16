// kf_bench_small DEVICE: calls of numbers, and with vectors in and out, by turns with the same by hand, as
// JSON.
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench.h"
#include "measure.h"
#include "small.h"

namespace {

using namespace bench_support;

constexpr int calls = 100;
constexpr int rounds = 41;

struct Timed {
    std::string name;
    std::function<void()> call;
};

/// Microseconds a call, which waits for its result; medians, by turns.
std::vector<double> time(const std::vector<Timed>& each) {
    warm_up([&] {
        for (const Timed& one : each) one.call();
    });
    std::vector<std::vector<double>> times(each.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < each.size(); ++i) {
            times[i].push_back(1e6 / calls * seconds([&] {
                                   for (int k = 0; k < calls; ++k) each[i].call();
                               }));
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& one : times) medians.push_back(median(std::move(one)));
    return medians;
}

void require(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what + ": a wrong result");
}

nlohmann::json report(const std::vector<Timed>& each) {
    const std::vector<double> times = time(each);
    nlohmann::json result;
    for (std::size_t i = 0; i < each.size(); ++i) result[each[i].name] = times[i];
    return result;
}

nlohmann::json time_add(const bench::Module& module, const NamedCalls& by_hand) {
    std::vector<Timed> each{{"ours", [&] { require(module.add(1, 2) == 3, "add"); }}};
    for (const auto& [name, calls_by_hand] : by_hand) {
        each.push_back({"by_hand." + name,
                        [&name = name, &hand = *calls_by_hand] { require(hand.add(1, 2) == 3, name); }});
    }
    return report(each);
}

nlohmann::json time_vectors(const kf::Device& device, const bench::Module& module, const NamedCalls& by_hand,
                            std::int64_t count) {
    const std::vector<float> x = uniform(count, 1);
    std::vector<float> y(x.size());
    const auto check_last = [&](const std::string& name) {
        require(forward_error({x.back()}, {y.back()}) < 1e-6, name);
        y.back() = 0;
    };
    std::vector<Timed> each{{"ours", [&] {
                                 y = module.polynomial(2, 8, -1, device.tensor(x)).to_vector();
                                 check_last("polynomial");
                             }}};
    for (const auto& [name, calls_by_hand] : by_hand) {
        each.push_back({"by_hand." + name, [&, &name = name, &hand = *calls_by_hand] {
                            hand.polynomial(x, y);
                            check_last(name);
                        }});
    }
    return report(each);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string id = argc > 1 ? argv[1] : "vulkan:0";
        const int index = id.find(':') == std::string::npos ? 0 : std::stoi(id.substr(id.find(':') + 1));
        const kf::Device device = kf::Device::open(id);
        NamedCalls by_hand;
        if (id.starts_with("cuda")) {
            by_hand = cuda_by_hand(index, KF_BENCH_SMALL_PTX);
        } else if (!std::string_view(KF_BENCH_BY_HAND).empty()) {
            by_hand = vulkan_by_hand(index, KF_BENCH_BY_HAND);
        }
        const bench::Module module(device);
        const nlohmann::json result = {{"unit", "us a call that is waited for"},
                                       {"device", device.info().name},
                                       {"small.add", time_add(module, by_hand)},
                                       {"small.vectors_32", time_vectors(device, module, by_hand, 32)},
                                       {"small.vectors_16k", time_vectors(device, module, by_hand, 16384)}};
        std::cout << result.dump(2) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "kf_bench_small: " << error.what() << '\n';
        return 1;
    }
}
