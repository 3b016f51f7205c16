// How kernels set the global parameters of modules, or return those that are properties.
#include "emit/global_functions.h"

#include <algorithm>
#include <string_view>

#include "emit/kinds/buffer.h"
#include "emit/kinds/questions.h"
#include "emit/kinds/texture.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// A declaration in the namespaces that the dotted name begins with.
struct InNamespaces {
    std::string opening;
    std::string name;
    std::string closing;
};

InNamespaces in_namespaces(std::string name) {
    InNamespaces placed;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.')) {
        placed.opening += "namespace " + name.substr(0, dot) + " { ";
        placed.closing += " }";
        name.erase(0, dot + 1);
    }
    placed.name = name;
    return placed;
}

/// The type of what lies at a path in it, ".shelves[1].books".
const Type& type_at(const Type& type, std::string_view path) {
    if (path.empty()) return type;
    const std::size_t end = std::min(path.find_first_of(".[", 1), path.size());
    if (path.front() == '[') return type_at(type.element.front(), path.substr(end));
    const auto field = std::find_if(type.fields.begin(), type.fields.end(),
                                    [&](const Field& one) { return one.name == path.substr(1, end - 1); });
    return type_at(field->type, path.substr(end));
}

std::string returning_function(const PlannedCall& call, const PlannedParameter& parameter, CodeTarget target,
                               const std::string& name) {
    const std::string type = declared_name(parameter.type);
    std::string fields;
    std::string whole;
    for (const PropertyLeaf& leaf : property_leaves(call, parameter, target)) {
        std::string value = leaf.name;
        if (!leaf.resource.empty())
            value = target == CodeTarget::spirv ? leaf.resource
                                                : "kf_buffer_of<" + leaf.type + ">(" + leaf.name + ")";
        if (leaf.path.empty()) whole = value;
        fields += "kf_made" + leaf.path + " = " + value + "; ";
    }
    return "export " + type + " " + name + "() { " +
           (whole.empty() ? type + " kf_made; " + fields + "return kf_made;" : "return " + whole + ";") +
           " }";
}

}  // namespace

std::vector<PropertyLeaf> property_leaves(const PlannedCall& call, const PlannedParameter& parameter,
                                          CodeTarget target) {
    const auto name_of = [](std::int64_t argument) { return "kf_held_" + std::to_string(argument); };
    // CUDA's type of a texture is a struct, which variables may be.
    const auto resource_of = [&](const Type& type, const std::string& name) {
        return type.kind == TypeKind::buffer || target == CodeTarget::spirv ? bound_name(name)
                                                                            : std::string();
    };
    const std::int64_t first = parameter.host.leaf;
    if (is_resource(parameter.type)) {
        return {{first, "", declared_name(parameter.type), resource_of(parameter.type, parameter.host.name),
                 name_of(first)}};
    }
    std::vector<PropertyLeaf> leaves;
    for (std::int64_t i = first; i < first + parameter.host.leaves; ++i) {
        const PlannedArgument& leaf = call.arguments[static_cast<std::size_t>(i)];
        const bool is_bound = supply_of(leaf.host) == Supply::bound;
        std::string name = leaf.host.name;
        std::string path = leaf.path;
        if (is_array_element(leaf, target)) {
            if (array_extents(call, leaf).empty()) continue;
            name = array_name(name);
            path = array_name(path);
        }
        // Where a buffer holds structs, their fields are leaves of one resource, named as the first of them.
        if (is_bound && !leaves.empty() && leaves.back().path == path) continue;
        const Type& type = type_at(parameter.type, path);
        leaves.push_back({i, path, declared_name(type), is_bound ? resource_of(type, name) : "", name_of(i)});
    }
    return leaves;
}

View::List globals_view(const PlannedCall& call, CodeTarget target) {
    View::List views;
    const auto add = [&](const std::string& text) { views.emplace_back(text); };
    bool has_bits = false;
    for (const PlannedParameter& parameter : call.parameters) {
        if (parameter.global_function.empty()) continue;
        const InNamespaces placed = in_namespaces(parameter.global_function);
        if (!parameter.is_property) {
            add(placed.opening + "extern void " + placed.name + "(" + declared_name(parameter.type) +
                " kf_value);" + placed.closing);
            continue;
        }
        for (const PropertyLeaf& leaf : property_leaves(call, parameter, target)) {
            const bool is_buffer = !leaf.resource.empty();
            if (is_buffer && target == CodeTarget::spirv) continue;
            if (is_buffer && !has_bits) {
                // A buffer in CUDA is an address and a number, but no variable may be one.
                add("struct kf_Bits { uint64_t kf_first; uint64_t kf_second; }");
                add("kf_Bits kf_bits<B>(B kf_buffer) { __intrinsic_asm \"(*($TR*)&($0))\"; }");
                add("B kf_buffer_of<B>(kf_Bits kf_held) { __intrinsic_asm \"(*($TR*)&($0))\"; }");
                has_bits = true;
            }
            add("static " + (is_buffer ? "kf_Bits" : leaf.type) + " " + leaf.name + ";");
        }
        add(placed.opening + returning_function(call, parameter, target, placed.name) + placed.closing);
    }
    return views;
}

}  // namespace kf::gen
