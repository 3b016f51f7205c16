// Hooks of functions: what they are given, and copies of functions that have them.
#include <kf/hook.h>
#include <kf/invoke.h>

#include "core/encoder_state.h"
#include "core/module_state.h"

namespace kf::detail {

HookedCall::HookedCall(Device device, std::shared_ptr<const GlobalValues> globals)
    : device_(std::move(device)), before_(std::move(globals)) {}

HookedCall::~HookedCall() {
    if (encoder_) {
        close_hook_encoder(*encoder_);
    }
}

Encoder& HookedCall::encoder() {
    if (!encoder_) {
        encoder_ = hook_encoder(device_.state());
    }
    return *encoder_;
}

GlobalValues& HookedCall::values() {
    if (!set_) {
        set_ = before_ ? std::make_shared<GlobalValues>(*before_) : std::make_shared<GlobalValues>();
    }
    return *set_;
}

FunctionRef with_hook(const FunctionRef& function, Hook hook) {
    check_function(function);
    auto hooks = function.hooks ? std::make_shared<std::vector<Hook>>(*function.hooks)
                                : std::make_shared<std::vector<Hook>>();
    hooks->push_back(std::move(hook));
    FunctionRef made = function;
    made.hooks = std::move(hooks);
    return made;
}

void fail_empty_hook(const FunctionRef& function) {
    check_function(function);
    throw ArgumentError(
        ErrorCode::missing_argument,
        function.module->manifest().functions.at(function.function).name + ": hook: the callback is empty");
}

FunctionRef hooked(const FunctionRef& function, std::function<void(HookContext&)> callback) {
    if (!callback) {
        fail_empty_hook(function);
    }
    return with_hook(function, [callback = std::move(callback)](HookedCall& call) {
        HookContext context(call);
        callback(context);
    });
}

}  // namespace kf::detail
