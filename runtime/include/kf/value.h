// Small wrappers that say how an argument is meant: Diff (has a gradient), Out (is written).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <kf/matrix.h>
#include <kf/scalar_arg.h>
#include <kf/tensor.h>

namespace kf {

namespace detail {

/// Whether the type is integers, enums, or vectors, matrices or arrays of them. Fields decide for structs.
template <class T>
inline constexpr bool is_discrete = std::is_integral_v<T> || std::is_enum_v<T>;
template <class T, std::size_t N>
inline constexpr bool is_discrete<Vector<T, N>> = is_discrete<T>;
template <class T, std::size_t R, std::size_t C>
inline constexpr bool is_discrete<Matrix<T, R, C>> = is_discrete<T>;
template <class T, std::size_t N>
inline constexpr bool is_discrete<std::array<T, N>> = is_discrete<T>;

/// A number that rounds to a floating T, T itself among them.
template <class V, class T>
concept NumberFor = Floating<T> &&(Floating<V> || Integer<V>);

}  // namespace detail

/// A host value with a gradient. A backward call waits for the device and adds to `grad`, so set it to zero
/// before each step. Of an output, `grad` is what flows in. A call that pushes gradients (accumulate) doesn't
/// change `grad`: it adds to `pushed` if that has the call's shape, and else replaces it.
template <class T>
struct Diff {
    static_assert(!detail::is_discrete<T>,
                  "kf::Diff: an integer, bool or enum has no derivative; of 2 write 2.f");

    T value{};
    T grad{};            ///< what backward calls add to, or, of an output, what flows in
    AnyTensor pushed{};  ///< one gradient for each call, where calls push them

    Diff() {}  // NOLINT(modernize-use-equals-default): GCC 12 crashes where T is an array of vectors of half
    explicit Diff(T given) : value(std::move(given)) {}
    Diff(T given, T gradient) : value(std::move(given)), grad(std::move(gradient)) {}
    /// Takes other types' numbers; one that the type has no room for is an ArgumentError (value_range).
    template <class V>
    requires detail::NumberFor<V, T>
    explicit Diff(V given) : value(detail::fitting<T>(given, "Diff")) {}
    template <class V, class G>
    requires detail::NumberFor<V, T> && detail::NumberFor<G, T> Diff(V given, G gradient)
        : value(detail::fitting<T>(given, "Diff")), grad(detail::fitting<T>(gradient, "Diff")) {}
};

template <class T>
Diff(T) -> Diff<T>;
template <class T>
Diff(T, T) -> Diff<T>;

namespace detail {

/// The parts that a type can be made of in braces: a vector's scalars, an array's elements.
template <class T>
struct PartsOf {
    static constexpr std::size_t count = 0;
};
template <class T, std::size_t N>
struct PartsOf<Vector<T, N>> {
    using type = T;
    static constexpr std::size_t count = N;
};
template <class T, std::size_t N>
struct PartsOf<std::array<T, N>> {
    using type = T;
    static constexpr std::size_t count = N;
};
template <class T, class... Given>
concept MadeOf = sizeof...(Given) > 1 && sizeof...(Given) == PartsOf<T>::count &&
                 !Integer<typename PartsOf<T>::type> && (ScalarFor<Given, typename PartsOf<T>::type> && ...);
/// Whether a value becomes a T as in the call itself.
template <class Value, class T>
concept BecomesValue = std::convertible_to<Value, T> &&(!Floating<T> || ScalarFor<Value, T>);

}  // namespace detail

/// How a backward call takes a host value: a plain T (anything that converts to it), which gets no gradient,
/// or a Diff<T>: of an input, its grad is added to; of an output, its grad flows in (without one, 1 does).
/// A parameter type only: it refers to the Diff that it was made from.
template <class T>
class DiffArg {
public:
    // This isn't defaulted: GCC 12 crashes where that is constexpr and T an array of vectors of half.
    DiffArg() : value_() {}  // NOLINT(modernize-use-equals-default)
    template <class Value>
    requires detail::BecomesValue<Value, T> DiffArg(Value value)  // NOLINT(google-explicit-constructor)
        : value_(detail::fitting_number<T>(value)), fits_(detail::number_fits<T>(value)) {}
    /// `{1, 2, 3}` for a float3, as the call itself takes it.
    template <class... Given>
    requires detail::MadeOf<T, Given...> DiffArg(Given... parts)
        : value_{detail::fitting_number<typename detail::PartsOf<T>::type>(parts)...},
          fits_((detail::number_fits<typename detail::PartsOf<T>::type>(parts) && ...)) {}
    DiffArg(Diff<T>& diff)  // NOLINT(google-explicit-constructor)
        : value_(diff.value), gradient_(&diff.grad), pushed_(&diff.pushed) {}
    DiffArg(Diff<T>&& diff) = delete;       ///< nobody could read its grad: name it first
    DiffArg(const Diff<T>& diff) = delete;  ///< its grad can't be written: pass diff.value

