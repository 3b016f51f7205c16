// Between the manifest's types and the public ones.
#pragma once

#include <kf/types.h>

#include "core/manifest.h"

namespace kf {

static_assert(static_cast<int>(ScalarType::boolean) == static_cast<int>(manifest::Scalar::boolean));
static_assert(static_cast<int>(ScalarType::uint8) == static_cast<int>(manifest::Scalar::uint8));
static_assert(static_cast<int>(ScalarType::float64) == static_cast<int>(manifest::Scalar::float64));

constexpr ScalarType scalar_type(manifest::Scalar scalar) { return static_cast<ScalarType>(scalar); }

/// Of an element that artifact::check() let pass: at most two extents.
inline ElementType element_type(const manifest::Element& element) {
    ElementType result{
        scalar_type(element.scalar), static_cast<std::uint8_t>(element.extents.size()), {1, 1, 1, 1}};
    for (std::size_t i = 0; i < element.extents.size() && i < result.extents.size(); ++i) {
        result.extents[i] = element.extents[i];
    }
    return result;
}

}  // namespace kf
