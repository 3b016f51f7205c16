// The items of a call, made of a generated function's arguments and results: see kf/overload.h.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <kf/encoder.h>
#include <kf/function_ref.h>
#include <kf/invoke.h>
#include <kf/pass_kind.h>

namespace kf {

/// A detail: it can't be recorded, for it leaves values on the host.
struct CallOnly;
/// A detail: it can only be recorded; another overload is called.
struct RecordOnly;
/// A detail: a tensor that it is given is changed, so that what it returns may be all right to drop.
struct InPlace;
/// A detail: the last argument isn't passed on, but says what shape the call has.
struct Shaped;
/// A detail: what stands for each item of the call, of all that is given and returned, counted from 0 in that
/// order, structs by fields field by field. Without it each stands for itself.
template <int... which>
struct Items;

namespace item {

/// Stands for an item that is not given.
inline constexpr int none = -1;
inline constexpr int as_inout = 1 << 16;
inline constexpr int as_in = 2 << 16;
/// The item of an argument that is given to be written, and is read, too.
[[nodiscard]] constexpr int inout(int given) { return given + as_inout; }
/// The item of an argument that is given to be written, and is only read.
[[nodiscard]] constexpr int in(int given) { return given + as_in; }

}  // namespace item

namespace detail {

template <class T, std::size_t n, std::size_t... i>
auto tied(std::array<T, n>& array, std::index_sequence<i...> /*all*/) {
    return std::tie(array[i]...);
}

/// The elements of an array that isn't one value; the fields of generated structs, found by their namespaces.
template <class T, std::size_t n>
requires(!HostElement<T>) auto kf_parts(std::array<T, n>& array) {
    return tied(array, std::make_index_sequence<n>());
}

template <class T>
concept HasParts = requires(T& whole) {
    kf_parts(whole);
};

template <class T>
inline constexpr bool is_out = false;
template <class X>
inline constexpr bool is_out<Out<X>> = true;

/// Whether a value goes in, comes out, does both, or is returned.
enum class Direction : std::uint8_t { in, out, inout, returned };

/// Parameters that a function can write to are outputs, unless an item says more.
template <class Parameter>
inline constexpr Direction direction_of =
    std::is_lvalue_reference_v<Parameter> && !std::is_const_v<std::remove_reference_t<Parameter>>
        ? Direction::out
        : Direction::in;

template <Direction direction, class T>
Arg arg_of(T& given) {
    using Type = std::remove_const_t<T>;
    if constexpr (is_out<Type>) {
        return Arg::out(given);
    } else if constexpr (!HostElement<Type>) {
        if constexpr (direction == Direction::returned) return Arg::none();
        return Arg::in(given);
    } else if constexpr (direction == Direction::in) {
        return Arg::in(given);
    } else if constexpr (direction == Direction::inout) {
        return Arg::inout(given);
    } else {
        return Arg::out(given);
    }
}

/// One thing that may stand for an item.
template <class T, Direction which>
struct Leaf {
    static constexpr Direction direction = which;
    static constexpr bool is_made = which == Direction::returned && !HostElement<T>;

