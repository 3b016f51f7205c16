// kf_bench_cuda [calls|sizes|strategies|gathers|sums]...: GPU times against kernels written by hand and CPU
// times against bare launches, as JSON; all of it without arguments.
#include <cuda_runtime_api.h>

#include <iostream>
#include <string>
#include <string_view>

#include "call_kinds.h"
#include "cuda_bench.h"
#include "strategies.h"

int main(int argc, char** argv) {
    try {
        const auto wants = [&](std::string_view part) {
            bool found = argc == 1;
            for (int i = 1; i < argc; ++i) found = found || part == argv[i];
            return found;
        };
        check(cudaSetDevice(0));
        check(cudaFree(nullptr));
        const kf::Device device = kf::Device::open("cuda:0");
        nlohmann::json result;
        result["device"] = device.info().name;
        result["driver"] = device.info().driver;
        if (wants("calls")) {
            result["calls"] = time_calls(device);
            result["call_kinds"] = time_call_kinds(device);
            for (auto& [name, time] : result["call_kinds"]["of_forward"].items()) {
                const bool is_backward = name.find("backward") != std::string::npos;
                const nlohmann::json& bare = result["calls"][is_backward ? "backward.bare" : "forward.bare"];
                result["call_kinds"]["of_bare"][name] =
                    result["call_kinds"][name].get<double>() / bare.get<double>();
            }
        }
        for (const int power : {20, 26}) {
            const std::int64_t count = std::int64_t{1} << power;
            if (wants("sizes")) result["sizes"].push_back(time_kernels(device, count));
            if (wants("strategies")) result["strategies"].push_back(time_strategies(device, count));
        }
        for (const int power : {16, 20, 22}) {
            if (wants("gathers")) {
                result["gathers"].push_back(time_gather(device, std::int64_t{1} << power));
                result["lookups"].push_back(time_lookup(device, std::int64_t{1} << power));
            }
        }
        if (wants("sums")) result["sums_of_ones"] = bench_support::sum_ones(device, std::int64_t{1} << 26);
        std::cout << result.dump(2) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "kf_bench_cuda: " << error.what() << '\n';
        return 1;
    }
}
