// kf.Module, kf.Function and kf.Backward.
#include "python/function.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

#include "core/artifact.h"
#include "core/choose.h"
#include "core/describe.h"
#include "core/items.h"
#include "core/mapping.h"
#include "core/python_names.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/globals.h"
#include "python/hook.h"
#include "python/launch.h"
#include "python/options.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

using manifest::Role;

class Function {
public:
    using PythonClass = Function;

    explicit Function(std::shared_ptr<const FunctionInfo> info, const Options& options = {},
                      GlobalValues globals = {}, py::object hooks = {})
        : info_(std::move(info)),
          options_(options),
          globals_(std::move(globals)),
          reached_(keywords_of(globals_, info_->globals)),
          hooks_(std::move(hooks)) {}
    [[nodiscard]] const FunctionInfo& info() const { return *info_; }
    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] const GlobalValues& globals() const { return globals_; }
    [[nodiscard]] Function with(const Options& chosen) const {
        return Function(info_, options_.with(chosen), globals_, hooks_);
    }
    /// The function of other kernels, configured as this one.
    [[nodiscard]] Function with(std::shared_ptr<const FunctionInfo> info) const {
        return Function(std::move(info), options_, globals_, hooks_);
    }
    [[nodiscard]] Function with_globals(const py::object& given, const py::kwargs& named) const {
        return Function(info_, options_,
                        set_values(info_->function.name, globals_, info_->globals, given, named), hooks_);
    }
    [[nodiscard]] Function with_hook(const py::object& callback) const {
        return Function(info_, options_, globals_, python::with_hook(info_->function.name, hooks_, callback));
    }
    /// Runs a call, with the globals that it reaches.
    py::object run(detail::PassKind pass, RecordedCalls* encoder, const py::tuple& arguments,
                   const py::dict& keywords, const Options& options) const {
        if (hooks_) return run_hooked(pass, encoder, arguments, keywords, options);
        return run(pass, encoder, arguments, keywords, options, reached_, nullptr);
    }

    /// Shows Python's garbage collector what it holds: hooks are often methods of what holds the function.
    int traverse(visitproc visit, void* arg) const noexcept {
        Py_VISIT(globals_.ptr());
        Py_VISIT(reached_.ptr());
        Py_VISIT(hooks_.ptr());
        return 0;
    }
    /// Makes no object: the garbage collector has no place for an error.
    void clear() noexcept {
        const py::object hooks = std::move(hooks_);
        const py::dict globals = std::move(globals_);
        const py::dict reached = std::move(reached_);
    }

private:
    py::object run_hooked(detail::PassKind pass, RecordedCalls* encoder, const py::tuple& arguments,
                          const py::dict& keywords, const Options& options) const;
    py::object run(detail::PassKind pass, RecordedCalls* encoder, const py::tuple& arguments,
                   const py::dict& keywords, const Options& options, const py::dict& globals,
                   Encoder* before) const {
        if (!globals || globals.empty())
            return call(*info_, pass, encoder, arguments, keywords, options, before);
        if (keywords.empty()) return call(*info_, pass, encoder, arguments, globals, options, before);
        const auto all = py::reinterpret_steal<py::dict>(PyDict_Copy(globals.ptr()));
        if (!all || PyDict_Update(all.ptr(), keywords.ptr()) != 0) throw py::error_already_set();
        return call(*info_, pass, encoder, arguments, all, options, before);
    }

    std::shared_ptr<const FunctionInfo> info_;
    Options options_;
    GlobalValues globals_;  ///< null, as all here, once it is cleared
    py::dict reached_;      ///< those of `globals_` that it reaches, as keywords of a call
    py::object hooks_;      ///< a tuple, in the order in which they are called; null for none
};

