// The properties and abilities of a GPU.
#pragma once

#include <string>
#include <vector>

#include "core/driver.h"
#include "cuda/library.h"

namespace kf::cuda {

/// A version of the instruction set: 9.0 of an H200.
struct Capability {
    int major = 0;
    int minor = 0;

    auto operator<=>(const Capability&) const = default;
};

struct Physical {
    CUdevice handle = 0;
    driver::Info info;
    Capability capability;
    driver::Grid max_group_size{};     ///< threads of a group in each dimension
    std::vector<std::string> lacking;  ///< what it would need to run kernels; empty when it can
};

/// Touches no context. `ordinal`: the driver's own number.
Physical describe(const Library& library, int ordinal);

}  // namespace kf::cuda
