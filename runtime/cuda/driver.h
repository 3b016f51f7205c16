// The CUDA driver: what the runtime's core calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/driver.h"
#include "core/usable.h"

namespace kf::cuda {

/// Where CUDA comes from; the defaults are for everybody but tests.
struct OpenOptions {
    std::string library = "libcuda.so.1";
    /// Finds a function of the driver's by its name, or returns null; used instead of `library`.
    void* (*lookup)(const char* name) = nullptr;
};

/// Counts for tests and for messages.
struct Statistics {
    std::uint64_t reserved = 0;  ///< bytes of device memory taken from the driver
    std::uint64_t used = 0;      ///< bytes of it that allocations hold
};

/// The devices that can run kernels, in the order of open_cuda(), which is the driver's (and so heeds
/// CUDA_VISIBLE_DEVICES). When there are none, `why_not` (if given) gets one line that says why. Makes no
/// context. Never throws for want of a driver.
std::vector<driver::Info> enumerate_cuda(std::string* why_not, const OpenOptions& options = {});

/// Finds the devices, ready to be opened.
std::vector<driver::Candidate> find_cuda(std::string& why_not, const OpenOptions& options = {});

/// Retains the device's primary context. Throws kf::DeviceError: no_driver, no_device (an index out of
/// range), or the driver's.
std::shared_ptr<driver::Device> open_cuda(int index, const OpenOptions& options = {});

Statistics statistics(const driver::Device& device);

}  // namespace kf::cuda
