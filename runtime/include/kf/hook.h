// kf::HookContext: what a hook, which is called before each dispatch of a function, is given.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <kf/device.h>
#include <kf/encoder.h>
#include <kf/global_values.h>

namespace kf {

namespace detail {

/// The settings and calls of one call's hooks so far. Lives while they run and the call is made.
class HookedCall {
public:
    HookedCall(Device device, std::shared_ptr<const GlobalValues> globals);
    /// Closes the encoder: whoever still has it can't use it any more.
    ~HookedCall();
    HookedCall(const HookedCall&) = delete;
    HookedCall& operator=(const HookedCall&) = delete;

    [[nodiscard]] const Device& device() const { return device_; }
    /// Returns the encoder, which is made when it is first asked for.
    [[nodiscard]] Encoder& encoder();
    /// Returns the encoder; null where no hook has asked for it.
    [[nodiscard]] Encoder* recorded() { return encoder_ ? &*encoder_ : nullptr; }
    /// The call's globals, to set more of them.
    [[nodiscard]] GlobalValues& values();
    [[nodiscard]] std::shared_ptr<const GlobalValues> globals() const { return set_ ? set_ : before_; }

private:
    Device device_;
    std::shared_ptr<const GlobalValues> before_;
    std::shared_ptr<GlobalValues> set_;
    std::optional<Encoder> encoder_;
};

}  // namespace detail

/// One call of a function, before anything of it is checked or launched. Valid until the hook returns. Not
/// thread-safe.
class HookContext {
public:
    explicit HookContext(detail::HookedCall& call) : call_(call) {}
    HookContext(const HookContext&) = delete;
    HookContext& operator=(const HookContext&) = delete;

    /// Returns an encoder whose calls run right before the call: in the encoder of append_to(), and on the
    /// device where the call is made directly. None of them does where the call is refused, or a hook
    /// throws. The encoder can't be submitted.
    [[nodiscard]] Encoder& encoder() { return call_.encoder(); }
    /// The module's device.
    [[nodiscard]] const Device& device() const { return call_.device(); }

protected:
    [[nodiscard]] detail::HookedCall& call() { return call_; }

private:
    detail::HookedCall& call_;
};

/// The context of hooks in a module with global parameters, whose generated struct is `Globals`.
template <class Globals>
class HookContextOf final : public HookContext {
public:
    using Put = void (*)(const Globals& values, detail::GlobalValues& all);

    HookContextOf(detail::HookedCall& call, Put put) : HookContext(call), put_(put) {}

    /// Sets globals for this call alone. What is absent stays as it is.
    void set(const Globals& values) { put_(values, call().values()); }

private:
    Put put_;
};

namespace detail {

using Hook = std::function<void(HookedCall&)>;

}  // namespace detail
}  // namespace kf
