// How generated functions take one number: nothing is cut off on the way.
#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <kf/error.h>
#include <kf/half.h>

namespace kf {
namespace detail {

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Floating = std::floating_point<T> || std::same_as<T, half>;

template <class From, class T>
concept ConvertsItself = (std::is_class_v<From> || std::is_enum_v<From>)&&std::convertible_to<From, T>;

/// Numbers round to a floating type, an integer may be any that fits, and a bool is made of a bool alone.
/// What is just one of `Others` is for another overload.
template <class From, class T, class... Others>
concept ScalarFor = (std::same_as<From, T> || (Floating<T> && (Floating<From> || Integer<From>)) ||
                     (Integer<T> && Integer<From>) ||
                     (!std::same_as<T, bool> && !Floating<From> && ConvertsItself<From, T>)) &&
                    (!std::same_as<From, Others> && ...);

struct AlwaysFits {};

/// The least magnitude that rounds to infinity.
template <class T>
inline constexpr auto too_large = 0x1.fffffffffffff8p1023L;
template <>
inline constexpr double too_large<float> = 0x1.ffffffp127;
template <>
inline constexpr double too_large<half> = 65520;

/// Whether the number stays what it is but for rounding: infinity is a number like others, and stays.
template <class T, class From>
constexpr bool number_fits(From value) {
    if constexpr (Integer<T> && Integer<From>) {
        const T converted = static_cast<T>(value);
        return static_cast<From>(converted) == value && (converted < T{}) == (value < From{});
    } else if constexpr (!Floating<T> || (!Floating<From> && !Integer<From>) || std::same_as<T, From>) {
        return true;
    } else if constexpr (std::same_as<From, half>) {
        return true;
    } else if constexpr (Floating<From> && sizeof(From) <= sizeof(T)) {
        return true;
    } else {
        using Wide =
            std::common_type_t<decltype(too_large<T>), std::conditional_t<Integer<From>, double, From>>;
        constexpr Wide limit = static_cast<Wide>(too_large<T>);
        const Wide wide = static_cast<Wide>(value);
        constexpr Wide infinity = std::numeric_limits<Wide>::infinity();
        const bool overflows = (wide >= limit && wide < infinity) || (wide <= -limit && wide > -infinity);
        return !overflows;
    }
}

template <class T, class From>
constexpr T converted_number(From value) {
    if constexpr (std::same_as<T, half> && std::is_arithmetic_v<From> && !std::same_as<From, float>) {
        return half(static_cast<double>(value));
    } else {
        return static_cast<T>(value);
    }
}

/// Zero where the number doesn't fit.
template <class T, class From>
constexpr T fitting_number(const From& value) {
    return number_fits<T>(value) ? converted_number<T>(value) : T{};
}

/// Throws ArgumentError (value_range) where a finite number would become infinite; `what` has the number.
template <class T, class V>
T fitting(V given, const char* what) {
    if constexpr (Floating<T> && std::is_arithmetic_v<V>) {
        if (!number_fits<T>(given)) {
            throw ArgumentError(ErrorCode::value_range,
                                std::string(what) + ": a number doesn't fit its floating type");
        }
    }
    return static_cast<T>(std::move(given));
}

}  // namespace detail

/// A parameter that takes one T, or a number that becomes one. A floating number for an integer doesn't
/// compile; an integer that doesn't fit, or a finite number that would become infinite, is an ArgumentError
/// of the call. `Others` are taken by other overloads.
template <class T, class... Others>
class ScalarArg {
public:
    template <detail::ScalarFor<T, Others...> From>
    constexpr ScalarArg(From value)  // NOLINT(google-explicit-constructor)
        : value_(detail::fitting_number<T>(value)) {
        if constexpr (is_number) fits_ = detail::number_fits<T>(value);
    }

    [[nodiscard]] constexpr const T& value() const { return value_; }
    [[nodiscard]] constexpr bool fits() const {
        if constexpr (is_number) {
            return fits_;
        } else {
            return true;
        }
    }

private:
    static constexpr bool is_number = detail::Integer<T> || detail::Floating<T>;

    T value_;
    [[no_unique_address]] std::conditional_t<is_number, bool, detail::AlwaysFits> fits_{};
};

}  // namespace kf
