// How many blocks the kernels written by hand are launched with.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace reference {

/// As many as run at once, or fewer where there is less to do: an atomic for each.
inline unsigned resident_blocks(const void* kernel, int threads, std::int64_t count) {
    int device = 0;
    int processors = 0;
    int each = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);
    const std::int64_t needed = (count + threads - 1) / threads;
    const std::int64_t resident = std::int64_t(processors) * each;
    return unsigned(needed < resident ? needed : resident);
}

}  // namespace reference