/// Hooks come first: what they set takes part in choosing the overload.
py::object Function::run_hooked(detail::PassKind pass, RecordedCalls* encoder, const py::tuple& arguments,
                                const py::dict& keywords, const Options& options) const {
    if (encoder != nullptr) (void)encoder->encoder().state();  // refuses one that is over
    const auto context = std::make_shared<HookContext>(
        info_, globals_, encoder != nullptr ? encoder->context() : nullptr, arguments, keywords);
    struct End {
        ~End() { context.end(); }
        HookContext& context;
    } const end{*context};
    const py::object given = py::cast(context);
    for (const py::handle hook : py::reinterpret_borrow<py::tuple>(hooks_))
        call_hook(info_->function.name, hook, given);
    const bool is_set = !context->globals().is(globals_);
    return run(pass, encoder, arguments, keywords, options,
               is_set ? keywords_of(context->globals(), info_->globals) : reached_, context->recorded());
}

/// A call of a function that is launched by threads, before anybody has said how many.
class UnlaunchedCall {
public:
    using PythonClass = UnlaunchedCall;

    UnlaunchedCall(Function function, detail::PassKind pass, py::tuple arguments, py::dict keywords)
        : function_(std::move(function)),
          pass_(pass),
          arguments_(std::move(arguments)),
          keywords_(std::move(keywords)) {}

    UnlaunchedCall(const UnlaunchedCall&) = delete;
    UnlaunchedCall& operator=(const UnlaunchedCall&) = delete;
    UnlaunchedCall(UnlaunchedCall&&) = default;
    UnlaunchedCall& operator=(UnlaunchedCall&&) = default;
    /// Warns of a call that nobody launched.
    ~UnlaunchedCall() {
        if (is_launched_ || !arguments_ || Py_IsInitialized() == 0) return;
        const py::error_scope kept;
        const std::string text =
            name() + ": a call was dropped without launchRaw(): threads(x, y, z) says how many threads run";
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
    }

    void launch(const py::handle& block_size, const py::handle& grid_size) {
        is_launched_ = true;
        const FunctionInfo& info = function_.info();
        Options launched;
        launched.launch = raw_launch_of(info.function.name, block_size, grid_size);
        function_.run(pass_, nullptr, arguments_, keywords_, function_.options().with(launched));
    }
    [[nodiscard]] const std::string& name() const { return function_.info().function.name; }

    int traverse(visitproc visit, void* arg) const noexcept {
        Py_VISIT(arguments_.ptr());
        Py_VISIT(keywords_.ptr());
        return function_.traverse(visit, arg);
    }
    /// The arguments' own objects break the cycles that go through them.
    void clear() noexcept { function_.clear(); }

private:
    Function function_;
    detail::PassKind pass_;
    py::tuple arguments_;  ///< null once it is moved from
    py::dict keywords_;
    bool is_launched_ = false;
};

/// The backward pass of a Function.
struct Backward {
    using PythonClass = Backward;

    Function function;
};

/// Its forward and backward pass in one.
struct Fused {
    using PythonClass = Fused;

    Function function;
};

/// Its forward derivative.
struct Jvp {
    using PythonClass = Jvp;

    Function function;
};

class LoadedModule {
public:
    using PythonClass = LoadedModule;

    explicit LoadedModule(std::shared_ptr<const Artifact> artifact)
        : all_(std::make_shared<LoadedFunctions>()) {
        all_->artifact = std::move(artifact);
    }
    void add_struct(const std::string& name, const py::object& type) { (*all_->classes)[name] = type; }
    [[nodiscard]] const manifest::Manifest& manifest() const { return all_->artifact->manifest; }
    [[nodiscard]] Function function(const std::string& name) const;

private:
    std::shared_ptr<LoadedFunctions> all_;
};

std::string names_of(const manifest::Manifest& manifest) {
    std::string text;
    for (const auto& function : manifest.functions) {
        if (!manifest::is_hidden(manifest, function)) text += (text.empty() ? "" : ", ") + function.name;
    }
    return text.empty() ? "none" : text;
}

