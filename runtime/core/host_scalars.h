// Where the scalars of a value lie on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/argument.h"

namespace kf::detail {

/// How far they lie apart, in scalars, where they lie one after the other.
[[nodiscard]] inline std::vector<std::int64_t> packed_strides(const manifest::Argument& argument) {
    const std::vector<std::int64_t>& extents = argument.element.extents;
    std::vector<std::int64_t> strides(extents.size(), 1);
    for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
    return strides;
}

/// How far they lie apart where a call is given the value, in scalars: a field's lie as in its struct.
[[nodiscard]] inline std::vector<std::int64_t> host_strides(const manifest::Argument& argument) {
    return argument.spacing.empty() ? packed_strides(argument) : argument.spacing;
}

/// Visits them in row-major order: visit(index, bytes from the first one).
template <class Visit>
void for_each_scalar(const manifest::Argument& argument, const std::vector<std::int64_t>& strides,
                     Visit visit) {
    const std::vector<std::int64_t>& extents = argument.element.extents;
    std::vector<std::int64_t> index(extents.size(), 0);
    while (true) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
        visit(index, at * manifest::scalar_bytes(argument.element.scalar));
        std::size_t d = index.size();
        while (d > 0 && ++index[d - 1] == extents[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}

}  // namespace kf::detail
