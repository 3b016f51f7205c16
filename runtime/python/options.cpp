// kf.set_options() for the process, kf.options() for a block.
#include "python/options.h"

#include <limits>

#include "python/attributes.h"
#include "python/errors.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

/// A setting of the process, like the default device; guarded by the GIL.
Options& process_options() {
    static Options options;
    return options;
}

/// Whether the process's options, or a block's, were ever set; guarded by the GIL.
bool& were_options_set() {
    static bool were = false;
    return were;
}

/// A contextvars.ContextVar that holds Options: threads and tasks have their own.
PyObject* block_options() {
    static PyObject* known = nullptr;
    return context_variable(known, "kernelfunctions.options");
}

/// What the blocks around say; nothing outside of all.
Options options_of_blocks() {
    PyObject* found = nullptr;
    if (PyContextVar_Get(block_options(), nullptr, &found) < 0) throw py::error_already_set();
    if (found == nullptr) return {};
    return py::cast<Options>(py::reinterpret_steal<py::object>(found));
}

/// Returns what leave_options() takes.
py::object enter_options(const py::kwargs& given) {
    were_options_set() = true;
    const py::object options = py::cast(options_of_blocks().with(options_of("options", given)));
    PyObject* token = PyContextVar_Set(block_options(), options.ptr());
    if (token == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(token);
}

void leave_options(const py::object& token) {
    if (PyContextVar_Reset(block_options(), token.ptr()) < 0) throw py::error_already_set();
}

}  // namespace

Options options_of(const std::string& function, const py::dict& given, const std::string& known) {
    Options options;
    for (const auto& entry : given) {
        const std::string name(utf8_of(py::str(entry.first)));
        if (name != "deterministic") {
            refuse(ErrorCode::unknown_name, {function, {}}, "no option '" + name + "'; there is: " + known);
        }
        if (entry.second.is_none()) continue;
        if (!py::isinstance<py::bool_>(entry.second)) {
            refuse(ErrorCode::type_mismatch, {function, name},
                   "expected True, False or None, found " +
                       shown(py::reinterpret_borrow<py::object>(entry.second)));
        }
        options.deterministic = py::cast<bool>(entry.second);
    }
    return options;
}

namespace {

[[noreturn]] void refuse_form(const std::string& function, const std::string& name, const char* form,
                              py::handle value) {
    refuse(ErrorCode::type_mismatch, {function, name}, std::string(form) + " is needed, not " + shown(value));
}

py::dict dict_of(const std::string& function, const std::string& name, const char* form, py::handle value) {
    if (!py::isinstance<py::dict>(value)) refuse_form(function, name, form, value);
    for (const auto& entry : py::reinterpret_borrow<py::dict>(value)) {
        if (!py::isinstance<py::str>(entry.first)) refuse_form(function, name, form, value);
    }
    return py::reinterpret_borrow<py::dict>(value);
}

/// Spells it as artifacts do: "true", "8", "0.5".
std::string constant_text(const std::string& function, const std::string& name, py::handle value) {
    if (py::isinstance<py::bool_>(value)) return py::cast<bool>(value) ? "true" : "false";
    if (PyIndex_Check(value.ptr()) != 0) {
        const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
        if (!number) throw py::error_already_set();
        return py::str(number);
    }
    if (PyNumber_Check(value.ptr()) == 0) refuse_form(function, "constants." + name, "a number", value);
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Float(value.ptr()));
    if (!number) throw py::error_already_set();
    return py::repr(number);
}

}  // namespace

detail::VariantRequest take_variant(const std::string& function, py::dict& given) {
    detail::VariantRequest request;
    const auto take = [&](const char* name) {
        return given.attr("pop")(name, py::none()).cast<py::object>();
    };
    if (const py::object name = take("variant"); !name.is_none()) {
        constexpr const char* form = "a variant's name";
        if (!py::isinstance<py::str>(name)) refuse_form(function, "variant", form, name);
        request.name = std::string(utf8_of(name));
        if (request.name.empty()) refuse_form(function, "variant", form, name);
    }
    for (const char* const word : {"group_size", "threads", "numthreads"}) {
        const py::object threads = take(word);
        if (threads.is_none()) continue;
        constexpr const char* form = "a list of one to three numbers, as in [8, 8],";
        if (!request.threads.empty())
            refuse(ErrorCode::type_mismatch, {function, word}, "the group's size is given twice");
        if (!py::isinstance<py::list>(threads) && !py::isinstance<py::tuple>(threads))
            refuse_form(function, word, form, threads);
        for (const py::handle extent : threads) {
            if (!is_integer(extent)) refuse_form(function, word, form, threads);
            constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
            request.threads.push_back(integer_of(extent, {function, word}, 0, most, "from 0 to 2^32 - 1"));
        }
        if (request.threads.empty() || request.threads.size() > 3) refuse_form(function, word, form, threads);
    }
    if (const py::object constants = take("constants"); !constants.is_none()) {
        for (const auto& [name, value] :
             dict_of(function, "constants", "a dict, as in {\"N\": 8},", constants)) {
            const auto key = std::string(utf8_of(name));
            request.constants.emplace_back(key, constant_text(function, key, value));
        }
    }
    if (const py::object types = take("types"); !types.is_none()) {
        constexpr const char* form = "a dict of names, as in {\"VAL\": \"Val10\"},";
        for (const auto& [name, type] : dict_of(function, "types", form, types)) {
            if (!py::isinstance<py::str>(type)) refuse_form(function, "types", form, types);
            request.types.emplace_back(std::string(utf8_of(name)), std::string(utf8_of(type)));
        }
    }
    return request;
}

detail::VariantRequest conformances_of(const std::string& function, const py::object& given) {
    constexpr const char* form = "a dict of names, as in {\"IVal\": [\"Val10\", \"Val20\"]},";
    const std::string what = "typeconformance";
    detail::VariantRequest request;
    for (const auto& [interface_name, types] : dict_of(function, what, form, given)) {
        std::vector<std::string> names;
        const bool is_one = py::isinstance<py::str>(types);
        if (!is_one && !py::isinstance<py::list>(types) && !py::isinstance<py::tuple>(types))
            refuse_form(function, what, form, given);
        const py::object all =
            is_one ? py::object(py::make_tuple(types)) : py::reinterpret_borrow<py::object>(types);
        for (const py::handle type : all) {
            if (!py::isinstance<py::str>(type)) refuse_form(function, what, form, given);
            names.push_back(std::string(utf8_of(type)));
        }
        request.conformances.emplace_back(std::string(utf8_of(interface_name)), std::move(names));
    }
    return request;
}

bool may_have_default_options() { return were_options_set(); }

Options default_options() { return process_options().with(options_of_blocks()); }

void bind_options(py::module_& module) {
    py::class_<Options> type(module, "_Options");
    type.doc() = "What a block of kf.options() says.";
    module.def("_enter_options", &enter_options);
    module.def("_leave_options", &leave_options);
    module.def(
        "set_options",
        [](const py::kwargs& given) {
            process_options() = options_of("set_options", given);
            were_options_set() = true;
        },
        "Options of all functions, where neither their own options() nor a block of kf.options() says "
        "otherwise: deterministic=True. What isn't named is not set.");
}

}  // namespace kf::python
