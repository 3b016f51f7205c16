// Names, limits and features of a device, opened or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kf {

struct DeviceInfo {
    std::string id = {};                     ///< "vulkan:0": what Device::open() takes
    std::string backend = {};                ///< "vulkan" or "cuda"
    int index = 0;                           ///< within the backend
    std::string name = {};                   ///< "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver = {};                 ///< name and version
    bool is_cpu = false;                     ///< a driver that runs kernels on the CPU, such as llvmpipe
    std::uint64_t memory = 0;                ///< bytes
    std::vector<std::string> features = {};  ///< those of the device that kernels may need, sorted
};

}  // namespace kf
