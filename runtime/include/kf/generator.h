// Generators: arguments that are a few numbers on the host and one value a call on the device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <kf/generator_kind.h>

namespace kf {

namespace detail {

template <std::size_t N>
constexpr std::array<std::int64_t, N> ones() {
    std::array<std::int64_t, N> values{};
    for (std::int64_t& value : values) value = 1;
    return values;
}

}  // namespace detail

/// The call with index i along dimension d gets offset[d] + i * stride[d]; `shape` takes part in the call's
/// shape like a tensor's. All three are in NumPy's order: the last is x. Negative extents, and values that
/// the parameter can't hold, are an ArgumentError of the call.
template <std::size_t N>
struct Grid {
    std::array<std::int64_t, N> shape{};
    std::array<std::int64_t, N> offset{};
    std::array<std::int64_t, N> stride = detail::ones<N>();  ///< 1 along each dimension
};

/// start, start + step … up to `stop`, which isn't reached, as Python's range(). A step of 0, and values that
/// the parameter can't hold, are an ArgumentError of the call.
struct Range {
    std::int64_t start = 0;
    std::int64_t stop = 0;
    std::int64_t step = 1;
};

/// A 32-bit hash of the call's flat index, different for each component of a vector or array; docs/spec.md
/// has the formula.
struct WangHash {
    std::uint32_t seed = 0;
    std::uint32_t warmup = 0;  ///< how often it is hashed again; at most 1024
    bool hash_seed = false;    ///< hashes the seed first, so that close seeds make numbers that aren't alike
};

/// Multiples of 2^-23, from 0 to below 1, made from that hash and scaled to [min, max), which must be finite
/// and in that order.
struct RandFloat {
    float min = 0;
    float max = 1;
    std::uint32_t seed = 0;
    std::uint32_t warmup = 0;
    bool hash_seed = false;
};

/// Stands for a struct's field that the kernel computes (call_id, thread_id), beside fields that are passed.
struct Made {};

}  // namespace kf
