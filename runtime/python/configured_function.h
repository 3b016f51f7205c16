// A function with its configuration, and its copies with another.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "core/variants.h"
#include "python/arguments.h"
#include "python/function.h"

namespace kf::python {

/// Immutable, until the garbage collector clears it: what configures it makes a copy.
class Function {
public:
    explicit Function(std::shared_ptr<const FunctionInfo> info) : info_(std::move(info)) {}

    [[nodiscard]] const FunctionInfo& info() const { return *info_; }
    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] const GlobalValues& globals() const { return globals_; }
    /// What return_type() said.
    [[nodiscard]] ResultForm results() const { return results_; }
    [[nodiscard]] bool has_hooks() const { return static_cast<bool>(hooks_); }
    /// Whether the function is launched by threads, and nobody has said how many.
    [[nodiscard]] bool needs_launch() const { return info_->is_launched && !options_.launch; }

    /// Tells whether the function has globals or hooks, which nothing but the object itself says.
    [[nodiscard]] bool is_configured() const { return static_cast<bool>(hooks_) || globals_.size() > 0; }

    [[nodiscard]] Function with(const Options& chosen) const;
    /// The function of other kernels, configured as this one.
    [[nodiscard]] Function with(std::shared_ptr<const FunctionInfo> info) const;
    /// set({"tint": 2}, gain=3); `given` is null or None for none.
    [[nodiscard]] Function with_globals(py::handle given, const Keywords& named) const;
    [[nodiscard]] Function with_hook(const py::object& callback) const;
    /// threads(x, y, z), and groups(x, y, z).
    [[nodiscard]] Function with_launch(std::span<PyObject* const> count, bool in_groups) const;
    /// options({"deterministic": True}, variant="tiled").
    [[nodiscard]] Function with_options(const py::object& given, const py::dict& named) const;
    /// return_type(np.ndarray), and return_type("numpy").
    [[nodiscard]] Function with_results(const py::object& type) const;
    /// typeconformance({"IVal": ["Val10"]}).
    [[nodiscard]] Function with_conformances(const py::object& types) const;
    /// accumulate({"result": "sum"}, result="sum").
    [[nodiscard]] Function accumulated(const py::object& given, const py::dict& named) const;
    /// map({"w": [1]}, w=[1]).
    [[nodiscard]] Function mapped(const py::object& given, const py::dict& named) const;

    /// Runs a call with the globals that are set, after its hooks. `object`: the Python object that is
    /// called, where its options are all there are; else null.
    py::object run(detail::PassKind pass, RecordedCalls* encoder, Arguments arguments, const Options& options,
                   PyObject* object) const;

    /// Shows Python's garbage collector what it holds: hooks are often methods of what holds the function.
    int traverse(visitproc visit, void* arg) const noexcept {
        Py_VISIT(hooks_.ptr());
        return globals_.traverse(visit, arg);
    }
    /// Makes no object: the garbage collector has no place for an error.
    void clear() noexcept {
        const py::object hooks = std::move(hooks_);
        const GlobalValues globals = std::move(globals_);
    }

private:
    [[nodiscard]] Function with(detail::VariantRequest request) const;
    py::object run_with_hooks(detail::PassKind pass, RecordedCalls* encoder, const Arguments& arguments,
                              const Options& options, std::optional<WatchedCall>& watched) const;

    std::shared_ptr<const FunctionInfo> info_;
    Options options_;
    GlobalValues globals_;
    ResultForm results_ = ResultForm::usual;
    py::object hooks_;  ///< a tuple, in the order in which they are called; null for none
};

}  // namespace kf::python
