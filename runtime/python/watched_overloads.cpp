// Overloads and shapes of calls that PyTorch watches: found by what their tensors are described as.
#include <vector>

#include "core/bind_parts.h"
#include "core/describe.h"
#include "core/kinds/binding.h"
#include "core/kinds/element_binding.h"
#include "core/kinds/questions.h"
#include "python/errors.h"
#include "python/function_types.h"
#include "python/overloads.h"
#include "python/torch_state.h"

namespace kf::python {
namespace {

using detail::ArgumentView;
using detail::BindRequest;
using manifest::ParameterTree;

/// Adds what is given for a parameter's items, but for those that the host passes nothing for.
void add_values(const manifest::Call& call, const ParameterTree& tree, GivenObject** items, std::size_t& at,
                bool is_passed, py::list& values) {
    if (tree.form == manifest::Form::fields) {
        for (const ParameterTree& field : tree.fields) add_values(call, field, items, at, is_passed, values);
        return;
    }
    GivenObject* const given = items[at++];
    const bool is_leaf = tree.form == manifest::Form::leaf;
    if (!is_passed || (is_leaf && !has_host_value(call.arguments[static_cast<std::size_t>(tree.leaf)])))
        return;
    values.append(given == nullptr ? py::object(py::none()) : given->given());
}

/// Refuses outputs that are asked for in another form than PyTorch's.
void check_forms(const TakenArguments& taken) {
    for (std::size_t i = 0; i < taken.forms.size(); ++i) {
        if (taken.forms[i] == ResultForm::usual || taken.forms[i] == ResultForm::torch) continue;
        refuse(ErrorCode::type_mismatch, {taken.info->function.name, taken.info->parameters[i].keyword},
               "PyTorch follows the call, whose results are torch.Tensors then");
    }
}

/// Returns the number of the overload that is meant, and what is given for each of its items. `overload`:
/// what the same kinds of arguments have meant before; -1 where that isn't known.
py::tuple choose_call(const py::object& given, const py::tuple& args, const py::dict& kwargs, bool casts,
                      std::int64_t overload) {
    const Function& function = function_given(given);
    const KeptArguments kept(args, kwargs);
    const Arguments arguments = kept.view();
    Overloads overloads(function.info(), arguments, casts);
    if (overload < 0 || !overloads.take_as(static_cast<std::size_t>(overload))) overloads.resolve();
    check_forms(overloads.taken());
    const manifest::Call& call = overloads.taken().info->function.calls[overloads.overload()];
    std::pmr::vector<GivenObject*> items;
    overloads.add_items(items);
    py::list values;
    std::size_t at = 0;
    for (const ParameterTree& parameter : call.parameters)
        add_values(call, parameter, items.data(), at, !manifest::is_global(parameter.name), values);
    return py::make_tuple(overloads.overload(), values);
}

/// One thing that is given for a call, of known extents.
struct Extents {
    std::size_t leaf = 0;
    std::size_t leaves = 1;  ///< more for structs that a tensor of their scalars holds
    bool is_structs = false;
    std::optional<ScalarType> scalar;  ///< of tensors
    Dims extents;
};

Dims extents_in(py::handle numbers) {
    Dims dims;
    for (const py::handle one : numbers) dims.push_back(py::cast<std::int64_t>(one));
    return dims;
}

void set_view(const BindRequest& request, const Extents& given, std::size_t i, ArgumentView& view) {
    const manifest::Argument& argument = request.call.arguments[i];
    view.kind = detail::given_as(argument);
    view.scalar = given.scalar.value_or(argument.element.scalar);
    view.data.present = true;
    view.data.extents = given.extents;
    if (!given.is_structs) return;
    view.scalar = argument.element.scalar;
    view.data.extents = Dims(std::span(given.extents).first(static_cast<std::size_t>(argument.rank)));
    for (const std::int64_t extent : argument.element.extents) view.data.extents.push_back(extent);
}

/// Returns a call's shape by the rules that the binder has. `given`: for what takes part in it, the number of
/// its first leaf, how many these are, whether they are structs, a tensor's dtype or None, and its extents.
py::tuple call_shape(const py::object& of, std::size_t overload, const py::sequence& given,
                     const py::object& shape) {
    const FunctionInfo& info = function_given(of).info();
    const manifest::Call& call = info.function.calls.at(overload);
    if (call.dispatch != manifest::Dispatch::elements) return py::tuple();
    std::vector<ArgumentView> views(call.arguments.size());
    std::optional<Dims> stated;
    if (!shape.is_none()) stated = extents_in(shape);
    BindRequest request{info.artifact->manifest,
                        info.function,
                        call,
                        detail::PassKind::forward,
                        views,
                        stated ? &*stated : nullptr,
                        {},
                        {}};
    for (const py::handle one : given) {
        const auto parts = py::reinterpret_borrow<py::tuple>(one);
        Extents extents{py::cast<std::size_t>(parts[0]), py::cast<std::size_t>(parts[1]),
                        py::cast<bool>(parts[2]), std::nullopt, extents_in(parts[4])};
        if (!parts[3].is_none()) extents.scalar = Torch::loaded()->scalar(parts[3]);
        for (std::size_t i = extents.leaf; i < extents.leaf + extents.leaves; ++i) {
            set_view(request, extents, i, views[i]);
            if (extents.scalar && passes_tensor(call.arguments[i])) detail::check_tensor(request, i);
        }
    }
    std::pmr::monotonic_buffer_resource memory;
    detail::Binding binding(&memory);
    detail::bind_shape(request, binding);
    return to_tuple(binding.shape);
}

}  // namespace

void bind_watched_overloads(py::module_& module) {
    module.def("_choose_call", &choose_call, py::arg("function"), py::arg("args"), py::arg("kwargs"),
               py::arg("casts"), py::arg("overload") = -1,
               "The overload that a watched call means, and what is given for each of its items.");
    module.def("_call_shape", &call_shape, py::arg("function"), py::arg("overload"), py::arg("given"),
               py::arg("shape"), "The shape of a call whose arguments have these extents.");
}

}  // namespace kf::python
