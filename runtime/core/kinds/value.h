// The kind "value": one element that the host passes by value.
#pragma once

#include "core/kinds/passed.h"

namespace kf::manifest::kinds {

struct Value {
    bool in_memory = false;  ///< of one that is read: too large for the block, so the kernel takes an address

    bool operator==(const Value&) const = default;
};

inline Passed passed_as(const Value&) { return Passed::value; }

}  // namespace kf::manifest::kinds
