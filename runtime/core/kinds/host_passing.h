// What the host passes for an argument, whatever its kind.
#pragma once

#include <cstdint>

namespace kf::manifest {

enum class HostPassing : std::uint8_t {
    nothing,    ///< the kernel has all that it needs
    value,      ///< one element; of an output, one comes back
    tensor,     ///< memory with a shape and strides
    buffer,     ///< memory whose elements lie one after the other
    pointer,    ///< an address
    texture,    ///< an image; of one that is combined, a sampler too
    sampler,    ///< how texels are sampled
    generator,  ///< a few numbers that kernels make values from: kf::Grid and its kin
};

}  // namespace kf::manifest
