// Which views are dense, and which may touch the same memory.
#include "core/overlap.h"

#include <algorithm>
#include <utility>

namespace kf::detail {
namespace {

/// `stride` (positive) times any number from `low` to `high`.
struct Term {
    std::int64_t stride = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
};

struct Terms {
    std::array<Term, 2 * Dims::capacity> list{};
    std::size_t count = 0;

    void add(const Footprint& footprint, bool negated) {
        for (std::size_t i = 0; i < footprint.extents.size(); ++i) {
            const std::int64_t reach = footprint.extents[i] - 1;
            const std::int64_t stride = negated ? -footprint.strides[i] : footprint.strides[i];
            if (reach > 0 && stride != 0) {
                join(stride > 0 ? Term{stride, 0, reach} : Term{-stride, -reach, 0});
            }
        }
    }

    /// Two terms of one stride reach what one of both ranges does. Fields of a tensor of structs meet here.
    void join(const Term& term) {
        for (std::size_t i = 0; i < count; ++i) {
            if (list[i].stride == term.stride) {
                list[i].low += term.low;
                list[i].high += term.high;
                return;
            }
        }
        list[count++] = term;
    }
};

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

/// Whether some sum of the terms from `i` on lies in [low, high].
bool reaches(const Terms& terms, std::size_t i, std::int64_t low, std::int64_t high, int& budget) {
    if (i == terms.count) {
        return low <= 0 && 0 <= high;
    }
    if (--budget < 0) {
        return true;
    }
    std::int64_t rest_low = 0;
    std::int64_t rest_high = 0;
    for (std::size_t k = i + 1; k < terms.count; ++k) {
        rest_low += terms.list[k].stride * terms.list[k].low;
        rest_high += terms.list[k].stride * terms.list[k].high;
    }
    const Term& term = terms.list[i];
    // term * c + [rest_low, rest_high] must meet [low, high].
    const std::int64_t first = std::max(term.low, -floor_divide(-(low - rest_high), term.stride));
    const std::int64_t last = std::min(term.high, floor_divide(high - rest_low, term.stride));
    for (std::int64_t c = first; c <= last; ++c) {
        if (reaches(terms, i + 1, low - c * term.stride, high - c * term.stride, budget)) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool is_empty(const Dims& extents) { return std::find(extents.begin(), extents.end(), 0) != extents.end(); }

bool is_dense(const Dims& extents, const Dims& strides) {
    if (is_empty(extents)) {
        return true;
    }
    std::int64_t expected = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
        if (extents[i] != 1 && strides[i] != expected) {
            return false;
        }
        expected *= extents[i];
    }
    return true;
}

bool may_repeat(const Dims& extents, const Dims& strides) {
    std::array<std::pair<std::int64_t, std::int64_t>, Dims::capacity> dims{};  // stride, reach
    std::size_t count = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] == 0) {
            return false;
        }
        if (extents[i] > 1) {
            // Sorted here, since GCC 14 takes std::sort() to reach beyond so short an array.
            const std::pair dim(strides[i] < 0 ? -strides[i] : strides[i], extents[i] - 1);
            std::size_t at = count++;
            for (; at > 0 && dim < dims[at - 1]; --at) {
                dims[at] = dims[at - 1];
            }
            dims[at] = dim;
        }
    }
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (dims[i].first <= covered) {
            return true;
        }
        covered += dims[i].first * dims[i].second;
    }
    return false;
}

std::optional<Reach> reach_of(const Dims& extents, const Dims& strides, std::int64_t unit,
                              std::int64_t size) {
    std::int64_t lowest = 0;
    std::int64_t highest = size;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        std::int64_t far = 0;
        if (__builtin_mul_overflow(extents[i] - 1, strides[i], &far) ||
            __builtin_mul_overflow(far, unit, &far)) {
            return std::nullopt;
        }
        std::int64_t& end = far < 0 ? lowest : highest;
        if (__builtin_add_overflow(end, far, &end)) {
            return std::nullopt;
        }
    }
    const std::uint64_t before = 0 - static_cast<std::uint64_t>(lowest);
    return Reach{before, before + static_cast<std::uint64_t>(highest)};
}

bool may_overlap(const Footprint& a, const Footprint& b) {
    if (is_empty(a.extents) || is_empty(b.extents)) {
        return false;
    }
    Terms terms;
    terms.add(a, false);
    terms.add(b, true);
    std::sort(terms.list.begin(), terms.list.begin() + static_cast<std::ptrdiff_t>(terms.count),
              [](const Term& x, const Term& y) { return x.stride > y.stride; });
    // An element of a at `distance` below b's first, with both sums, shares a byte when
    // sum_a - sum_b is in (distance - a.size, distance + b.size).
    const auto distance = static_cast<std::int64_t>(b.address - a.address);
    int budget = 10000;
    return reaches(terms, 0, distance - a.size + 1, distance + b.size - 1, budget);
}

}  // namespace kf::detail
