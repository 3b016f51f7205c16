// The element types of tensors and values: scalars, vectors, and their run-time description.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <kf/half.h>

namespace kf {

/// Packed: sizeof(Vector<float, 3>) is 12. Members are x, y, z, w as far as N goes.
template <class T, std::size_t N>
struct Vector;

template <class T>
struct Vector<T, 2> {
    T x{}, y{};
    constexpr T& operator[](std::size_t i) { return i == 0 ? x : y; }
    constexpr const T& operator[](std::size_t i) const { return i == 0 ? x : y; }
    bool operator==(const Vector&) const = default;
};

template <class T>
struct Vector<T, 3> {
    T x{}, y{}, z{};
    constexpr T& operator[](std::size_t i) { return i == 0 ? x : i == 1 ? y : z; }
    constexpr const T& operator[](std::size_t i) const { return i == 0 ? x : i == 1 ? y : z; }
    bool operator==(const Vector&) const = default;
};

template <class T>
struct Vector<T, 4> {
    T x{}, y{}, z{}, w{};
    constexpr T& operator[](std::size_t i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
    constexpr const T& operator[](std::size_t i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
    bool operator==(const Vector&) const = default;
};

/// Slang's names for vectors. They are packed (sizeof(float3) is 12), with members x, y, z, w.
using bool2 = Vector<bool, 2>;
using bool3 = Vector<bool, 3>;
using bool4 = Vector<bool, 4>;
using int8_t2 = Vector<std::int8_t, 2>;
using int8_t3 = Vector<std::int8_t, 3>;
using int8_t4 = Vector<std::int8_t, 4>;
using int16_t2 = Vector<std::int16_t, 2>;
using int16_t3 = Vector<std::int16_t, 3>;
using int16_t4 = Vector<std::int16_t, 4>;
using int2 = Vector<std::int32_t, 2>;
using int3 = Vector<std::int32_t, 3>;
using int4 = Vector<std::int32_t, 4>;
using int64_t2 = Vector<std::int64_t, 2>;
using int64_t3 = Vector<std::int64_t, 3>;
using int64_t4 = Vector<std::int64_t, 4>;
using uint8_t2 = Vector<std::uint8_t, 2>;
using uint8_t3 = Vector<std::uint8_t, 3>;
using uint8_t4 = Vector<std::uint8_t, 4>;
using uint16_t2 = Vector<std::uint16_t, 2>;
using uint16_t3 = Vector<std::uint16_t, 3>;
using uint16_t4 = Vector<std::uint16_t, 4>;
using uint2 = Vector<std::uint32_t, 2>;
using uint3 = Vector<std::uint32_t, 3>;
using uint4 = Vector<std::uint32_t, 4>;
using uint64_t2 = Vector<std::uint64_t, 2>;
using uint64_t3 = Vector<std::uint64_t, 3>;
using uint64_t4 = Vector<std::uint64_t, 4>;
using half2 = Vector<half, 2>;
using half3 = Vector<half, 3>;
using half4 = Vector<half, 4>;
using float2 = Vector<float, 2>;
using float3 = Vector<float, 3>;
using float4 = Vector<float, 4>;
using double2 = Vector<double, 2>;
using double3 = Vector<double, 3>;
using double4 = Vector<double, 4>;

static_assert(sizeof(bool) == 1 && sizeof(bool3) == 3 && sizeof(half3) == 6 && sizeof(float3) == 12);

/// The type of a scalar, in elements of tensors and in parameters.
enum class ScalarType : std::uint8_t {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64
};

/// Bytes of one scalar on the host and in tensors.
[[nodiscard]] constexpr std::size_t size_of(ScalarType scalar) {
    constexpr std::array<std::uint8_t, 12> sizes{1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    return sizes[static_cast<std::size_t>(scalar)];
}

/// float16, float32 and float64: those that have gradients.
[[nodiscard]] constexpr bool is_floating(ScalarType scalar) { return scalar >= ScalarType::float16; }
[[nodiscard]] constexpr bool is_signed_integer(ScalarType scalar) {
    return scalar >= ScalarType::int8 && scalar <= ScalarType::int64;
}

/// One element of a tensor: a scalar, or a block of scalars (float3: {3}), row-major, packed.
struct ElementType {
    ScalarType scalar = ScalarType::float32;
    std::uint8_t rank = 0;  ///< how many of `extents` count
    std::array<std::int64_t, 4> extents{1, 1, 1, 1};
    std::uint32_t struct_size = 0;  ///< bytes of a struct, or of an array of them; 0: scalars, as above

    [[nodiscard]] constexpr std::int64_t scalars() const {
        std::int64_t count = 1;
        for (std::size_t i = 0; i < rank; ++i) count *= extents[i];
        return count;
    }
    [[nodiscard]] constexpr std::size_t size() const {
        if (struct_size != 0) return struct_size;
        return size_of(scalar) * static_cast<std::size_t>(scalars());
    }
    constexpr bool operator==(const ElementType& other) const {
        bool same = scalar == other.scalar && rank == other.rank && struct_size == other.struct_size;
        for (std::size_t i = 0; same && i < rank; ++i) same = extents[i] == other.extents[i];
        return same;
    }
};

/// "float", "int8_t", "half3", "float2x3", "float[5]", "int[2][3][4]": Slang's spelling. Arrays of vectors
/// are the same to the host as arrays of arrays, and spelled so; one that is like a matrix is spelled as one.
[[nodiscard]] std::string to_string(ScalarType scalar);
[[nodiscard]] std::string to_string(const ElementType& element);

template <class T>
struct ScalarOf;  // undefined: no such element type
template <>
struct ScalarOf<bool> : std::integral_constant<ScalarType, ScalarType::boolean> {};
template <>
struct ScalarOf<std::int8_t> : std::integral_constant<ScalarType, ScalarType::int8> {};
template <>
struct ScalarOf<std::int16_t> : std::integral_constant<ScalarType, ScalarType::int16> {};
template <>
struct ScalarOf<std::int32_t> : std::integral_constant<ScalarType, ScalarType::int32> {};
template <>
struct ScalarOf<std::int64_t> : std::integral_constant<ScalarType, ScalarType::int64> {};
template <>
struct ScalarOf<std::uint8_t> : std::integral_constant<ScalarType, ScalarType::uint8> {};
template <>
struct ScalarOf<std::uint16_t> : std::integral_constant<ScalarType, ScalarType::uint16> {};
template <>
struct ScalarOf<std::uint32_t> : std::integral_constant<ScalarType, ScalarType::uint32> {};
template <>
struct ScalarOf<std::uint64_t> : std::integral_constant<ScalarType, ScalarType::uint64> {};
template <>
struct ScalarOf<half> : std::integral_constant<ScalarType, ScalarType::float16> {};
template <>
struct ScalarOf<float> : std::integral_constant<ScalarType, ScalarType::float32> {};
template <>
struct ScalarOf<double> : std::integral_constant<ScalarType, ScalarType::float64> {};

template <class T>
struct ElementOf {
    static constexpr ElementType value{ScalarOf<T>::value, 0, {1, 1, 1, 1}};
};
template <class T, std::size_t N>
struct ElementOf<Vector<T, N>> {
    static constexpr ElementType value{ScalarOf<T>::value, 1, {static_cast<std::int64_t>(N), 1, 1, 1}};
    static_assert(sizeof(Vector<T, N>) == N * sizeof(T));
};

/// The base of a generated struct's ElementOf.
template <class T>
struct StructElement {
    static constexpr ElementType value{ScalarType::float32, 0, {1, 1, 1, 1}, sizeof(T)};
    static constexpr bool is_struct = true;
};

/// Vectors; matrices and arrays too, once kf/matrix.h is included.
template <class T>
inline constexpr bool is_block = false;
template <class T, std::size_t N>
inline constexpr bool is_block<Vector<T, N>> = true;

/// A type that tensors hold and parameters take.
template <class T>
concept HostElement = is_block<T> || requires {
    ScalarOf<T>::value;
} || requires {
    ElementOf<T>::is_struct;
};

/// The description of a C++ element type: element_of<float3>.
template <class T>
inline constexpr ElementType element_of = ElementOf<std::remove_cv_t<T>>::value;

}  // namespace kf