Function LoadedModule::function(const std::string& name) const {
    const auto& functions = manifest().functions;
    const auto found = std::ranges::find(functions, name, &manifest::Function::name);
    if (found == functions.end() || manifest::is_hidden(manifest(), *found)) {
        refuse(ErrorCode::unknown_name, {manifest().name, {}},
               "no function '" + name + "'; it has " + names_of(manifest()));
    }
    return Function(info_of(all_, static_cast<std::size_t>(found - functions.begin())));
}

LoadedModule load_module(const std::filesystem::path& path) {
    const GilRelease release;
    auto artifact = std::make_shared<Artifact>();
    artifact->bytes = artifact::read_file(path.string());
    artifact->manifest = artifact::read(artifact->bytes);
    return LoadedModule(std::move(artifact));
}

/// A new Python object, with the attributes that Python's own functions have.
py::object make(const Function& function) {
    py::object object = py::cast(function);
    object.attr("__name__") = function.info().name;
    object.attr("__qualname__") = function.info().name;
    object.attr("__doc__") = function.info().documentation;
    return object;
}

/// {"result": "sum"}, or result="sum".
Function accumulated(const Function& self, const py::object& given, const py::kwargs& named) {
    const FunctionInfo& info = self.info();
    std::vector<std::pair<std::string, std::string>> words;
    const auto add = [&](const py::dict& chosen) {
        for (const auto& [name, way] : chosen) {
            if (!py::isinstance<py::str>(name) || !py::isinstance<py::str>(way)) {
                refuse(ErrorCode::type_mismatch, {info.function.name, "accumulate"},
                       "names and ways are strings, as in {\"result\": \"sum\"}, not " +
                           shown(py::reinterpret_borrow<py::object>(py::isinstance<py::str>(name) ? way
                                                                                                  : name)));
            }
            words.emplace_back(py::cast<std::string>(name), py::cast<std::string>(way));
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
    if (index == info.index) return self;
    return self.with(info_of(info, index));
}

Function variant(const Function& self, const detail::VariantRequest& request) {
    if (!request.says_anything()) return self;
    const FunctionInfo& info = self.info();
    const std::size_t index = detail::variant_function(info.artifact->manifest, info.index, request);
    if (index == info.index) return self;
    return self.with(info_of(info, index));
}

/// {"w": [1]}, or w=[1].
Function mapped(const Function& self, const py::object& given, const py::kwargs& named) {
    const FunctionInfo& info = self.info();
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
                maps.emplace_back(py::cast<std::string>(name), std::vector<std::int64_t>()).second;
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
    if (index == info.index) return self;
    return self.with(info_of(info, index));
}

Function with_options(const Function& self, const py::kwargs& given) {
    py::dict rest = given.attr("copy")();
    const std::string& name = self.info().function.name;
    const Function picked = variant(self, take_variant(name, rest));
    return picked.with(options_of(name, py::reinterpret_borrow<py::kwargs>(rest),
                                  "deterministic, variant, threads, constants, types"));
}

/// append_to(encoder, ...) and the arguments after it.
py::object append(const Function& function, detail::PassKind pass, const py::args& arguments,
                  const py::kwargs& keywords) {
    const Where where{function.info().function.name, "encoder"};
    if (arguments.empty() || !py::isinstance<RecordedCalls>(arguments[0])) {
        refuse(ErrorCode::type_mismatch, where,
               "append_to() takes a kf.Encoder first" +
                   (arguments.empty() ? std::string() : ", not " + shown(arguments[0])));
    }
    auto& encoder = py::cast<RecordedCalls&>(arguments[0]);
    const py::tuple rest = arguments[py::slice(1, static_cast<py::ssize_t>(arguments.size()), 1)];
    return function.run(pass, &encoder, rest, keywords, function.options());
}

/// "QuotientResult": the name that the generated stub gives it.
std::string result_class(const std::string& function) {
    std::string name;
    bool upper = true;
    // A forward derivative's, "quotient.jvp", and "quotient.accumulate(…)" and "quotient.options(…)" have the
    // same.
    const std::string suffix = ".jvp";
    std::string own = function.substr(0, std::min(function.find(".accumulate("), function.find(".options(")));
    if (own.ends_with(suffix)) own.resize(own.size() - suffix.size());
    for (const char letter : own) {
        const bool digit = letter >= '0' && letter <= '9';
        if (!digit && (letter < 'A' || letter > 'Z') && (letter < 'a' || letter > 'z')) {
            upper = true;  // "_", and the "." of a method
            continue;
        }
        name += upper && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
        upper = false;
    }
    return name + "Result";
}

py::object named_tuple(const FunctionInfo& info) {
    std::vector<std::string> fields;
    for (const auto& parameter : info.parameters) {
        if (parameter.tangent_of) continue;
        if (parameter.role == Role::result)
            fields.insert(fields.begin(), parameter.keyword);
        else if (is_returned(parameter))
            fields.push_back(parameter.keyword);
    }
    if (fields.size() < 2) return py::none();
    return py::module_::import("collections")
        .attr("namedtuple")(result_class(info.function.name), detail::python_result_names(fields));
}

/// The arguments of a forward derivative: tangents={"a": …} becomes one keyword for each.
py::dict with_tangents(const FunctionInfo& info, const py::kwargs& given) {
    py::dict keywords;
    for (const auto& [key, value] : given) {
        if (py::cast<std::string_view>(key) != "tangents") {
            keywords[key] = value;
            continue;
        }
        if (value.is_none()) continue;
        if (PyDict_Check(value.ptr()) == 0) {
            refuse(
                ErrorCode::type_mismatch, {info.function.name, "tangents"},
                "a dict of tangents by argument is needed, as in tangents={\"x\": dx}, not " + shown(value));
        }
        for (const auto& [name, tangent] : py::reinterpret_borrow<py::dict>(value))
            keywords[py::str("tangents." + std::string(py::str(name)))] = tangent;
    }
    return keywords;
}

/// Runs the call, or returns it where nobody has said yet how many threads it has.
py::object run_or_keep(const Function& function, detail::PassKind pass, const py::args& arguments,
                       const py::kwargs& keywords) {
    if (function.info().is_launched && !function.options().launch)
        return py::cast(UnlaunchedCall(function, pass, arguments, keywords));
    return function.run(pass, nullptr, arguments, keywords, function.options());
}

/// A copy with a count of threads.
py::object launched(const Function& self, const char* what, const py::args& count, bool in_groups) {
    const std::string& name = self.info().function.name;
    if (!self.info().is_launched) {
        refuse(ErrorCode::unknown_name, {name, what},
               "it makes a call for each element of its arguments; entry points, and calls whose spec says "
               "\"dispatch\": \"threads\", are launched by threads");
    }
    Options chosen;
    chosen.launch = launch_of(name, what, count, in_groups);
    return make(self.with(chosen));
}

/// Takes part in Python's garbage collection with what `part` returns of a T. Nothing here may make an object
/// or throw.
template <class T, auto part>
py::custom_type_setup collected() {
    return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
        PyTypeObject& type = heap_type->ht_type;
        static constexpr auto held = [](PyObject* self) noexcept {
            // Objects that __new__() alone has made hold nothing.
            const auto made = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
            return made.holder_constructed() ? &part(*made.template value_ptr<T>()) : nullptr;
        };
        const bool has_dict = (type.tp_flags & Py_TPFLAGS_HAVE_GC) != 0;
        type.tp_flags |= Py_TPFLAGS_HAVE_GC;
        if (has_dict) {
            type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
                const auto* function = held(self);
                const int result = function == nullptr ? 0 : function->traverse(visit, arg);
                return result != 0 ? result : py::detail::pybind11_traverse(self, visit, arg);
            };
            type.tp_clear = [](PyObject* self) {
                if (auto* function = held(self)) function->clear();
                return py::detail::pybind11_clear(self);
            };
            return;
        }
        type.tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
            Py_VISIT(Py_TYPE(self));
            const auto* function = held(self);
            return function == nullptr ? 0 : function->traverse(visit, arg);
        };
        type.tp_clear = [](PyObject* self) {
            if (auto* function = held(self)) function->clear();
            return 0;
        };
    });
}

