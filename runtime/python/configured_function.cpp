// Copies of functions with another configuration, and calls with it.
#include "python/configured_function.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/choose.h"
#include "core/choose_constants.h"
#include "core/items.h"
#include "core/mapping.h"
#include "python/errors.h"
#include "python/function_types.h"
#include "python/graph_block.h"
#include "python/hook.h"
#include "python/launch.h"
#include "python/options.h"
#include "python/parameter_names.h"
#include "python/scalars.h"
#include "python/watched.h"

namespace kf::python {

Function Function::with(const Options& chosen) const {
    Function copy = *this;
    copy.options_ = options_.with(chosen);
    return copy;
}

Function Function::with(std::shared_ptr<const FunctionInfo> info) const {
    Function copy = *this;
    copy.info_ = std::move(info);
    return copy;
}

Function Function::with_globals(py::handle given, const Keywords& named) const {
    Function copy = *this;
    copy.globals_ =
        set_values(info_->function.name, globals_, info_->globals, info_->written_globals, given, named);
    return copy;
}

Function Function::with_hook(const py::object& callback) const {
    Function copy = *this;
    copy.hooks_ = python::with_hook(info_->function.name, hooks_, callback);
    return copy;
}

Function Function::with_launch(std::span<PyObject* const> count, bool in_groups) const {
    const std::string& name = info_->function.name;
    const char* what = in_groups ? "groups" : "threads";
    if (!info_->is_launched) {
        refuse(ErrorCode::unknown_name, {name, what},
               "it makes a call for each element of its arguments; entry points, and calls whose spec says "
               "\"dispatch\": \"threads\", are launched by threads");
    }
    Function copy = *this;
    copy.options_.launch = launch_of(name, what, count, in_groups);
    return copy;
}

Function Function::accumulated(const py::object& given, const py::dict& named) const {
    const FunctionInfo& info = *info_;
    std::vector<std::pair<std::string, std::string>> words;
    const auto add = [&](const py::dict& chosen) {
        for (const auto& [name, way] : chosen) {
            if (!py::isinstance<py::str>(name) || !py::isinstance<py::str>(way)) {
                refuse(ErrorCode::type_mismatch, {info.function.name, "accumulate"},
                       "names and ways are strings, as in {\"result\": \"sum\"}, not " +
                           shown(py::reinterpret_borrow<py::object>(py::isinstance<py::str>(name) ? way
                                                                                                  : name)));
            }
            words.emplace_back(std::string(utf8_of(name)), std::string(utf8_of(way)));
        }
    };
    if (!given.is_none()) {
        if (!py::isinstance<py::dict>(given)) {
            refuse(ErrorCode::type_mismatch, {info.function.name, "accumulate"},
                   "a dict is needed, as in {\"result\": \"sum\"}, not " + shown(given));
        }
        add(py::reinterpret_borrow<py::dict>(given));
    }
    add(named);
    const std::vector<Accumulation> chosen(words.begin(), words.end());
    const std::size_t index = detail::chosen_function(info.artifact->manifest, info.index, chosen);
    if (index == info.index) return *this;
    return with(info_of(info, index));
}

Function Function::with(detail::VariantRequest request) const {
    if (!request.says_anything()) return *this;
    const FunctionInfo& info = *info_;
    const manifest::Manifest& manifest = info.artifact->manifest;
    const detail::ConstantValues constants =
        detail::chosen_constants(manifest, info.index, info.artifact->constants(), request.constants);
    const std::size_t index =
        request.says_anything() ? detail::variant_function(manifest, info.index, request) : info.index;
    if (constants != info.artifact->constants()) return with(info_of(info, index, constants));
    if (index == info.index) return *this;
    return with(info_of(info, index));
}

Function Function::mapped(const py::object& given, const py::dict& named) const {
    const FunctionInfo& info = *info_;
    const Where where{info.function.name, "map"};
    constexpr const char* form =
        "arguments and their dimensions in the call are needed, as in {\"w\": [1]}, not ";
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> maps;
    const auto add = [&](const py::dict& chosen) {
        for (const auto& [name, map] : chosen) {
            if (!py::isinstance<py::str>(name) ||
                (!py::isinstance<py::list>(map) && !py::isinstance<py::tuple>(map)))
                refuse(ErrorCode::type_mismatch, where, form + shown(chosen));
            auto& dimensions =
                maps.emplace_back(std::string(utf8_of(name)), std::vector<std::int64_t>()).second;
            for (const py::handle dimension : map) {
                if (!is_integer(dimension)) refuse(ErrorCode::type_mismatch, where, form + shown(chosen));
                constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
                dimensions.push_back(integer_of(dimension, where, -most, most, "of a dimension"));
            }
        }
    };
    if (!given.is_none()) {
        if (!py::isinstance<py::dict>(given)) refuse(ErrorCode::type_mismatch, where, form + shown(given));
        add(py::reinterpret_borrow<py::dict>(given));
    }
    add(named);
    const std::vector<Mapping> chosen(maps.begin(), maps.end());
    const std::size_t index = detail::mapped_function(info.artifact->manifest, info.index, chosen);
    if (index == info.index) return *this;
    return with(info_of(info, index));
}

Function Function::with_options(const py::object& given, const py::dict& named) const {
    const std::string& name = info_->function.name;
    py::dict all = named;
    if (!given.is_none()) {
        if (!py::isinstance<py::dict>(given)) {
            refuse(ErrorCode::type_mismatch, {name, "options"},
                   "a dict is needed, as in {\"variant\": \"tiled\"}, not " + shown(given));
        }
        all = py::dict();
        for (const py::dict& part : {py::reinterpret_borrow<py::dict>(given), named}) {
            for (const auto& [option, value] : part) all[option] = value;
        }
    }
    const Function picked = with(take_variant(name, all));
    return picked.with(options_of(name, all, "deterministic, variant, threads, constants, types"));
}

Function Function::with_results(const py::object& type) const {
    Function copy = *this;
    copy.results_ = asked_form(type);
    if (copy.results_ == ResultForm::usual && !type.is_none()) {
        refuse(
            ErrorCode::type_mismatch, {info_->function.name, "return_type"},
            "kf.Tensor, np.ndarray or torch.Tensor is needed, or \"tensor\", \"numpy\" or \"torch\", not " +
                shown(type));
    }
    return copy;
}

Function Function::with_conformances(const py::object& types) const {
    return with(conformances_of(info_->function.name, types));
}

py::object Function::run(detail::PassKind pass, RecordedCalls* encoder, Arguments arguments,
                         const Options& options, PyObject* object) const {
    // A graph may go, and its block may end, while arguments are converted.
    std::shared_ptr<RecordedCalls> block;
    if (encoder == nullptr) block = recording();
    if (block != nullptr) encoder = block.get();
    std::optional<WatchedCall> watched;
    const auto called = [&] {
        return object != nullptr ? py::reinterpret_borrow<py::object>(object) : make_function(with(options));
    };
    const bool may_cast =
        pass == detail::PassKind::forward && encoder == nullptr && !manifest::is_jvp(info_->function);
    try {
        arguments.globals = globals_;
        if (may_cast && hooks_ && is_autocast()) {
            if (py::object result = call_with_casts(called(), arguments)) return result;
        }
        arguments.results = results_;
        py::object result = hooks_ ? run_with_hooks(pass, encoder, arguments, options, watched)
                                   : call(*info_, pass, encoder, arguments, options, watched);
        if (!watched) return result;
    } catch (const WatchedCall& thrown) {
        watched = thrown;
    } catch (const ArgumentError& error) {
        // Hooks have been called by now, and would be again.
        if (!may_cast || hooks_ || !is_refused_under_autocast(error)) throw;
        if (py::object result = call_with_casts(called(), arguments)) return result;
        throw;
    }
    if (results_ == ResultForm::array || results_ == ResultForm::tensor) {
        refuse(ErrorCode::type_mismatch, {info_->function.name, "return_type"},
               "PyTorch follows the call, whose results are torch.Tensors then: detach() the arguments, or "
               "call under torch.no_grad()");
    }
    return call_watched(called(), *this, pass, encoder != nullptr, arguments, *watched);
}

/// Hooks come first: what they set takes part in choosing the overload.
py::object Function::run_with_hooks(detail::PassKind pass, RecordedCalls* encoder, const Arguments& arguments,
                                    const Options& options, std::optional<WatchedCall>& watched) const {
    // Before anybody is called: the call may be made anew, which calls them.
    meet_tensors(arguments, pass);
    if (encoder != nullptr) encoder->check_open();
    const auto context =
        std::make_shared<HookContext>(info_, encoder != nullptr ? encoder->context() : nullptr, arguments);
    struct End {
        ~End() { context.end(); }
        HookContext& context;
    } const end{*context};
    const py::object given = py::cast(context);
    for (const py::handle hook : py::reinterpret_borrow<py::tuple>(hooks_))
        call_hook(info_->function.name, hook, given);
    // Other threads may have the context still, and are refused from here on.
    std::optional<Encoder> recorded = context->take_recorded();
    Arguments with_theirs = arguments;
    with_theirs.globals = context->globals();
    return call(*info_, pass, encoder, with_theirs, options, watched, recorded ? &*recorded : nullptr);
}

}  // namespace kf::python
