// kf::half: a 16-bit IEEE float for storage; arithmetic goes through float.
#pragma once

#include <bit>
#include <cstdint>

namespace kf {

class half {
public:
    constexpr half() = default;
    /// Rounds to nearest even; overflow becomes infinity, NaN stays NaN.
    constexpr half(float value) : bits_(from_float(value)) {}  // NOLINT(google-explicit-constructor)
    constexpr explicit half(double value) : half(narrow(value)) {}
    constexpr explicit half(int value) : half(static_cast<float>(value)) {}
    constexpr operator float() const { return to_float(bits_); }  // NOLINT(google-explicit-constructor)

    [[nodiscard]] static constexpr half from_bits(std::uint16_t bits) {
        half result;
        result.bits_ = bits;
        return result;
    }
    [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }

private:
    /// Rounds to float, the last bit odd when inexact, so that the second rounding can't go wrong.
    static constexpr float narrow(double value) {
        const float rounded = static_cast<float>(value);
        const auto bits = std::bit_cast<std::uint32_t>(rounded);
        if (static_cast<double>(rounded) == value || rounded != rounded || (bits & 1U) != 0U) return rounded;
        if ((bits & 0x7f800000U) == 0x7f800000U) return rounded;
        const bool away = (rounded > 0.F) == (static_cast<double>(rounded) > value);
        if ((bits & 0x7fffffffU) == 0U) return std::bit_cast<float>((value < 0 ? 0x80000001U : 1U));
        return std::bit_cast<float>(away ? bits - 1U : bits + 1U);
    }

    static constexpr std::uint16_t from_float(float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const auto sign = static_cast<std::uint32_t>((bits >> 16U) & 0x8000U);
        const std::uint32_t magnitude = bits & 0x7fffffffU;
        if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);  // NaN
        if (magnitude >= 0x477ff000U)
            return static_cast<std::uint16_t>(sign | 0x7c00U);  // rounds to infinity
        if (magnitude >= 0x38800000U) {                         // normal
            const std::uint32_t odd = (magnitude >> 13U) & 1U;
            return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13U));
        }
        if (magnitude < 0x33000000U) return static_cast<std::uint16_t>(sign);  // rounds to zero
        const std::uint32_t shift = 126U - (magnitude >> 23U);                 // subnormal: 14 to 24
        const std::uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
        const std::uint32_t kept = mantissa >> shift;
        const std::uint32_t rest = mantissa & ((1U << shift) - 1U);
        const std::uint32_t halfway = 1U << (shift - 1U);
        const std::uint32_t up = (rest > halfway || (rest == halfway && (kept & 1U) != 0U)) ? 1U : 0U;
        return static_cast<std::uint16_t>(sign | (kept + up));
    }

    static constexpr float to_float(std::uint16_t half_bits) {
        const std::uint32_t sign = (half_bits & 0x8000U) * 0x10000U;
        const std::uint32_t magnitude = half_bits & 0x7fffU;
        if (magnitude >= 0x7c00U) {
            return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13U));
        }
        if (magnitude >= 0x400U) return std::bit_cast<float>(sign | ((magnitude << 13U) + 0x38000000U));
        const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
        return sign != 0U ? -subnormal : subnormal;
    }

    std::uint16_t bits_ = 0;
};

static_assert(sizeof(half) == 2);

}  // namespace kf
