// kf.HookContext: what a hook, which is called before each dispatch of a function, is given.
#pragma once

#include <kf/encoder.h>

#include <memory>

#include "python/context.h"
#include "python/function.h"
#include "python/globals.h"

namespace kf::python {

/// One call, before anything of it is looked at. Needs the GIL.
class HookContext {
public:
    using PythonClass = HookContext;

    /// `device`: null where the call's arguments say it.
    HookContext(std::shared_ptr<const FunctionInfo> info, GlobalValues globals, ContextPtr device,
                py::tuple arguments, py::dict keywords);

    void set(const py::object& values, const py::kwargs& named);
    /// Made when first asked for.
    py::object encoder();
    /// What was recorded; null where no hook has asked for the encoder.
    [[nodiscard]] Encoder* recorded() const;
    [[nodiscard]] const GlobalValues& globals() const { return globals_; }
    /// The call is over: neither this nor the encoder can be used any more.
    void end();

private:
    void check_open() const;

    std::shared_ptr<const FunctionInfo> info_;
    GlobalValues globals_;
    ContextPtr device_;
    py::tuple arguments_;
    py::dict keywords_;
    py::object encoder_;  ///< null until it is asked for
    bool is_over_ = false;
};

/// Adds one to a function's hooks, which may be null. Refuses what can't be called.
py::tuple with_hook(const std::string& function, const py::object& hooks, const py::object& callback);

/// Calls a hook; what it raises is thrown.
void call_hook(const std::string& function, const py::handle& hook, const py::object& context);

}  // namespace kf::python
