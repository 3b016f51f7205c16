// The kind "tensor": of its elements each call reads or writes one.
#pragma once

#include "core/kinds/passed.h"

namespace kf::manifest::kinds {

struct Tensor {
    bool contiguous_only = false;  ///< "layout": "contiguous"

    bool operator==(const Tensor&) const = default;
};

inline Passed passed_as(const Tensor&) { return Passed::tensor; }

}  // namespace kf::manifest::kinds
