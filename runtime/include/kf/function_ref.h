// A function of a loaded module as generated wrappers and the Python extension hold it, with its
// configuration.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kf/global_values.h>
#include <kf/hook.h>
#include <kf/module.h>
#include <kf/options.h>

namespace kf::detail {

class Change;

/// A function of a loaded module, and how it is configured. Copies are cheap and independent. They are made
/// in the runtime: a module of many functions would take a compiler long to copy.
struct FunctionRef {
    std::shared_ptr<ModuleState> module;
    std::size_t function = 0;
    Options options{};
    std::shared_ptr<const GlobalValues> globals{};     ///< null: none is set
    std::shared_ptr<const std::vector<Hook>> hooks{};  ///< in the order in which they are called; null: none

    FunctionRef();
    FunctionRef(std::shared_ptr<ModuleState> its_module, std::size_t index, Options chosen = {})
        : module(std::move(its_module)), function(index), options(std::move(chosen)) {}
    FunctionRef(const FunctionRef& other);
    FunctionRef(FunctionRef&& other) noexcept;
    FunctionRef& operator=(const FunctionRef& other);
    FunctionRef& operator=(FunctionRef&& other) noexcept;
    ~FunctionRef();

    /// A copy with what is set in `chosen`. Throws ArgumentError (unknown_name) for a variant that the
    /// function doesn't have.
    [[nodiscard]] FunctionRef with(const Options& chosen) const;
    /// A copy with other values of globals; those that it doesn't reach count for nothing.
    [[nodiscard]] FunctionRef with(GlobalValues values) const;
    /// The values that are set, to set more of them.
    [[nodiscard]] GlobalValues global_values() const;
};

/// The variant of that name, with the function's options and ways to accumulate. Throws as with().
FunctionRef variant_of(const FunctionRef& function, std::string_view name);

/// The function that combines them so; what isn't named stays as it is. Throws ArgumentError (unknown_name)
/// for what the call spec doesn't offer.
FunctionRef accumulated(const FunctionRef& function, std::span<const Accumulation> chosen);

/// The function, or the variant of it, that places arguments so in the call; what isn't named may lie
/// anywhere. Throws ArgumentError (unknown_name) for what wasn't generated.
FunctionRef mapped(const FunctionRef& function, std::span<const Mapping> chosen);

/// Returns the function's forward derivative, which must exist: it takes the arguments and their tangents.
FunctionRef jvp_of(const FunctionRef& function);

/// A copy that calls the hook before each dispatch, after the hooks that it has.
FunctionRef with_hook(const FunctionRef& function, Hook hook);
/// Returns `function` with a hook: the callback runs before each of its dispatches. Throws ArgumentError
/// (missing_argument) for an empty callback.
FunctionRef hooked(const FunctionRef& function, std::function<void(HookContext&)> callback);
[[noreturn]] void fail_empty_hook(const FunctionRef& function);

/// Returns `function` with a hook that can also set the module's globals: `put` turns its struct of globals
/// into what a call is given.
template <class Globals>
FunctionRef hooked(const FunctionRef& function, std::function<void(HookContextOf<Globals>&)> callback,
                   typename HookContextOf<Globals>::Put put) {
    if (!callback) fail_empty_hook(function);
    return with_hook(function, [callback = std::move(callback), put](HookedCall& call) {
        HookContextOf<Globals> context(call, put);
        callback(context);
    });
}

}  // namespace kf::detail
