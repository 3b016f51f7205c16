// The two halves of kf_bench_cuda. Times are in microseconds, bandwidths in GB/s (10^9 bytes).
#pragma once

#include <cuda_runtime_api.h>
#include <kf/device.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

inline void check(cudaError_t error) {
    if (error != cudaSuccess) {
        throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(error));
    }
}

/// GPU time of the forward and backward pass over `count` floats, by turns with kernels written by hand.
nlohmann::json time_kernels(const kf::Device& device, std::int64_t count);

/// GPU time of the backward pass of calls that share gradients in other ways, of about `count` numbers.
nlohmann::json time_strategies(const kf::Device& device, std::int64_t count);

/// Gathers of one weight by all, against one atomic an element.
nlohmann::json time_gather(const kf::Device& device, std::int64_t count);

/// Gathers of one of 65,536 elements at random, against one atomic an element.
nlohmann::json time_lookup(const kf::Device& device, std::int64_t count);

/// CPU time of a call, by turns with bare launches of the same kernels.
nlohmann::json time_calls(const kf::Device& device);
