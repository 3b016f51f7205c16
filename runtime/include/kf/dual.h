// A value with its tangent: what forward derivatives take and return.
#pragma once

#include <concepts>
#include <tuple>
#include <utility>

#include <kf/scalar_arg.h>

namespace kf {
/// An argument (a value, a tensor or the fields of a struct) with the tangent along which the derivative is
/// taken. A missing tangent is 0; of a tensor it is a null handle. A tensor's tangent has its shape, and may
/// have another layout. A forward derivative returns `value`, as the function itself does, and `tangent`, of
/// the same type: `auto [y, dy] = module.f.jvp({x, dx});`
template <class T>
struct Dual {
    T value{};
    T tangent{};

    Dual() {}  // NOLINT(modernize-use-equals-default): GCC 12 crashes where T is an array of vectors of half
    template <class V>
    requires std::convertible_to<V, T> Dual(V given)  // NOLINT(google-explicit-constructor)
        : value(detail::fitting<T>(std::move(given), "Dual")) {}
    template <class V, class D>
    requires std::convertible_to<V, T> && std::convertible_to<D, T> Dual(V given, D along)
        : value(detail::fitting<T>(std::move(given), "Dual")),
          tangent(detail::fitting<T>(std::move(along), "Dual")) {}
};

/// Returns the value and the tangent, which forward derivatives take one by one.
template <class T>
auto kf_parts(Dual<T>& dual) {
    return std::tie(dual.value, dual.tangent);
}

template <class T>
Dual(T) -> Dual<T>;
template <class T>
Dual(T, T) -> Dual<T>;

}  // namespace kf
