// How generated functions take one number: nothing is cut off on the way.
#pragma once

#include <concepts>
#include <type_traits>

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

}  // namespace detail

/// A parameter that takes one T, or a number that becomes one. A floating number for an integer doesn't
/// compile; an integer that doesn't fit is an ArgumentError of the call. `Others` are taken by other
/// overloads.
template <class T, class... Others>
class ScalarArg {
public:
    template <detail::ScalarFor<T, Others...> From>
    constexpr ScalarArg(From value)  // NOLINT(google-explicit-constructor)
        : value_(converted(value)) {
        if constexpr (detail::Integer<T>) {
            fits_ = true;
            if constexpr (detail::Integer<From>) {
                fits_ = static_cast<From>(value_) == value && (value_ < T{}) == (value < From{});
            }
        }
    }

    [[nodiscard]] constexpr const T& value() const { return value_; }
    [[nodiscard]] constexpr bool fits() const {
        if constexpr (detail::Integer<T>) {
            return fits_;
        } else {
            return true;
        }
    }

private:
    template <class From>
    static constexpr T converted(From value) {
        if constexpr (std::same_as<T, half> && std::is_arithmetic_v<From> && !std::same_as<From, float>) {
            return half(static_cast<double>(value));
        } else {
            return static_cast<T>(value);
        }
    }

    T value_;
    [[no_unique_address]] std::conditional_t<detail::Integer<T>, bool, detail::AlwaysFits> fits_{};
};

}  // namespace kf
