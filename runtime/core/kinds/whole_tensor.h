// The kind of a parameter that is a tensor itself (Tensor<float, 1> and its kin): each call takes it whole.
#pragma once

#include <cstdint>

#include "core/kinds/passed.h"

namespace kf::manifest {

/// What a call does with it.
enum class Access : std::uint8_t {
    read,
    write,
    read_write,
    add,  ///< atomically, so that calls may share elements
};

}  // namespace kf::manifest

namespace kf::manifest::kinds {

/// Where it has dimensions of the call's too, each call takes one part of it. Its argument's role is `in`,
/// and its inner rank is not 0.
struct WholeTensor {
    Access access = Access::read;
    bool contiguous_only = false;  ///< "layout": "contiguous"

    bool operator==(const WholeTensor&) const = default;
};

inline Passed passed_as(const WholeTensor&) { return Passed::tensor; }

}  // namespace kf::manifest::kinds
