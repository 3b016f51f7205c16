// Signatures, of which generated functions are made, and which become their members that call and record.
#pragma once

#include <cstddef>
#include <type_traits>

#include <kf/call_items.h>
#include <kf/encoder.h>
#include <kf/error.h>
#include <kf/function_ref.h>
#include <kf/pass_kind.h>
#include <kf/prepared.h>

namespace kf {

using detail::PassKind;

/// One overload: the number of its call in the artifact, what it takes and returns, and, where that doesn't
/// say all, details.
template <std::size_t call, class Signature, class... Details>
struct Overload;

namespace detail {

/// Reaches into functions for the classes that they are made of.
struct Access {
    template <class Function>
    static const FunctionRef& of(const Function& function) {
        return function.function_;
    }
};

/// Whether dropping what an overload returns is a mistake: it does nothing else.
template <PassKind pass, class Overload>
inline constexpr bool is_kept = false;
template <std::size_t call, class R, class... Args, class... Details>
inline constexpr bool is_kept<PassKind::forward, Overload<call, R(Args...), Details...>> =
    !std::is_void_v<R> && !has<InPlace, Details...> &&
    !((direction_of<Args> == Direction::out || is_out<std::remove_cvref_t<Args>>) || ...);

/// The members of one overload of `Function`, the kf::Overloads that it is one of.
template <class Function, PassKind pass, class Overload, bool kept = is_kept<pass, Overload>>
class Member;

template <class Function, PassKind pass, std::size_t call, class R, class... Args, class... Details>
class Member<Function, pass, Overload<call, R(Args...), Details...>, false> {
    using Run = Runner<pass, call, R, Details...>;

public:
    R operator()(Args... args) const requires(!has<RecordOnly, Details...>) {
        return Run::template run<Args...>(Access::of(static_cast<const Function&>(*this)), nullptr, args...);
    }
    Result<R> try_call(Args... args) const requires(!has<RecordOnly, Details...>) {
        const FunctionRef& function = Access::of(static_cast<const Function&>(*this));
        return attempt([&] { return Run::template run<Args...>(function, nullptr, args...); });
    }
    R append_to(Encoder& encoder, Args... args) const requires(!has<CallOnly, Details...>) {
        return Run::template run<Args...>(Access::of(static_cast<const Function&>(*this)), &encoder, args...);
    }
    Result<R> try_append_to(Encoder& encoder, Args... args) const requires(!has<CallOnly, Details...>) {
        const FunctionRef& function = Access::of(static_cast<const Function&>(*this));
        return attempt([&] { return Run::template run<Args...>(function, &encoder, args...); });
    }
    [[nodiscard]] Prepared<R> prepare(Args... args) const requires(!has<CallOnly, Details...>) {
        const FunctionRef& function = Access::of(static_cast<const Function&>(*this));
        return detail::prepare(function, [&](Encoder& encoder) {
            return Run::template run<Args...>(function, &encoder, args...);
        });
    }
    Result<Prepared<R>> try_prepare(Args... args) const requires(!has<CallOnly, Details...>) {
        return attempt([&] { return prepare(args...); });
    }
};

/// A member whose result must not be ignored.
template <class Function, PassKind pass, std::size_t call, class R, class... Args, class... Details>
class Member<Function, pass, Overload<call, R(Args...), Details...>, true> {
    using Run = Runner<pass, call, R, Details...>;

public:
    [[nodiscard]] R operator()(Args... args) const requires(!has<RecordOnly, Details...>) {
        return Run::template run<Args...>(Access::of(static_cast<const Function&>(*this)), nullptr, args...);
    }
    Result<R> try_call(Args... args) const requires(!has<RecordOnly, Details...>) {
        const FunctionRef& function = Access::of(static_cast<const Function&>(*this));
        return attempt([&] { return Run::template run<Args...>(function, nullptr, args...); });
    }
    [[nodiscard]] R append_to(Encoder& encoder, Args... args) const requires(!has<CallOnly, Details...>) {
        return Run::template run<Args...>(Access::of(static_cast<const Function&>(*this)), &encoder, args...);
    }
    Result<R> try_append_to(Encoder& encoder, Args... args) const requires(!has<CallOnly, Details...>) {
        const FunctionRef& function = Access::of(static_cast<const Function&>(*this));
        return attempt([&] { return Run::template run<Args...>(function, &encoder, args...); });
    }
    [[nodiscard]] Prepared<R> prepare(Args... args) const requires(!has<CallOnly, Details...>) {
        const FunctionRef& function = Access::of(static_cast<const Function&>(*this));
        return detail::prepare(function, [&](Encoder& encoder) {
            return Run::template run<Args...>(function, &encoder, args...);
        });
    }
    Result<Prepared<R>> try_prepare(Args... args) const requires(!has<CallOnly, Details...>) {
        return attempt([&] { return prepare(args...); });
    }
};

}  // namespace detail

/// A function, or one of its derivatives, by its overloads. Calling it runs it; try_call() does too, and
/// returns its error instead of throwing it; append_to() records it, to run when the encoder is submitted;
/// prepare() fixes its tensors and shapes, so that it runs often, with values that can be set. Thread-safe.
/// Functions with the same overloads share this class, so that a compiler has little to do for each.
template <detail::PassKind pass, class... Overloads_>
class Overloads : public detail::Member<Overloads<pass, Overloads_...>, pass, Overloads_>... {
public:
    /// Calls the loaded function that was generated with these overloads.
    explicit Overloads(const detail::FunctionRef& function) : function_(function) {}

    using detail::Member<Overloads, pass, Overloads_>::operator()...;
    using detail::Member<Overloads, pass, Overloads_>::try_call...;
    using detail::Member<Overloads, pass, Overloads_>::append_to...;
    using detail::Member<Overloads, pass, Overloads_>::try_append_to...;

    using detail::Member<Overloads, pass, Overloads_>::prepare...;
    using detail::Member<Overloads, pass, Overloads_>::try_prepare...;

private:
    friend struct detail::Access;

    detail::FunctionRef function_;
};

}  // namespace kf
