// What the Python parts of the package know of a function: its calls as plain dicts and lists.
#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "core/describe.h"
#include "core/items.h"
#include "core/kinds/questions.h"
#include "core/python_names.h"
#include "core/roles.h"
#include "core/views.h"
#include "python/common.h"
#include "python/errors.h"
#include "python/function_types.h"
#include "python/global_gradients.h"
#include "python/torch_state.h"

namespace kf::python {
namespace {

using manifest::Argument;
using manifest::ParameterTree;

constexpr std::array role_words{"in", "out", "inout", "result"};
constexpr std::array form_words{"leaf", "value", "tensor", "fields"};
constexpr std::array passing_words{"nothing", "value",   "tensor",  "buffer",
                                   "pointer", "texture", "sampler", "generator"};
constexpr std::array gradient_words{"never", "automatic", "required"};

template <class Enum, class Words>
const char* word_of(Enum value, const Words& words) {
    return words.at(static_cast<std::size_t>(value));
}

/// What the function does with the memory that it is given whole; "" where it isn't.
struct AccessWord {
    std::string operator()(const manifest::kinds::WholeTensor& kind) const {
        return kind.only_read ? "view_read" : word_of(kind.access, manifest::access_words);
    }
    std::string operator()(const manifest::kinds::Buffer& kind) const {
        return word_of(kind.access, manifest::access_words);
    }
    std::string operator()(const manifest::kinds::Pointer& kind) const {
        return word_of(kind.access, manifest::access_words);
    }
    std::string operator()(const auto& /*kind*/) const { return {}; }
};

struct GeneratorWord {
    std::string operator()(const manifest::kinds::Generator& kind) const {
        return word_of(kind.generator, manifest::generator_words);
    }
    std::string operator()(const auto& /*kind*/) const { return {}; }
};

/// Tells whether a kind takes memory of any element type, whatever fills whole words.
struct TakesAnyBytes {
    bool operator()(const manifest::kinds::Buffer& kind) const { return kind.bytes; }
    bool operator()(const auto& /*kind*/) const { return false; }
};

py::tuple numbers(const std::vector<std::int64_t>& values) { return py::tuple(py::cast(values)); }

/// The extents of what a call makes for an argument; -1 - d is that of the call's dimension d.
std::vector<std::int64_t> made_extents(const Argument& argument, std::int64_t call_rank) {
    Dims dimensions;
    for (std::int64_t d = 0; d < call_rank; ++d) dimensions.push_back(-1 - d);
    const Dims extents = detail::made_extents(argument, dimensions);
    return {extents.begin(), extents.end()};
}

py::dict describe_leaf(const manifest::Call& call, std::size_t number) {
    const Argument& argument = call.arguments[number];
    py::dict leaf;
    leaf["first"] = number;
    leaf["count"] = 1;
    leaf["name"] = argument.name;
    leaf["role"] = word_of(argument.role, role_words);
    leaf["passing"] = word_of(manifest::passed_as(argument), passing_words);
    leaf["text"] = detail::describe(argument);
    leaf["access"] = std::visit(AccessWord(), argument.kind);
    leaf["generator"] = std::visit(GeneratorWord(), argument.kind);
    leaf["scalar"] = word_of(argument.element.scalar, manifest::scalar_words);
    leaf["extents"] = numbers(argument.element.extents);
    leaf["rank"] = argument.rank;
    leaf["call_rank"] = argument.call_rank;
    leaf["trailing"] = numbers(argument.trailing);
    leaf["map"] = numbers(argument.map);
    leaf["differentiable"] = argument.differentiable;
    leaf["gradient"] = word_of(argument.gradient, gradient_words);
    leaf["overwrite"] = argument.overwrite;
    leaf["accumulate"] = word_of(argument.accumulate, manifest::accumulate_words);
    leaf["combined"] = manifest::is_combined(argument);
    leaf["contiguous"] = manifest::requires_contiguous(argument);
    leaf["any_bytes"] = std::visit(TakesAnyBytes(), argument.kind);
    leaf["made"] = numbers(made_extents(argument, call.rank));
    leaf["is_struct"] = false;
    return leaf;
}

/// Describes structs whose scalars a tensor of PyTorch's may hold, as one leaf: a tensor of these.
py::dict describe_structs(const manifest::Call& call, const std::string& name, const ParameterTree& structure,
                          const manifest::StructScalars& scalars) {
    const auto leaves =
        std::span(call.arguments)
            .subspan(static_cast<std::size_t>(structure.leaf), static_cast<std::size_t>(structure.leaves));
    const Argument& first = leaves.front();
    const auto gradient = std::ranges::max(leaves, {}, &Argument::gradient).gradient;
    py::dict leaf = describe_leaf(call, static_cast<std::size_t>(structure.leaf));
    auto made = made_extents(first, call.rank);
    made.resize(static_cast<std::size_t>(first.rank));
    made.insert(made.end(), scalars.extents.begin(), scalars.extents.end());
    leaf["count"] = structure.leaves;
    leaf["made"] = numbers(made);
    leaf["name"] = name;
    leaf["role"] = word_of(manifest::role_of(call, structure), role_words);
    leaf["text"] = structure.type + " tensor[" + std::to_string(first.rank) + "]";
    leaf["extents"] = numbers(scalars.extents);
    leaf["trailing"] = numbers(scalars.extents);
    leaf["differentiable"] = std::ranges::any_of(leaves, &Argument::differentiable);
    leaf["gradient"] = word_of(gradient, gradient_words);
    leaf["overwrite"] = std::ranges::any_of(leaves, &Argument::overwrite);
    leaf["combined"] = std::ranges::any_of(leaves, [](const Argument& one) { return is_combined(one); });
    leaf["contiguous"] =
        std::ranges::any_of(leaves, [](const Argument& one) { return requires_contiguous(one); });
    leaf["is_struct"] = true;
    return leaf;
}

/// The leaves of a call as PyTorch has them, described; and for each of the manifest's, which one that is.
struct DescribedLeaves {
    py::list leaves;
    std::vector<std::size_t> places;
    std::vector<const ParameterTree*> structs;  ///< those that are one leaf here
};

void describe_leaves(const FunctionInfo& info, const manifest::Call& call, const std::string& name,
                     const ParameterTree& tree, DescribedLeaves& described) {
    if (tree.form == manifest::Form::fields) {
        for (const ParameterTree& field : tree.fields)
            describe_leaves(info, call, manifest::field_path(name, field.name), field, described);
        return;
    }
    const auto first = static_cast<std::size_t>(tree.leaf);
    const auto end = first + static_cast<std::size_t>(tree.leaves);
    const bool is_structs = tree.form == manifest::Form::tensor;
    if (const auto* scalars = is_structs ? info.views->scalars_of(call, tree) : nullptr) {
        described.places.resize(end, described.leaves.size());
        described.leaves.append(describe_structs(call, name, tree, *scalars));
        described.structs.push_back(&tree);
        return;
    }
    for (std::size_t i = first; i < end; ++i) {
        described.places.push_back(described.leaves.size());
        described.leaves.append(describe_leaf(call, i));
    }
}

/// The generated class that structs of a type come back as; None where there is none.
py::object class_of(const FunctionInfo& info, const ParameterTree& parameter) {
    const auto known = info.classes->find(parameter.type);
    return known == info.classes->end() ? py::object(py::none()) : known->second;
}

/// The named tuple that an overload's results come in; None unless it has several.
py::object results_of(const FunctionInfo& info, std::size_t call) {
    if (std::ranges::count(info.calls, call) > 0) return info.results;
    for (const auto& other : info.others)
        if (std::ranges::count(other->calls, call) > 0) return other->results;
    return py::none();
}

/// `owners`: the fields of the struct that this is one of; null for a parameter.
py::dict describe_tree(const FunctionInfo& info, const manifest::Call& call, const DescribedLeaves& described,
                       const std::vector<ParameterTree>* owners, std::size_t place,
                       const ParameterTree& parameter) {
    const bool is_leaf = std::ranges::find(described.structs, &parameter) != described.structs.end();
    py::dict tree;
    tree["name"] = parameter.name;
    tree["attribute"] = owners == nullptr || parameter.name.starts_with('[')
                            ? parameter.name
                            : detail::python_attribute(*owners, place);
    tree["form"] = word_of(is_leaf ? manifest::Form::leaf : parameter.form, form_words);
    tree["type"] = parameter.type;
    tree["class"] = class_of(info, parameter);
    tree["role"] = word_of(manifest::role_of(call, parameter), role_words);
    tree["leaf"] = parameter.leaves > 0 ? described.places[static_cast<std::size_t>(parameter.leaf)] : 0;
    tree["leaves"] = is_leaf ? 1 : parameter.leaves;
    tree["extents"] = numbers(parameter.extents);
    py::list fields;
    for (std::size_t i = 0; i < parameter.fields.size() && !is_leaf; ++i)
        fields.append(describe_tree(info, call, described, &parameter.fields, i, parameter.fields[i]));
    tree["fields"] = fields;
    return tree;
}

py::dict describe_call(const FunctionInfo& info, std::size_t number) {
    const manifest::Call& call = info.function.calls[number];
    py::dict described;
    described["text"] = detail::describe(info.function, call);
    described["results"] = results_of(info, number);
    described["rank"] = call.rank;
    described["dispatch"] = word_of(call.dispatch, manifest::dispatch_names);
    described["strict_broadcasting"] = call.strict_broadcasting;
    described["backward"] = call.has_backward;
    described["fused"] = call.has_fused;
    DescribedLeaves leaves;
    for (const ParameterTree& parameter : call.parameters)
        describe_leaves(info, call, parameter.name, parameter, leaves);
    described["leaves"] = leaves.leaves;
    std::vector<std::string> names;
    for (const ParameterTree& parameter : call.parameters) names.push_back(parameter.name);
    const std::vector<std::string> keywords = detail::python_parameters(names);
    py::list parameters;
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const ParameterTree& parameter = call.parameters[i];
        if (manifest::is_global(parameter.name)) continue;
        py::dict tree = describe_tree(info, call, leaves, nullptr, i, parameter);
        const bool result = parameter.name == "result" && i + 1 == call.parameters.size() &&
                            manifest::role_of(call, parameter) == manifest::Role::result;
        tree["keyword"] = result ? "out" : keywords[i];
        parameters.append(tree);
    }
    described["parameters"] = parameters;
    return described;
}

py::object launch_of(const Options& options) {
    if (!options.launch) return py::none();
    const auto& count = options.launch->count;
    return py::make_tuple(options.launch->in_groups, count[0], count[1], count[2]);
}

py::object deterministic_of(const Options& options) {
    return options.deterministic ? py::object(py::bool_(*options.deterministic)) : py::object(py::none());
}

/// Returns what functions have in common that are described alike: valid as long as one of them lives.
py::tuple description_key(const py::object& given) {
    const Function& function = function_given(given);
    return py::make_tuple(reinterpret_cast<std::uintptr_t>(&function.info()),
                          deterministic_of(function.options()), launch_of(function.options()),
                          function.is_configured());
}

py::dict describe_calls(const py::object& given) {
    const Function& function = function_given(given);
    const FunctionInfo& info = function.info();
    py::dict described;
    described["module"] = info.artifact->manifest.name;
    described["name"] = info.function.name;
    described["deterministic"] = deterministic_of(function.options());
    described["launch"] = launch_of(function.options());
    described["configured"] = function.is_configured();
    described["jvp"] = info.jvp != nullptr;
    py::list calls;
    for (std::size_t i = 0; i < info.function.calls.size(); ++i) calls.append(describe_call(info, i));
    described["calls"] = calls;
    return described;
}

}  // namespace

void bind_described_calls(py::module_& module) {
    module.def("description_key", &description_key, py::arg("function"),
               "Equal for functions that are described alike.");
    module.def(
        "_check_gradients_of_globals",
        [](const py::object& given) {
            const Function& function = function_given(given);
            check_gradients(function.info(), function.globals(), Torch::loaded()->is_grad_enabled());
        },
        py::arg("function"), "Refuses globals that autograd would have to follow.");
    module.def(
        "_tensors_of_globals",
        [](const py::object& given) {
            const Function& function = function_given(given);
            return tensors_in(function.info(), function.globals());
        },
        py::arg("function"), "The torch.Tensors that a function's globals are set to, or hold.");
    module.def("describe_calls", &describe_calls, py::arg("function"),
               "What a function's calls take and give, as dicts and lists.");
}

}  // namespace kf::python
