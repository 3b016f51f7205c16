// Matrices and arrays as elements: row-major and packed, as kernels read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <kf/types.h>

namespace kf {

/// R rows of C scalars, packed: sizeof(float2x3) == 24. Aliases are float2x3, int4x4, bool2x2 and so on. An
/// aggregate: `float2x2 m{{{1, 2}, {3, 4}}};` m[r][c] is the element in row r, column c.
template <class T, std::size_t R, std::size_t C>
struct Matrix {
    using Row = T[C];
    Row rows[R]{};

    constexpr Row& operator[](std::size_t row) { return rows[row]; }
    constexpr const Row& operator[](std::size_t row) const { return rows[row]; }
    bool operator==(const Matrix&) const = default;
};

#define KF_MATRICES_OF(name, T)        \
    using name##2x2 = Matrix<T, 2, 2>; \
    using name##2x3 = Matrix<T, 2, 3>; \
    using name##2x4 = Matrix<T, 2, 4>; \
    using name##3x2 = Matrix<T, 3, 2>; \
    using name##3x3 = Matrix<T, 3, 3>; \
    using name##3x4 = Matrix<T, 3, 4>; \
    using name##4x2 = Matrix<T, 4, 2>; \
    using name##4x3 = Matrix<T, 4, 3>; \
    using name##4x4 = Matrix<T, 4, 4>

KF_MATRICES_OF(bool, bool);
KF_MATRICES_OF(int8_t, std::int8_t);
KF_MATRICES_OF(int16_t, std::int16_t);
KF_MATRICES_OF(int, std::int32_t);
KF_MATRICES_OF(int64_t, std::int64_t);
KF_MATRICES_OF(uint8_t, std::uint8_t);
KF_MATRICES_OF(uint16_t, std::uint16_t);
KF_MATRICES_OF(uint, std::uint32_t);
KF_MATRICES_OF(uint64_t, std::uint64_t);
KF_MATRICES_OF(half, half);
KF_MATRICES_OF(float, float);
KF_MATRICES_OF(double, double);
#undef KF_MATRICES_OF

template <class T, std::size_t R, std::size_t C>
struct ElementOf<Matrix<T, R, C>> {
    static constexpr ElementType value{
        ScalarOf<T>::value, 2, {static_cast<std::int64_t>(R), static_cast<std::int64_t>(C), 1, 1}};
    static_assert(sizeof(Matrix<T, R, C>) == R * C * sizeof(T));
};
template <class T, std::size_t R, std::size_t C>
inline constexpr bool is_block<Matrix<T, R, C>> = true;

namespace detail {

/// The extents of T[n]: n, then those of T. At most four in all.
constexpr ElementType array_of(const ElementType& element, std::int64_t n) {
    if (element.struct_size != 0) {
        ElementType structs = element;
        structs.struct_size *= static_cast<std::uint32_t>(n);
        return structs;
    }
    ElementType result{element.scalar, static_cast<std::uint8_t>(element.rank + 1), {n, 1, 1, 1}};
    for (std::size_t i = 0; i + 1 < result.extents.size(); ++i) result.extents[i + 1] = element.extents[i];
    return result;
}

}  // namespace detail

template <class T, std::size_t N>
struct ElementOf<std::array<T, N>> {
    static_assert(ElementOf<T>::value.rank < 4, "elements have at most four dimensions");
    static constexpr ElementType value = detail::array_of(ElementOf<T>::value, static_cast<std::int64_t>(N));
    static_assert(sizeof(std::array<T, N>) == N * sizeof(T));
};
template <class T, std::size_t N>
inline constexpr bool is_block<std::array<T, N>> = HostElement<T>;

}  // namespace kf
