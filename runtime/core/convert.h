// Between the manifest's types and the public ones.
#pragma once

#include <kf/types.h>

#include "core/manifest.h"

namespace kf {

/// The element as the public headers describe it.
inline ElementType element_type(const manifest::Element& element) {
    ElementType result{element.scalar, static_cast<std::uint8_t>(element.extents.size()), {1, 1, 1, 1}};
    for (std::size_t i = 0; i < element.extents.size() && i < result.extents.size(); ++i) {
        result.extents[i] = element.extents[i];
    }
    return result;
}

}  // namespace kf