template <class T>
T& itself(T& object) {
    return object;
}
template <class Pass>
Function& function_of(Pass& pass) {
    return pass.function;
}

constexpr auto forward = detail::PassKind::forward;
constexpr auto backward = detail::PassKind::backward;
constexpr auto fused = detail::PassKind::fused;

void bind_backward(py::module_& module) {
    const auto run = [](const Backward& self, const py::args& arguments, const py::kwargs& keywords) {
        return run_or_keep(self.function, backward, arguments, keywords);
    };
    py::class_<Backward>(
        module, "Backward",
        "The backward pass of a function, with its configuration.\n\n"
        "Takes the function's arguments, then its result, whose gradient flows in (1 where there "
        "is none).\nGradients of inputs accumulate into tensors' `grad_out` and differentiable "
        "values' `grad`.",
        collected<Backward, function_of<Backward>>())
        .def("__call__", run)
        .def("call", run)
        .def("append_to",
             [](const Backward& self, const py::args& arguments, const py::kwargs& keywords) {
                 append(self.function, backward, arguments, keywords);
             })
        .def("__repr__", [](const Backward& self) {
            return "<backward pass of " + self.function.info().function.name + ">";
        });
}

void bind_fused(py::module_& module) {
    const auto run = [](const Fused& self, const py::args& arguments, const py::kwargs& keywords) {
        return self.function.run(fused, nullptr, arguments, keywords, self.function.options());
    };
    py::class_<Fused>(
        module, "Fused",
        "A loss and its gradients in one launch.\n\n"
        "Takes the function's arguments and returns its result, as the function does; the gradients "
        "of the\nresult's sum are added to those that inputs carry, as by the backward pass.",
        collected<Fused, function_of<Fused>>())
        .def("__call__", run)
        .def("call", run)
        .def("append_to",
             [](const Fused& self, const py::args& arguments, const py::kwargs& keywords) {
                 return append(self.function, fused, arguments, keywords);
             })
        .def("__repr__",
             [](const Fused& self) { return "<fused pass of " + self.function.info().function.name + ">"; });
}

