// CPU time of calls in C++, as JSON: of a function, of the same as an entry point, and with a global for an
// argument. Its argument names the device.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench_configured.h"
#include "measure.h"

namespace {

constexpr int calls = 200;
constexpr int rounds = 101;

/// Microseconds a call: the median over batches, with a wait after each.
template <class Call>
double microseconds(const kf::Device& device, const Call& call) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        times.push_back(bench_support::seconds([&] {
            for (int i = 0; i < calls; ++i) call();
        }));
        device.wait();
    }
    return bench_support::median(times) / calls * 1e6;
}

}  // namespace

int main(int argc, char** argv) {
    const kf::Device device = kf::Device::open(argc > 1 ? argv[1] : "");
    const bench_configured::Module module(device);
    constexpr std::int64_t count = 1024;
    const auto x = device.tensor<float>(bench_support::uniform(count, 1));
    const auto y = device.tensor<float>(std::vector<float>(static_cast<std::size_t>(count)));
    const auto launch = module.polynomial_kernel.threads(count);
    const auto was_set = module.shifted.set({.offset = -1.0F});
    const std::vector<std::pair<std::string, double>> times = {
        {"function", microseconds(device, [&] { module.polynomial(2, 8, -1, x, kf::out(y)); })},
        {"launch", microseconds(device, [&] { launch(2, 8, -1, x, y); })},
        {"launch.threads",
         microseconds(device, [&] { module.polynomial_kernel.threads(count)(2, 8, -1, x, y); })},
        {"global", microseconds(device, [&] { was_set(2, 8, x, kf::out(y)); })},
        {"global.set",
         microseconds(device, [&] { module.shifted.set({.offset = -1.0F})(2, 8, x, kf::out(y)); })},
    };
    std::printf("{\"unit\": \"us of CPU time a call\", \"count\": %d", static_cast<int>(count));
    for (const auto& [name, time] : times) std::printf(", \"%s\": %.3f", name.c_str(), time);
    std::printf("}\n");
}
