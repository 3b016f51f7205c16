// A few extents or strides, without allocation.
#include <kf/any_tensor.h>
#include <kf/error.h>

#include <algorithm>

namespace kf {

Dims::Dims(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values) {
        push_back(value);
    }
}

Dims::Dims(std::size_t count, std::int64_t value) {
    for (std::size_t i = 0; i < count; ++i) {
        push_back(value);
    }
}

void Dims::push_back(std::int64_t value) {
    if (size_ == capacity) {
        throw ArgumentError(ErrorCode::rank_mismatch,
                            "a tensor has at most " + std::to_string(max_rank) + " dimensions");
    }
    values_[size_++] = value;
}

void Dims::erase(std::size_t i) {
    std::copy(values_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              values_.begin() + static_cast<std::ptrdiff_t>(size_),
              values_.begin() + static_cast<std::ptrdiff_t>(i));
    values_[--size_] = 0;
}

bool Dims::operator==(const Dims& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
}

std::string to_string(const Dims& dims) {
    std::string text = "[";
    for (std::size_t i = 0; i < dims.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
    }
    return text + "]";
}

}  // namespace kf