void bind_jvp(py::module_& module) {
    const auto run = [](const Jvp& self, const py::args& arguments, const py::kwargs& keywords) {
        const FunctionInfo& info = self.function.info();
        return self.function.run(forward, nullptr, arguments, with_tangents(info, keywords),
                                 self.function.options());
    };
    py::class_<Jvp>(
        module, "Jvp",
        "The forward derivative of a function: a Jacobian times a vector.\n\n"
        "Takes the function's arguments, and tangents={\"x\": dx} for any of its differentiable "
        "inputs;\nothers have none, which is 0. Returns two things: what the function returns, and "
        "its tangent.",
        collected<Jvp, function_of<Jvp>>())
        .def("__call__", run)
        .def("call", run)
        .def("append_to",
             [](const Jvp& self, const py::args& arguments, const py::kwargs& keywords) {
                 return append(
                     self.function, forward, arguments,
                     py::reinterpret_borrow<py::kwargs>(with_tangents(self.function.info(), keywords)));
             })
        .def("__repr__", [](const Jvp& self) { return "<" + self.function.info().function.name + ">"; });
}

}  // namespace

namespace {

/// What a method's object is called among its arguments; no Slang parameter has that name.
constexpr std::string_view object_name = "this";
/// The object's new tangent, where the method changes it: written in place, as the object is.
constexpr std::string_view object_tangent = "tangents_out.this";

void add_items(const manifest::Call& call, const manifest::ParameterTree& parameter, const std::string& name,
               const std::string& owner, std::vector<HostItem>& items) {
    if (parameter.form == manifest::Form::fields) {
        for (const auto& field : parameter.fields)
            add_items(call, field, name + "." + field.name, owner, items);
        return;
    }
    HostItem& item = items.emplace_back();
    item.name = name;
    item.role = manifest::role_of(call, parameter);
    item.of_object = name == object_name || name.starts_with(std::string(object_name) + ".");
    item.leaf = static_cast<std::size_t>(parameter.leaf);
    item.optional = call.arguments[item.leaf].tangent_of >= 0 && item.role == Role::in;
    if (parameter.form == manifest::Form::leaf) {
        item.hidden = !has_host_value(call.arguments[item.leaf]);
        return;
    }
    item.structure = &parameter;
    if (parameter.form == manifest::Form::tensor)
        item.type = struct_type(dtype_of(call, parameter), {owner, name});
}

std::string keyword_of(const std::string& name, Role role, bool jvp) {
    return role == Role::result || manifest::is_global(name) ? name : detail::python_keyword(name, jvp);
}

/// What Python's help() says: the function's own text, and its overloads.
std::string documentation_of(const manifest::Function& function) {
    std::string text = function.doc;
    if (!text.empty()) text += "\n\n";
    for (const auto& overload : function.calls) text += detail::describe(function, overload) + "\n";
    if (!text.empty()) text.pop_back();
    return text;
}

}  // namespace

