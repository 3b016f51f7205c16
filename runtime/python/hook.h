// kf.HookContext: what a hook, which is called before each dispatch of a function, is given.
#pragma once

#include <kf/encoder.h>

#include <memory>

#include "python/arguments.h"
#include "python/context.h"
#include "python/function.h"

namespace kf::python {

/// One call, before anything of it is looked at. Needs the GIL.
class HookContext {
public:
    using PythonClass = HookContext;

    /// `device`: null where the call's arguments say it.
    HookContext(std::shared_ptr<const FunctionInfo> info, ContextPtr device, const Arguments& arguments)
        : info_(std::move(info)),
          globals_(arguments.globals),
          device_(std::move(device)),
          arguments_(&arguments) {}

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
    const Arguments* arguments_;  ///< null once it is over
    py::object encoder_;          ///< null until it is asked for
};

/// Adds one to a function's hooks, which may be null. Refuses what can't be called.
py::tuple with_hook(const std::string& function, const py::object& hooks, const py::object& callback);

/// Calls a hook; what it raises is thrown.
void call_hook(const std::string& function, const py::handle& hook, const py::object& context);

}  // namespace kf::python
