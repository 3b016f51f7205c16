// Bases of generated functions, each of which adds one way to configure them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>

#include <kf/function_ref.h>
#include <kf/global_values.h>
#include <kf/hook.h>
#include <kf/options.h>
#include <kf/overload.h>

namespace kf {

/// Functions for which options mean something.
template <class Function>
class WithOptions {
public:
    /// A copy that is called so.
    [[nodiscard]] Function options(const Options& chosen) const {
        return Function(detail::Access::of(static_cast<const Function&>(*this)).with(chosen));
    }
};

/// Functions whose calls may share elements.
template <class Function>
class WithAccumulate {
public:
    /// A copy for which calls that share an element are combined so; what isn't named stays as it is.
    [[nodiscard]] Function accumulate(std::initializer_list<Accumulation> chosen) const {
        return Function(detail::accumulated(detail::Access::of(static_cast<const Function&>(*this)), chosen));
    }
};

/// Functions that were generated for several ways in which arguments lie in the call.
template <class Function>
class WithMaps {
public:
    /// A copy that has the dimensions of arguments there in the call.
    [[nodiscard]] Function map(std::initializer_list<Mapping> chosen) const {
        return Function(detail::mapped(detail::Access::of(static_cast<const Function&>(*this)), chosen));
    }
};

/// Functions that the host launches thread by thread.
template <class Function>
class WithThreads {
public:
    /// A copy that runs so many threads; the last group may have more.
    [[nodiscard]] Function threads(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) const {
        return launched(Launch::threads(x, y, z));
    }
    /// A copy that runs so many groups of threads.
    [[nodiscard]] Function groups(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) const {
        return launched(Launch::groups(x, y, z));
    }

private:
    Function launched(const Launch& launch) const {
        return Function(
            detail::Access::of(static_cast<const Function&>(*this)).with(Options{.launch = launch}));
    }
};

/// Functions that reach global parameters, of which `Globals` holds values.
template <class Function, class Globals>
class WithGlobals {
public:
    /// A copy with these globals set.
    [[nodiscard]] Function set(const Globals& values) const {
        const detail::FunctionRef& function = detail::Access::of(static_cast<const Function&>(*this));
        detail::GlobalValues all = function.global_values();
        put_values(values, all);
        return Function(function.with(std::move(all)));
    }
};

namespace detail {

inline FunctionRef hooked_by(const FunctionRef& function, std::function<void(HookContext&)> callback) {
    return hooked(function, std::move(callback));
}
template <class Globals>
FunctionRef hooked_by(const FunctionRef& function, std::function<void(HookContextOf<Globals>&)> callback) {
    return hooked<Globals>(function, std::move(callback),
                           [](const Globals& values, GlobalValues& all) { put_values(values, all); });
}

}  // namespace detail

/// All functions.
template <class Function, class Context = HookContext>
class WithHooks {
public:
    /// A copy that calls `callback` before each dispatch, its derivatives' too, after the hooks that it has.
    /// What the callback throws, the call throws, and nothing of it runs.
    [[nodiscard]] Function hook(std::function<void(Context&)> callback) const {
        return Function(
            detail::hooked_by(detail::Access::of(static_cast<const Function&>(*this)), std::move(callback)));
    }
};

}  // namespace kf