std::shared_ptr<const FunctionInfo> info_of(const std::shared_ptr<LoadedFunctions>& all, std::size_t index) {
    const auto found = all->infos.find(index);
    if (found != all->infos.end()) return found->second;
    auto made = std::make_shared<const FunctionInfo>(all, index);
    // Making it may have run other threads, which made it too.
    return all->infos.try_emplace(index, std::move(made)).first->second;
}

std::shared_ptr<const FunctionInfo> info_of(const FunctionInfo& known, std::size_t index) {
    if (const auto all = known.module.lock()) return info_of(all, index);
    return info_of(std::make_shared<LoadedFunctions>(LoadedFunctions{known.artifact, known.classes, {}}),
                   index);
}

FunctionInfo::FunctionInfo(const std::shared_ptr<LoadedFunctions>& all, std::size_t number, std::size_t first)
    : artifact(all->artifact),
      module(all),
      index(number),
      function(artifact->manifest.functions[number]),
      classes(all->classes),
      name(function.name),
      documentation(documentation_of(function)) {
    std::vector<std::vector<HostParameter>> lists;
    const bool tangents = manifest::is_jvp(function);
    if (function.jvp >= 0 && first == 0) {
        jvp = info_of(all, static_cast<std::size_t>(function.jvp));
    }
    for (const auto& overload : function.calls) {
        differentiable = differentiable || overload.has_backward;
        has_fused = has_fused || overload.has_fused;
        is_launched = is_launched || overload.dispatch != manifest::Dispatch::elements;
        const bool structs = std::ranges::any_of(
            overload.parameters, [](const auto& one) { return one.form != manifest::Form::leaf; });
        has_structs = has_structs || structs;
        std::vector<HostItem>& list = items.emplace_back();
        std::vector<HostParameter>& taken = lists.emplace_back();
        for (const auto& parameter : overload.parameters) {
            const bool in_place =
                structs && (parameter.name == object_name || parameter.name == object_tangent);
            const Role role = in_place ? Role::in : manifest::role_of(overload, parameter);
            const std::string keyword = keyword_of(parameter.name, role, tangents);
            if (manifest::is_global(parameter.name)) {
                const std::string global = parameter.name.substr(manifest::global_prefix.size());
                if (std::ranges::find(globals, global) == globals.end()) globals.push_back(global);
            }
            const std::size_t before = list.size();
            add_items(overload, parameter, keyword, function.name, list);
            taken.push_back({keyword,
                             role,
                             list.size() == before + 1 && list.back().hidden,
                             {},
                             manifest::is_global(parameter.name)});
            const std::int64_t primal =
                overload.arguments[static_cast<std::size_t>(parameter.leaf)].tangent_of;
            if (primal < 0) continue;
            const auto is_primal = [&](const manifest::ParameterTree& other) { return other.leaf == primal; };
            const auto found = std::ranges::find_if(overload.parameters, is_primal);
            taken.back().tangent_of = static_cast<std::size_t>(found - overload.parameters.begin());
        }
        // An object that is no struct comes back like any argument that is written.
        for (HostItem& item : list) item.of_object = item.of_object && structs;
    }
    std::vector<std::size_t> rest;
    for (std::size_t c = 0; c < lists.size(); ++c) (lists[c] == lists[first] ? calls : rest).push_back(c);
    if (!calls.empty()) parameters = lists[first];
    results = named_tuple(*this);
    if (rest.empty()) return;
    alternatives.name = function.name;
    for (const std::size_t c : calls) alternatives.calls.push_back(function.calls[c]);
    while (first == 0 && !rest.empty()) {
        others.push_back(std::make_shared<const FunctionInfo>(all, number, rest.front()));
        const auto& taken = others.back()->calls;
        std::erase_if(rest, [&](std::size_t c) { return std::ranges::count(taken, c) > 0; });
    }
}