    T& place;
};

template <Direction direction, class T>
auto leaves_of(T& given) {
    using Type = std::remove_const_t<T>;
    if constexpr (HasParts<Type>) {
        // The const_cast is safe: parts that aren't to be written aren't.
        return std::apply([](auto&... parts) { return std::tuple_cat(leaves_of<direction>(parts)...); },
                          kf_parts(const_cast<Type&>(given)));
    } else {
        return std::tuple<Leaf<T, direction>>{{given}};
    }
}

/// The leaf that stands for an item, as the item says.
template <int which, class Leaves>
Arg item_of(Leaves& leaves) {
    if constexpr (which < 0) {
        return Arg::none();
    } else {
        auto& leaf = std::get<which&(item::as_inout - 1)>(leaves);
        constexpr Direction own = std::remove_reference_t<decltype(leaf)>::direction;
        constexpr int said = which & ~(item::as_inout - 1);
        return arg_of < said == item::as_inout ? Direction::inout
               : said == item::as_in           ? Direction::in
                                               : own > (leaf.place);
    }
}

/// Returns what the call has made for an absent output.
template <class R>
R made_for(Arg& item) {
    if constexpr (AnyOfTexture<R>) {
        return R(std::move(item.allocated_texture));
    } else {
        return R(std::move(item.allocated));
    }
}

/// Puts what the call has made for an item to where it is returned.
template <int which, class Leaves>
void take_made(Leaves& leaves, Arg& item) {
    if constexpr (which >= 0) {
        auto& leaf = std::get<which&(item::as_inout - 1)>(leaves);
        using Taken = std::remove_reference_t<decltype(leaf)>;
        if constexpr (Taken::is_made)
            leaf.place = made_for<std::remove_reference_t<decltype(leaf.place)>>(item);
    }
}

template <class... Details>
struct ItemsOf {
    static constexpr bool given = false;
};
template <int... which, class... Rest>
struct ItemsOf<Items<which...>, Rest...> {
    static constexpr bool given = true;
    using type = std::integer_sequence<int, which...>;
};
template <class First, class... Rest>
struct ItemsOf<First, Rest...> : ItemsOf<Rest...> {};

/// A call whose items stand in another order, or are parts of what is given.
template <PassKind pass, std::size_t call, class... Details, class Leaves, int... which>
void invoke_items(const FunctionRef& function, Encoder* encoder, const Dims* shape, Leaves leaves,
                  std::integer_sequence<int, which...> /*items*/) {
    std::array<Arg, sizeof...(which)> items{item_of<which>(leaves)...};
    invoke(function, call, pass, items, encoder, shape);
    std::size_t at = 0;
    (take_made<which>(leaves, items[at++]), ...);
}

template <class Detail, class... Details>
inline constexpr bool has = (std::same_as<Detail, Details> || ...);

/// Calls and records one overload.
template <PassKind pass, std::size_t call, class R, class... Details>
struct Runner {
    template <class... Args>
    static R run(const FunctionRef& function, Encoder* encoder, std::remove_reference_t<Args>&... args) {
        constexpr bool parts = (HasParts<std::remove_cvref_t<Args>> || ... || HasParts<R>);
        if constexpr (ItemsOf<Details...>::given || has<Shaped, Details...> || parts) {
            return run_items<Args...>(function, encoder, args...);
        } else if constexpr (std::is_void_v<R>) {
            std::array<Arg, sizeof...(Args)> items{arg_of<direction_of<Args>>(args)...};
            invoke(function, call, pass, items, encoder);
        } else if constexpr (HostElement<R>) {
            R result{};
            std::array<Arg, sizeof...(Args) + 1> items{arg_of<direction_of<Args>>(args)..., Arg::out(result)};
            invoke(function, call, pass, items, encoder);
            return result;
        } else {
            std::array<Arg, sizeof...(Args) + 1> items{arg_of<direction_of<Args>>(args)..., Arg::none()};
            invoke(function, call, pass, items, encoder);
            return made_for<R>(items.back());
        }
    }

private:
    template <class... Args>
    static R run_items(const FunctionRef& function, Encoder* encoder,
                       std::remove_reference_t<Args>&... args) {
        if constexpr (has<Shaped, Details...>) {
            const auto all = std::tie(args...);
            const Dims shape(std::get<sizeof...(Args) - 1>(all));
            return [&]<std::size_t... i>(std::index_sequence<i...>) {
                return with_result(function, encoder, &shape,
                                   leaves_of<direction_of<std::tuple_element_t<i, std::tuple<Args...>>>>(
                                       std::get<i>(all))...);
            }
            (std::make_index_sequence<sizeof...(Args) - 1>());
        } else {
            return with_result(function, encoder, nullptr, leaves_of<direction_of<Args>>(args)...);
        }
    }

    template <class... Leaves>
    static R with_result(const FunctionRef& function, Encoder* encoder, const Dims* shape, Leaves... leaves) {
        if constexpr (std::is_void_v<R>) {
            invoke_leaves(function, encoder, shape, std::tuple_cat(leaves...));
        } else {
            R result{};
            invoke_leaves(function, encoder, shape,
                          std::tuple_cat(leaves..., leaves_of<Direction::returned>(result)));
            return result;
        }
    }

    template <class Leaves>
    static void invoke_leaves(const FunctionRef& function, Encoder* encoder, const Dims* shape,
                              Leaves leaves) {
        if constexpr (ItemsOf<Details...>::given) {
            invoke_items<pass, call>(function, encoder, shape, leaves, typename ItemsOf<Details...>::type());
        } else {
            constexpr int count = std::tuple_size_v<Leaves>;
            invoke_items<pass, call>(function, encoder, shape, leaves,
                                     std::make_integer_sequence<int, count>());
        }
    }
};

}  // namespace detail
}  // namespace kf
