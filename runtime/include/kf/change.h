// How the functions of a generated module are configured all at once.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include <kf/configured.h>
#include <kf/function_ref.h>
#include <kf/global_values.h>
#include <kf/options.h>
#include <kf/overload.h>

namespace kf::detail {

/// The arguments that a function takes besides a hook, which all take.
enum class Takes : std::uint8_t { nothing = 0, options = 1, globals = 2, both = 3 };

/// Makes functions anew with something more configured. What a function doesn't take leaves it as it is.
class Change {
public:
    /// Options: the change refers to them.
    static Change of_options(const Options& chosen);
    /// A hook: the change refers to the callback.
    template <class Context>
    static Change of_hook(const std::function<void(Context&)>& callback) {
        return {Takes::nothing,
                [&callback](const FunctionRef& function) { return hooked_by(function, callback); }};
    }
    /// Values of global parameters: the change refers to them.
    template <class Globals>
    static Change of_globals(const Globals& values) {
        return {Takes::globals, [&values](const FunctionRef& function) {
                    GlobalValues all = function.global_values();
                    put_values(values, all);
                    return function.with(std::move(all));
                }};
    }

    template <class Function>
    [[nodiscard]] FunctionRef operator()(const Function& function, Takes takes = Takes::nothing) const {
        return made(Access::of(function), takes);
    }

private:
    Change(Takes needed, std::function<FunctionRef(const FunctionRef&)> make)
        : needed_(needed), make_(std::move(make)) {}

    [[nodiscard]] FunctionRef made(const FunctionRef& function, Takes takes) const;

    Takes needed_;
    std::function<FunctionRef(const FunctionRef&)> make_;
};

}  // namespace kf::detail
