// kf.HookContext: what a hook, which is called before each dispatch of a function, is given.
#pragma once

#include <kf/encoder.h>

#include <memory>
#include <optional>

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
    [[nodiscard]] const GlobalValues& globals() const { return globals_; }
    /// Neither this nor the encoder can be used any more.
    void end() noexcept;
    /// The same, once the hooks have returned: what was recorded is the call's; nothing where none has asked
    /// for the encoder. Refuses to while a thread records.
    [[nodiscard]] std::optional<Encoder> take_recorded();

private:
    void check_open() const;
    [[nodiscard]] ContextPtr device_of_arguments() const;

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
