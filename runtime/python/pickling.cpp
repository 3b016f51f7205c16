// What pickle makes of functions, and what it refuses.
#include "python/pickling.h"

#include <array>
#include <string>

#include "python/foreign.h"
#include "python/function_types.h"
#include "python/gil.h"
#include "python/host.h"

namespace kf::python {
namespace {

[[noreturn]] void refuse_pickle(const py::object& self) {
    throw py::type_error("cannot pickle '" + std::string(Py_TYPE(self.ptr())->tp_name) + "' object");
}

[[noreturn]] void refuse_function(const std::string& why) {
    throw py::type_error("cannot pickle 'kernelfunctions._kf.Function' object: " + why);
}

/// Returns the values that run time has chosen, as options(constants=) takes them.
py::dict constants_of(const Artifact& artifact) {
    py::dict values;
    for (std::size_t i = 0; i < artifact.constants().size(); ++i) {
        const manifest::RunTimeConstant& constant = artifact.manifest.constants[i];
        const std::string& text = artifact.constants()[i];
        values[py::str(constant.name)] =
            constant.type == ScalarType::boolean ? py::object(py::bool_(text == "true"))
            : is_floating(constant.type)
                ? py::object(py::float_(std::stod(text)))
                : py::reinterpret_steal<py::object>(PyLong_FromString(text.c_str(), nullptr, 10));
    }
    return values;
}

/// Returns what kernelfunctions._pickling.function() takes as its third argument; empty where nothing is set.
py::dict configuration_of(const Function& function) {
    py::dict chosen;
    const Options& options = function.options();
    py::dict words;
    if (options.deterministic) words["deterministic"] = *options.deterministic;
    const Artifact& artifact = *function.info().artifact;
    if (!artifact.loaded()->has_default_constants()) words["constants"] = constants_of(artifact);
    if (!words.empty()) chosen["options"] = words;
    if (options.launch) {
        const auto& [x, y, z] = options.launch->count;
        chosen[options.launch->in_groups ? "groups" : "threads"] = py::make_tuple(x, y, z);
    }
    constexpr std::array forms{"", "numpy", "tensor", "torch"};
    if (function.results() != ResultForm::usual)
        chosen["return_type"] = forms[static_cast<std::size_t>(function.results())];
    const GlobalValues& globals = function.globals();
    if (globals.size() == 0) return chosen;
    py::dict values;
    for (std::size_t i = 0; i < globals.size(); ++i)
        values[py::handle(globals.name(i))] = py::handle(globals.value(i));
    chosen["set"] = values;
    return chosen;
}

/// Returns the attributes that somebody set: neither those that are private nor what PyTorch's part keeps
/// there.
py::dict public_attributes(py::handle attributes) {
    py::dict kept;
    if (!attributes) return kept;
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(attributes)) {
        const std::string text(utf8_of(py::str(name)));
        if (!text.starts_with('_') || text.starts_with("__")) kept[name] = value;
    }
    return kept;
}

}  // namespace

py::tuple pickled(const Function& function, py::handle attributes) {
    const FunctionInfo& info = function.info();
    if (function.has_hooks()) {
        refuse_function(info.function.name +
                        " has hooks; pickle what hook() was called on, and call hook() on what is loaded");
    }
    if (info.import_name.empty()) {
        refuse_function("the module '" + info.artifact->manifest.name + "' of " + info.function.name +
                        " was loaded by load_module() without an import_name; functions of a generated "
                        "module that was imported can be pickled");
    }
    const py::object make = py::module_::import("kernelfunctions._pickling").attr("function");
    const py::dict chosen = configuration_of(function);
    const std::string& name = info.artifact->loaded()->function_name(info.index);
    if (chosen.empty()) return py::make_tuple(make, py::make_tuple(info.import_name, name));
    const py::tuple arguments = py::make_tuple(info.import_name, name, chosen);
    const py::dict own = public_attributes(attributes);
    if (own.empty()) return py::make_tuple(make, arguments);
    return py::make_tuple(make, arguments, own);
}

const Tensor& of_own_class(const py::object& tensor) {
    if (!py::type::of(tensor).is(py::type::of<Tensor>())) refuse_pickle(tensor);
    return py::cast<const Tensor&>(tensor);
}

py::tuple pickled(const Tensor& tensor) {
    const AnyTensor& any = tensor.any;
    const auto array_of = [&](const AnyTensor& part) -> py::object {
        if (!part) return py::none();
        return download(Tensor{part, tensor.context, tensor.structure});
    };
    const bool is_one = any.grad_in() && any.grad_in().state() == any.grad_out().state();
    const py::object grad_in = array_of(any.grad_in());
    return py::make_tuple(py::module_::import("kernelfunctions._pickling").attr("tensor"),
                          py::make_tuple(array_of(any), tensor.context->device().info().id, any.name(),
                                         grad_in, is_one ? grad_in : array_of(any.grad_out())));
}

Tensor deep_copy(const Tensor& tensor) {
    const AnyTensor source = tensor.any;
    Tensor made = tensor;
    const GilRelease release;
    const auto copy_of = [](const AnyTensor& part) { return part ? copy_on_device(part) : part; };
    made.any = copy_of(source).named(source.name());
    if (!source.grad()) return made;
    const AnyTensor grad_in = copy_of(source.grad_in());
    const bool is_one = source.grad_in() && source.grad_in().state() == source.grad_out().state();
    made.any = made.any.with_grads(grad_in, is_one ? grad_in : copy_of(source.grad_out()));
    return made;
}

py::tuple pickled_pass(const Function& function, const char* pass) {
    return py::make_tuple(py::module_::import("builtins").attr("getattr"),
                          py::make_tuple(make_function(function), pass));
}

void refuse_pickling(py::module_& module) {
    const auto refuse = [](const py::object& self) -> py::object { refuse_pickle(self); };
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(module.attr("__dict__"))) {
        const py::handle object = value;
        if (PyType_Check(object.ptr()) == 0) continue;
        auto* const type = reinterpret_cast<PyTypeObject*>(object.ptr());
        if (py::detail::get_type_info(type) == nullptr) continue;
        if (py::cast<bool>(object.attr("__dict__").attr("__contains__")("__reduce__"))) continue;
        object.attr("__reduce__") = py::cpp_function(refuse, py::is_method(object), py::name("__reduce__"));
    }
}

}  // namespace kf::python