    [[nodiscard]] const T& value() const { return value_; }
    /// Whether the value is the number given, but for rounding.
    [[nodiscard]] bool fits() const { return fits_; }
    /// Returns the gradient; null when there is none.
    [[nodiscard]] T* gradient() const { return gradient_; }
    [[nodiscard]] AnyTensor* pushed() const { return pushed_; }

protected:
    T value_;
    T* gradient_ = nullptr;
    AnyTensor* pushed_ = nullptr;
    bool fits_ = true;
};

/// A DiffArg for an output, whose grad is only read: a temporary Diff will do.
template <class T>
class OutputArg : public DiffArg<T> {
public:
    using DiffArg<T>::DiffArg;
    OutputArg() {}             // NOLINT(modernize-use-equals-default): as DiffArg's
    OutputArg(Diff<T>&& diff)  // NOLINT(google-explicit-constructor)
        : DiffArg<T>(diff) {}  // as a variable: it lives until the call has returned
};

namespace detail {

/// The type of a field that is made from a T: a Diff is referred to.
template <class T>
struct FieldOf {
    using type = T;
};
template <class T>
struct FieldOf<Diff<T>> {
    using type = DiffArg<T>;
};

/// Returns a field's default value, where the field is one that such a value can be; else nothing.
template <class T, class Value>
constexpr T default_of(const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, T>)
        return static_cast<T>(value);
    else
        return T{};
}

template <class... Members>
struct FieldTypes {};

/// Whether a field can become what a call takes: the same, a value for one that may have a gradient, or a
/// struct whose fields can.
template <class From, class To>
inline constexpr bool field_fits = std::same_as<From, To> || (std::is_class_v<From> && std::is_class_v<To> &&
                                                              std::convertible_to<const From&, To>);
template <class From, class T>
inline constexpr bool field_fits<From, DiffArg<T>> = std::same_as<From, DiffArg<T>> ||
                                                     std::same_as<From, T> ||
                                                     (!std::is_class_v<From> && !std::is_class_v<T> &&
                                                      ScalarFor<From, T>);

template <class From, class To, std::size_t N>
inline constexpr bool field_fits<std::array<From, N>, std::array<To, N>> =
    std::same_as<From, To> || field_fits<From, To>;

template <class From, class To>
inline constexpr bool fields_fit = false;
template <class... From, class... To>
requires(sizeof...(From) ==
         sizeof...(To)) inline constexpr bool fields_fit<FieldTypes<From...>, FieldTypes<To...>> =
    (field_fits<From, To> && ...);

template <class T, std::size_t N>
inline constexpr bool is_array_of = false;
template <class T, std::size_t N>
inline constexpr bool is_array_of<std::array<T, N>, N> = true;

/// A field as a call takes it, which an array is element by element.
template <class To, class From>
[[nodiscard]] const From& as_field(const From& field) {
    return field;
}
template <class To, class From, std::size_t N>
requires(is_array_of<To, N> && !std::same_as<To, std::array<From, N>>) [[nodiscard]] To
    as_field(const std::array<From, N>& field) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return To{as_field<typename To::value_type>(field[i])...};
    }
    (std::make_index_sequence<N>());
}
/// A struct of fields that are given as others.
template <class Struct, class... To, class... From>
[[nodiscard]] Struct with_fields(FieldTypes<To...> /*types*/, const From&... fields) {
    return {as_field<To>(fields)...};
}

}  // namespace detail

/// Where an output goes; made by kf::out(). Of a tensor it has the handle, of a number or struct a pointer,
/// which must be valid until the call returns.
template <class X>
struct Out {
    X* target = nullptr;
};

template <class T, std::size_t N>
struct Out<Tensor<T, N>> {
    Tensor<T, N> target;
};

template <class T, std::size_t N>
[[nodiscard]] Out<Tensor<T, N>> out(const Tensor<T, N>& tensor) {
    return {tensor};
}

template <HostElement X>
[[nodiscard]] Out<X> out(X& scalar) {
    return {&scalar};
}

}  // namespace kf