void bind_function(py::module_& module) {
    const auto run = [](const Function& self, const py::args& arguments, const py::kwargs& keywords) {
        return run_or_keep(self, forward, arguments, keywords);
    };
    const auto name = [](const Function& self) { return self.info().function.name; };
    bind_backward(module);
    bind_fused(module);
    bind_jvp(module);
    py::class_<UnlaunchedCall>(
        module, "UnlaunchedCall",
        "A call of a function that is launched by threads; launchRaw() says how many, and runs it.",
        collected<UnlaunchedCall, itself<UnlaunchedCall>>())
        .def("launchRaw", &UnlaunchedCall::launch, py::kw_only(), py::arg("blockSize"), py::arg("gridSize"),
             "Runs gridSize groups, each along x, y and z, of blockSize threads, which must be what the "
             "kernel was generated for.")
        .def("__repr__", [](const UnlaunchedCall& self) {
            return "<call of " + self.name() + " that waits for launchRaw(blockSize=, gridSize=)>";
        });
    py::class_<Function>(module, "Function", py::dynamic_attr(), collected<Function, itself<Function>>())
        .def("__call__", run)
        .def("call", run)
        .def("append_to",
             [](const Function& self, const py::args& arguments, const py::kwargs& keywords) {
                 return append(self, forward, arguments, keywords);
             })
        .def_property_readonly("backward",
                               [](const Function& self) -> py::object {
                                   if (!self.info().differentiable) return py::none();
                                   return py::cast(Backward{self});
                               })
        .def_property_readonly("fused",
                               [](const Function& self) -> py::object {
                                   if (!self.info().has_fused) return py::none();
                                   return py::cast(Fused{self});
                               })
        .def_property_readonly("jvp",
                               [](const Function& self) -> py::object {
                                   if (self.info().jvp == nullptr) return py::none();
                                   return py::cast(Jvp{self.with(self.info().jvp)});
                               })
        .def(
            "set",
            [](const Function& self, const py::object& values, const py::kwargs& named) {
                return make(self.with_globals(values, named));
            },
            py::arg("values") = py::none(), py::pos_only(),
            "A copy with global parameters set: set(tint=(1, 0, 0)), set({\"look.tint\": …}). What isn't "
            "named stays as it is, fields of a struct that is given as a dict too.")
        .def_property_readonly("globals", [](const Function& self) { return self.info().globals; })
        .def(
            "hook",
            [](const Function& self, const py::object& callback) { return make(self.with_hook(callback)); },
            py::arg("callback"), py::pos_only(),
            "A copy that calls `callback` with a kf.HookContext before each dispatch, its derivatives' and "
            "recorded ones too, after the hooks that it has. What the callback raises, the call raises, and "
            "nothing of it runs.")
        .def(
            "options",
            [](const Function& self, const py::kwargs& given) { return make(with_options(self, given)); },
            "A copy that is called with these options. deterministic=True: gradients that several calls "
            "add to are the same bits each time, by kernels that the call spec asks for. variant=\"tiled\": "
            "one of the call spec's variants, also by what it has, threads=[8, 8], constants={\"N\": 8} or "
            "types={\"VAL\": \"Val10\"}, where exactly one has all of that.")
        .def(
            "typeconformance",
            [](const Function& self, const py::object& types) {
                return make(variant(self, conformances_of(self.info().function.name, types)));
            },
            py::arg("types"), py::pos_only(),
            "A copy that is the variant with exactly these types behind interfaces: {\"IVal\": [\"Val10\"]}.")
        .def(
            "threads",
            [](const Function& self, const py::args& count) {
                return launched(self, "threads", count, false);
            },
            "A copy that runs so many threads, x first: of entry points, and of calls whose spec says "
            "\"dispatch\": \"threads\". Of an entry point whole groups run.")
        .def(
            "groups",
            [](const Function& self, const py::args& count) { return launched(self, "groups", count, true); },
            "A copy that runs so many groups of threads, x first: see threads().")
        .def(
            "accumulate",
            [](const Function& self, const py::object& chosen, const py::kwargs& named) {
                return make(accumulated(self, chosen, named));
            },
            py::arg("chosen") = py::none(), py::pos_only(),
            "A copy for which calls that share an element of an output or gradient are combined so, of what "
            "the call spec offers: {\"result\": \"sum\", \"a.grad\": \"push\"}, or result=\"sum\". What "
            "isn't "
            "named stays as it is.")
        .def(
            "map",
            [](const Function& self, const py::object& chosen, const py::kwargs& named) {
                return make(mapped(self, chosen, named));
            },
            py::arg("chosen") = py::none(), py::pos_only(),
            "A copy that has the dimensions of arguments there in the call, of what the call spec has: "
            "{\"w\": [1]}, or w=[1]. What isn't named may lie anywhere.")
        .def_property_readonly("name", name)
        .def_property_readonly("signatures",
                               [](const Function& self) {
                                   std::vector<std::string> texts;
                                   for (const auto& overload : self.info().function.calls) {
                                       texts.push_back(detail::describe(self.info().function, overload));
                                   }
                                   return texts;
                               })
        .def("__repr__",
             [](const Function& self) { return "<kernel function " + self.info().function.name + ">"; });
    py::class_<LoadedModule>(
        module, "Module",
        "An artifact's functions. Verified when loaded; kernels are made ready per device, on "
        "first use.")
        .def_property_readonly("name", [](const LoadedModule& self) { return self.manifest().name; })
        .def_property_readonly("functions",
                               [](const LoadedModule& self) {
                                   std::vector<std::string> names;
                                   for (const auto& function : self.manifest().functions) {
                                       if (!manifest::is_hidden(self.manifest(), function))
                                           names.push_back(function.name);
                                   }
                                   return names;
                               })
        .def(
            "function",
            [](const LoadedModule& self, const std::string& wanted) { return make(self.function(wanted)); },
            py::arg("name"))
        .def("add_struct", &LoadedModule::add_struct, py::arg("name"), py::arg("type"),
             "The class that structs of this Slang type come back as.")
        .def("__repr__",
             [](const LoadedModule& self) { return "<kernel module " + self.manifest().name + ">"; });
    module.def("load_module", &load_module, py::arg("path"), "Reads and verifies NAME.kfa.");
}

}  // namespace kf::python
