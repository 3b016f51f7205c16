// What the copies of a function share.

#include <algorithm>
#include <string_view>

#include "core/describe.h"
#include "core/items.h"
#include "core/python_names.h"
#include "core/roles.h"
#include "python/function.h"

namespace kf::python {

using manifest::Role;

namespace {

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
    return py::module_::import("kernelfunctions._pickling")
        .attr("results_class")(result_class(info.function.name), detail::python_result_names(fields),
                               info.import_name, info.artifact->loaded()->function_name(info.index));
}

/// What a method's object is called among its arguments; no Slang parameter has that name.
constexpr std::string_view object_name = "this";
/// The object's new tangent, where the method changes it: written in place, as the object is.
constexpr std::string_view object_tangent = "tangents_out.this";

void add_items(const manifest::Call& call, const manifest::ParameterTree& parameter, const std::string& name,
               StructViews& views, std::vector<HostItem>& items) {
    if (parameter.form == manifest::Form::fields) {
        for (const auto& field : parameter.fields)
            add_items(call, field, manifest::field_path(name, field.name), views, items);
        return;
    }
    HostItem& item = items.emplace_back();
    item.name = name;
    item.role = manifest::role_of(call, parameter);
    item.leaf = static_cast<std::size_t>(parameter.leaf);
    if (parameter.form == manifest::Form::leaf) {
        item.hidden = !has_host_value(call.arguments[item.leaf]);
        return;
    }
    item.structure = &parameter;
    if (parameter.form != manifest::Form::tensor) return;
    item.type = &views.type_of(call, parameter);
    item.scalars = views.scalars_of(call, parameter);
}

/// Returns what calls take their arguments by, in the parameters' order. Globals, which set() takes, keep the
/// names that they have in Slang.
std::vector<std::string> keywords_of(const manifest::Call& call) {
    std::vector<std::string> names;
    for (const auto& parameter : call.parameters) names.push_back(parameter.name);
    return detail::python_parameters(names);
}

/// What Python's help() says: the function's own text, and its overloads.
std::string documentation_of(const manifest::Function& function) {
    std::string text = function.doc;
    if (!text.empty()) text += "\n\n";
    for (const auto& overload : function.calls) text += detail::describe(function, overload) + "\n";
    if (!text.empty()) text.pop_back();
    return text;
}

/// Adds what dicts and objects call the fields of a struct, and of those in it.
void add_field_names(const manifest::ParameterTree& tree, StructViews& views,
                     std::vector<py::object>& names) {
    if (tree.form == manifest::Form::leaf) return;
    const auto add = [&](const py::object& name) {
        if (std::ranges::none_of(names, [&](const py::object& one) { return one.is(name); }))
            names.push_back(name);
    };
    if (!manifest::is_array(tree)) {
        for (const StructView::Field& field : views.of(tree).fields) {
            add(field.name);
            add(field.attribute);
        }
    }
    for (const manifest::ParameterTree& field : tree.fields) add_field_names(field, views, names);
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
    return info_of(std::make_shared<LoadedFunctions>(LoadedFunctions{
                       known.artifact, known.classes, known.views, {}, known.import_name, {}, {}, {}}),
                   index);
}

std::shared_ptr<const FunctionInfo> info_of(const FunctionInfo& known, std::size_t index,
                                            const detail::ConstantValues& constants) {
    constexpr std::size_t most_kept = 64;
    const auto make = [&](const std::shared_ptr<LoadedFunctions>& root) {
        // Views are known by the manifest's trees, of which this artifact has its own.
        return std::make_shared<LoadedFunctions>(LoadedFunctions{known.artifact->with(constants),
                                                                 known.classes,
                                                                 std::make_shared<StructViews>(),
                                                                 {},
                                                                 known.import_name,
                                                                 {},
                                                                 root,
                                                                 {}});
    };
    const auto all = known.module.lock();
    const auto root = all == nullptr || all->root.expired() ? all : all->root.lock();
    if (root == nullptr) return info_of(make(nullptr), index);
    if (root->artifact->constants() == constants) return info_of(root, index);
    const auto found = root->chosen.find(constants);
    if (found != root->chosen.end()) return info_of(found->second, index);
    if (root->chosen.size() >= most_kept) root->chosen.clear();
    return info_of(root->chosen.emplace(constants, make(root)).first->second, index);
}

FunctionInfo::FunctionInfo(const std::shared_ptr<LoadedFunctions>& all, std::size_t number, std::size_t first)
    : artifact(all->artifact),
      module(all),
      import_name(all->import_name),
      index(number),
      function(artifact->manifest.functions[number]),
      classes(all->classes),
      views(all->views),
      name(function.name),
      documentation(documentation_of(function)) {
    std::vector<std::vector<HostParameter>> lists;
    if (function.jvp >= 0 && first == 0) {
        jvp = info_of(all, static_cast<std::size_t>(function.jvp));
    }
    for (const auto& overload : function.calls) {
        differentiable = differentiable || overload.has_backward;
        has_fused = has_fused || overload.has_fused;
        is_launched = is_launched || overload.dispatch != manifest::Dispatch::elements;
        const bool structs = std::ranges::any_of(
            overload.parameters, [](const auto& one) { return one.form != manifest::Form::leaf; });
        std::vector<HostItem>& list = items.emplace_back();
        std::vector<HostParameter>& taken = lists.emplace_back();
        const std::vector<std::string> keywords = keywords_of(overload);
        for (std::size_t i = 0; i < overload.parameters.size(); ++i) {
            const manifest::ParameterTree& parameter = overload.parameters[i];
            const std::string& keyword = keywords[i];
            const bool in_place =
                structs && (parameter.name == object_name || parameter.name == object_tangent);
            const Role role = in_place ? Role::in : manifest::role_of(overload, parameter);
            if (manifest::is_global(parameter.name)) {
                const py::object global = interned(parameter.name.substr(manifest::global_prefix.size()));
                const auto add_to = [&](std::vector<py::object>& list_of_names) {
                    if (std::ranges::none_of(list_of_names, [&](const auto& one) { return one.is(global); }))
                        list_of_names.push_back(global);
                };
                add_to(globals);
                if (manifest::is_written(overload, parameter)) add_to(written_globals);
                add_field_names(parameter, *views, global_fields);
            }
            const std::size_t before = list.size();
            add_items(overload, parameter, keyword, *views, list);
            taken.push_back({keyword,
                             parameter.name,
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
    }
    std::vector<std::size_t> rest;
    for (std::size_t c = 0; c < lists.size(); ++c) (lists[c] == lists[first] ? calls : rest).push_back(c);
    if (!calls.empty()) parameters = lists[first];
    for (const HostParameter& parameter : parameters) {
        const bool result = parameter.role == Role::result;
        returned += is_returned(parameter) ? 1 : 0;
        const std::size_t prefix = parameter.is_global ? manifest::global_prefix.size() : 0;
        names.push_back(interned(result ? "out" : parameter.keyword.substr(prefix)));
        if (parameter.hidden || parameter.is_global || parameter.tangent_of) continue;
        if (!result) places.push_back(names.size() - 1);
        places_backward.push_back(names.size() - 1);
    }
    const auto tangent = std::ranges::find(parameters, "tangents.this", &HostParameter::keyword);
    const auto written = std::ranges::find(parameters, object_tangent, &HostParameter::keyword);
    if (tangent < written && written != parameters.end())
        object_tangents.emplace(tangent - parameters.begin(), written - parameters.begin());
    results = named_tuple(*this);
    if (rest.empty()) return;
    while (first == 0 && !rest.empty()) {
        others.push_back(std::make_shared<const FunctionInfo>(all, number, rest.front()));
        const auto& taken = others.back()->calls;
        std::erase_if(rest, [&](std::size_t c) { return std::ranges::count(taken, c) > 0; });
    }
}

}  // namespace kf::python
