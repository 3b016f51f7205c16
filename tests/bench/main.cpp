// kf_bench_cuda: GPU times against kernels written by hand and CPU times against bare launches, as JSON.
#include <cuda_runtime_api.h>

#include <iostream>

#include "cuda_bench.h"

int main() {
    try {
        check(cudaSetDevice(0));
        check(cudaFree(nullptr));
        const kf::Device device = kf::Device::open("cuda:0");
        nlohmann::json result;
        result["device"] = device.info().name;
        result["driver"] = device.info().driver;
        result["calls"] = time_calls(device);
        for (const int power : {20, 26}) {
            result["sizes"].push_back(time_kernels(device, std::int64_t{1} << power));
        }
        std::cout << result.dump(2) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "kf_bench_cuda: " << error.what() << '\n';
        return 1;
    }
}
