// A few extents or strides, without allocation.
#include <kf/any_tensor.h>
#include <kf/error.h>

#include <algorithm>

#include "core/join.h"

namespace kf {

void Dims::throw_full() {
    throw ArgumentError(ErrorCode::rank_mismatch,
                        "a tensor has at most " + std::to_string(max_rank) + " dimensions");
}

void Dims::erase(std::size_t i) {
    std::copy(values_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              values_.begin() + static_cast<std::ptrdiff_t>(size_),
              values_.begin() + static_cast<std::ptrdiff_t>(i));
    --size_;
}

bool Dims::operator==(const Dims& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
}

std::string to_string(const Dims& dims) { return "[" + join(dims) + "]"; }

}  // namespace kf
