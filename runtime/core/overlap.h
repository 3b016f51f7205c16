// Which views are dense, and which may touch the same memory. Pure integer work.
#pragma once

#include <kf/any_tensor.h>

#include <optional>

namespace kf::detail {

/// There is no element.
[[nodiscard]] bool is_empty(const Dims& extents);

/// Elements follow each other in row-major order without gaps (extents of 1 may have any stride, and
/// views without an element any strides).
[[nodiscard]] bool is_dense(const Dims& extents, const Dims& strides);

/// Two of a view's elements may be one. Right for every view that slicing, selecting, transposing and
/// broadcasting can make; for others it may say yes without need.
[[nodiscard]] bool may_repeat(const Dims& extents, const Dims& strides);

/// The bytes that a view's elements lie in.
struct Reach {
    std::uint64_t before = 0;  ///< of the element at index 0: negative strides lead there
    std::uint64_t size = 0;    ///< in all
};

/// Returns the reach of a view with an element at least, each of `size` bytes, whose strides count `unit`
/// bytes. Nothing where they are more bytes than there can be.
[[nodiscard]] std::optional<Reach> reach_of(const Dims& extents, const Dims& strides, std::int64_t unit,
                                            std::int64_t size);

/// A set of addresses: of each element, `size` bytes from `address` + the strides (in bytes) times indices.
struct Footprint {
    std::uint64_t address = 0;
    std::int64_t size = 0;
    Dims extents;
    Dims strides;
};

/// Whether two sets share a byte. Exact, but for views so entangled that finding out would take long: yes.
[[nodiscard]] bool may_overlap(const Footprint& a, const Footprint& b);

}  // namespace kf::detail
