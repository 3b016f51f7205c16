// Which of several overloads the structs given are meant for.
#include "python/struct_choice.h"

#include <kf/error.h>

#include <algorithm>
#include <string_view>

#include "core/describe.h"
#include "core/items.h"
#include "python/differentiable.h"
#include "python/errors.h"
#include "python/scalars.h"
#include "python/structs.h"

namespace kf::python {
namespace {

using detail::with_article;
using manifest::Form;

bool is_other_struct(const manifest::ParameterTree& structure, py::handle value,
                     const StructClasses& classes) {
    py::object one = py::reinterpret_borrow<py::object>(value);
    if (const Differentiable* wrapped = as_differentiable(value)) one = wrapped->value;
    while ((PyList_Check(one.ptr()) || PyTuple_Check(one.ptr())) && py::len(one) > 0)
        one = py::object(one[py::int_(0)]);
    const auto is_one = [&](const py::object& type) { return is_instance(one, type); };
    const manifest::ParameterTree* element = &structure;
    while (manifest::is_array(*element)) element = &element->fields.front();
    if (element->form == Form::leaf) return false;
    const auto wanted = classes.find(element->type);
    if (wanted != classes.end() && is_one(wanted->second)) return false;
    return std::ranges::any_of(classes, [&](const auto& known) { return is_one(known.second); });
}

/// The first argument given for which the two overloads take different structs; that many where there is
/// none.
std::size_t first_difference(const FunctionInfo& info, std::size_t one, std::size_t other,
                             std::span<const py::object> given) {
    const std::vector<manifest::ParameterTree>& ones = info.function.calls[one].parameters;
    const std::vector<manifest::ParameterTree>& others = info.function.calls[other].parameters;
    const std::size_t count = std::min({given.size(), ones.size(), others.size()});
    std::size_t i = 0;
    while (i < count && (!given[i] || ones[i].form == Form::leaf || others[i].form == Form::leaf ||
                         ones[i].type == others[i].type))
        ++i;
    return i < count ? i : given.size();
}

std::string struct_text(const manifest::ParameterTree& structure) {
    return structure.form == Form::tensor ? structure.type + " structs" : with_article(structure.type);
}

}  // namespace

std::string other_class(const FunctionInfo& info, std::size_t overload, std::span<const py::object> given) {
    const std::vector<manifest::ParameterTree>& parameters = info.function.calls[overload].parameters;
    // A call without structs has none.
    for (std::size_t i = 0; i < std::min(given.size(), parameters.size()); ++i) {
        const manifest::ParameterTree& parameter = parameters[i];
        if (!given[i] || parameter.form == Form::leaf || !is_other_struct(parameter, given[i], *info.classes))
            continue;
        return prefix({info.function.name, info.parameters[i].keyword}) + with_article(parameter.type) +
               " is needed, not " + shown(given[i]);
    }
    return {};
}

std::string why_not(const manifest::Call& call, const manifest::ParameterTree& structure, py::handle value,
                    const Where& where) {
    std::vector<std::byte> packed(static_cast<std::size_t>(manifest::byte_size(structure)));
    try {
        pack_struct(call, structure, value, packed.data(), where);
        return {};
    } catch (const ArgumentError& error) {
        return error.what();
    }
}

bool differ_in_structs(const FunctionInfo& info, std::size_t overload, const std::vector<std::size_t>& others,
                       std::span<const py::object> given) {
    return std::ranges::any_of(others, [&](std::size_t other) {
        return first_difference(info, overload, other, given) < given.size();
    });
}

void check_structs(const FunctionInfo& info, std::size_t best, const std::vector<std::size_t>& equal,
                   std::span<const py::object> given) {
    for (const std::size_t other : equal) {
        const std::size_t i = first_difference(info, best, other, given);
        if (i == given.size()) continue;
        refuse(ErrorCode::no_overload, {info.function.name, info.parameters[i].keyword},
               shown(given[i]) + " (" + with_article(type_name(given[i])) + ") could be " +
                   struct_text(info.function.calls[best].parameters[i]) + " or " +
                   struct_text(info.function.calls[other].parameters[i]) +
                   ": give objects of the class that is meant");
    }
}

void check_struct_tensor(const HostItem& wanted, std::int64_t rank, const GivenStructs& given,
                         const Where& where) {
    const manifest::ParameterTree& structure = *wanted.structure;
    if (given.type != wanted.type) {
        refuse(ErrorCode::type_mismatch, where,
               "expected " + structure.type + " structs, found " +
                   (given.type == nullptr
                        ? shown(given.object)
                        : "others: " + dtype_difference(wanted.type->dtype, given.type->dtype)));
    }
    rank += static_cast<std::int64_t>(structure.extents.size());
    if (static_cast<std::int64_t>(given.shape.size()) != rank) {
        refuse(ErrorCode::rank_mismatch, where,
               "expected " + structure.type + " tensor[" + std::to_string(rank) + "], found shape " +
                   to_string(given.shape));
    }
}

std::string reason(const FunctionInfo& info, const std::string& what) {
    const std::string name = info.function.name + ": ";
    return what.starts_with(name) ? what.substr(name.size()) : what;
}

std::string signatures(const FunctionInfo& info) {
    std::string text;
    for (const std::size_t c : info.calls) {
        text += "\n  " + detail::describe(info.function, info.function.calls[c]);
    }
    return text;
}

std::string refused(const FunctionInfo& info, const std::string& why) {
    constexpr std::string_view list = "candidates:";
    const std::size_t told = why.find(list);
    if (told != std::string::npos) return why.substr(told + list.size());
    return signatures(info) + "\n    " + reason(info, why);
}

}  // namespace kf::python
