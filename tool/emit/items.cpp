// The items that wrappers take for a call, one by one.
#include "emit/items.h"

#include <algorithm>

#include "core/python_names.h"
#include "emit/text.h"
#include "plan/kinds/generator.h"
#include "plan/structs.h"
#include "plan/types.h"
#include "spec/names.h"

namespace kf::gen {
namespace {

using manifest::Form;

PlannedArgument whole_item(const PlannedCall& call, const manifest::ParameterTree& parameter,
                           const Type& type) {
    const auto first = static_cast<std::size_t>(parameter.leaf);
    PlannedArgument item = call.arguments[first];
    item.type = type;
    item.element_name = kind_name(type);
    item.host.trailing.clear();
    for (std::size_t i = first; i < first + static_cast<std::size_t>(parameter.leaves); ++i) {
        const manifest::Argument& leaf = call.arguments[i].host;
        item.host.differentiable = item.host.differentiable || leaf.differentiable;
        item.host.gradient = std::max(item.host.gradient, leaf.gradient);
        // A field that is written makes the whole one that is.
        if (leaf.role != manifest::Role::in) item.host.role = leaf.role;
    }
    return item;
}

void add_items(const PlannedCall& call, const manifest::ParameterTree& parameter, const Type& type,
               const std::string& name, std::vector<PlannedArgument>& items) {
    if (parameter.form == Form::fields) {
        const std::vector<Field> fields = fields_of(type);
        for (std::size_t i = 0; i < parameter.fields.size(); ++i) {
            add_items(call, parameter.fields[i], fields[i].type, manifest::field_path(name, fields[i].name),
                      items);
        }
        return;
    }
    const bool container = type.kind == TypeKind::tensor || type.kind == TypeKind::buffer;
    const Type& element = container && !type.element.empty() ? type.element.front() : type;
    items.push_back(parameter.form == Form::leaf ? call.arguments[static_cast<std::size_t>(parameter.leaf)]
                                                 : whole_item(call, parameter, element));
    items.back().host.name = name;
}

class Collector {
public:
    explicit Collector(std::vector<UsedStruct>& used) : used_(used) {}

    void add(const PlannedCall& call, const manifest::ParameterTree& parameter, const Type& type) {
        if (parameter.form == Form::leaf) return add_pointee(type);
        if (parameter.form != Form::fields) return add_whole(type);
        const std::vector<Field> fields = fields_of(type);
        for (std::size_t i = 0; i < parameter.fields.size(); ++i)
            add(call, parameter.fields[i], fields[i].type);
        if (type.kind == TypeKind::array) return;
        UsedStruct& used = entry(type);
        used.fields = true;
        for (const manifest::ParameterTree& field : parameter.fields) {
            const bool leaf = field.form == Form::leaf;
            if (!leaf || has_host_value(call.arguments[static_cast<std::size_t>(field.leaf)].host)) continue;
            if (std::find(used.made.begin(), used.made.end(), field.name) == used.made.end())
                used.made.push_back(field.name);
        }
    }

    void add_statics(const std::string& owner) {
        Type type;
        type.kind = TypeKind::structure;
        type.name = owner;
        entry(type).statics = true;
    }

private:
    /// Memory is given by its size where the host has no such struct.
    void add_pointee(const Type& type) {
        if (type.kind != TypeKind::pointer || type.element.empty()) return;
        const Type& pointee = type.element.front();
        if (is_host_struct_in_memory(pointee)) add_whole(pointee);
    }

    void add_whole(const Type& type) {
        const bool container =
            type.kind == TypeKind::array || type.kind == TypeKind::tensor || type.kind == TypeKind::buffer;
        if (container && !type.element.empty()) return add_whole(type.element.front());
        if (type.kind != TypeKind::structure) return;
        for (const Field& field : type.fields) add_whole(field.type);
        entry(type).whole = true;
    }

    UsedStruct& entry(const Type& type) {
        const auto known = std::find_if(used_.begin(), used_.end(), [&](const UsedStruct& one) {
            return kind_name(one.type) == kind_name(type);
        });
        if (known != used_.end()) return *known;
        return used_.emplace_back(UsedStruct{type, false, false, {}, false});
    }

    std::vector<UsedStruct>& used_;
};

void add_docs(UsedStruct& used, const std::vector<StructText>& texts) {
    const std::vector<Field> fields = fields_of(used.type);
    used.field_docs.resize(fields.size());
    const std::string name = plain_name(used.type.name);
    const auto text =
        std::find_if(texts.begin(), texts.end(), [&](const StructText& one) { return one.name == name; });
    if (used.type.kind != TypeKind::structure || text == texts.end()) return;
    used.doc = doc_lines(text->doc);
    for (const auto& [field, doc] : text->fields) {
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (fields[i].name == field) used.field_docs[i] = doc_lines(doc);
    }
}

}  // namespace

std::vector<std::string> python_parameters_of(const PlannedCall& call) {
    std::vector<std::string> names;
    for (const PlannedParameter& parameter : call.parameters) names.push_back(parameter.host.name);
    return detail::python_parameters(names);
}

std::vector<PlannedArgument> host_items(const PlannedCall& call) {
    std::vector<PlannedArgument> items;
    for (const PlannedParameter& parameter : call.parameters)
        add_items(call, parameter.host, parameter.type, parameter.host.name, items);
    return items;
}

std::vector<UsedStruct> used_structs(const Plan& plan) {
    std::vector<UsedStruct> used;
    Collector collector(used);
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            for (const PlannedParameter& parameter : call.parameters)
                collector.add(call, parameter.host, parameter.type);
        }
    }
    for (const PlannedFunction& function : plan.functions) {
        if (!function.owner.empty() && !function.is_method()) collector.add_statics(function.owner);
    }
    for (UsedStruct& one : used) add_docs(one, plan.structs);
    for (UsedStruct& one : used) {
        const auto known = plan.defaults.find(one.type.name);
        if (one.type.kind == TypeKind::structure && known != plan.defaults.end())
            one.defaults = known->second;
        one.defaults.resize(fields_of(one.type).size());
    }
    return used;
}

}  // namespace kf::gen
