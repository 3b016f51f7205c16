// Overloads and shapes of calls that PyTorch watches: found by what their tensors are described as.
#include <algorithm>
#include <span>
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

/// What is given for a call: the number of its first leaf, how many these are (more of structs whose scalars
/// a tensor holds), whether it is such structs, a tensor's dtype or None, and its extents.
using Extents = std::tuple<std::size_t, std::size_t, bool, py::object, std::vector<std::int64_t>>;

/// Refuses a tensor whose last extents aren't those of the structs that begin with a leaf.
void check_structs(const FunctionInfo& info, const manifest::Call& call, const ParameterTree& tree,
                   const std::string& name, std::size_t leaf, const Dims& extents) {
    for (const ParameterTree& field : tree.fields) {
        if (tree.form != manifest::Form::fields) break;
        check_structs(info, call, field, manifest::field_path(name, field.name), leaf, extents);
    }
    if (tree.form != manifest::Form::tensor || static_cast<std::size_t>(tree.leaf) != leaf) return;
    const manifest::StructScalars& scalars = *info.views->scalars_of(call, tree);
    const auto rank = static_cast<std::size_t>(call.arguments[leaf].rank);
    const bool is_of_rank = extents.size() == rank + scalars.extents.size();
    if (is_of_rank && std::ranges::equal(std::span(extents).subspan(rank), scalars.extents)) return;
    refuse(is_of_rank ? ErrorCode::shape_mismatch : ErrorCode::rank_mismatch, {info.function.name, name},
           scalars_text(tree, scalars, rank) + ", found one of shape " + to_string(extents));
}

/// Returns a call's shape by the rules that the binder has; refuses what it would refuse.
std::vector<std::int64_t> call_shape(const py::object& of, std::size_t overload,
                                     const std::vector<Extents>& given,
                                     const std::optional<std::vector<std::int64_t>>& shape) {
    const FunctionInfo& info = function_given(of).info();
    const manifest::Call& call = info.function.calls.at(overload);
    if (call.dispatch != manifest::Dispatch::elements) return {};
    std::vector<ArgumentView> views(call.arguments.size());
    const Dims stated = shape ? Dims(*shape) : Dims();
    const BindRequest request{info.artifact->manifest,
                              info.function,
                              call,
                              detail::PassKind::forward,
                              views,
                              shape ? &stated : nullptr,
                              {},
                              {}};
    for (const auto& [first, count, is_structs, dtype, extents] : given) {
        for (const ParameterTree& parameter : call.parameters)
            if (is_structs) check_structs(info, call, parameter, parameter.name, first, Dims(extents));
        for (std::size_t i = first; i < first + count; ++i) {
            const manifest::Argument& argument = call.arguments.at(i);
            ArgumentView& view = views[i];
            view.kind = detail::given_as(argument);
            view.data.present = true;
            view.data.extents = Dims(extents);
            if (is_structs) {
                view.data.extents = Dims(std::span(extents).first(static_cast<std::size_t>(argument.rank)));
                for (const std::int64_t extent : argument.element.extents)
                    view.data.extents.push_back(extent);
            }
            if (dtype.is_none()) continue;
            const std::optional<ScalarType> scalar = Torch::loaded()->scalar(dtype);
            if (!scalar) {
                const std::string name = detail::host_name(call, i);
                refuse(ErrorCode::type_mismatch, {info.function.name, name}, unknown_dtype_text(dtype));
            }
            view.scalar = *scalar;
            if (passes_tensor(argument)) detail::check_tensor(request, i);
        }
    }
    std::pmr::monotonic_buffer_resource memory;
    detail::Binding binding(&memory);
    detail::bind_shape(request, binding);
    return {binding.shape.begin(), binding.shape.end()};
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
