// The C++ structs that a plan's calls take.
#include "emit/cpp_structs.h"

#include "emit/element.h"
#include "emit/text.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

/// "Pair_int_2_" of "scene.Pair<int, 2>".
std::string struct_name(const Type& type) {
    std::string name = kind_name(type);
    const std::size_t arguments = std::min(name.find('<'), name.size());
    const std::size_t dot = name.substr(0, arguments).find_last_of(".:");
    if (dot != std::string::npos) name = name.substr(dot + 1);
    if (type.kind != TypeKind::structure) return pascal_case(name);
    return cpp_identifier(name);
}

}  // namespace

CppStructs::CppStructs(const Plan& plan, UniqueNames& names) : used_(used_structs(plan)) {
    for (const UsedStruct& used : used_) {
        if (used.whole) names_[kind_name(used.type)] = names.claim(struct_name(used.type));
    }
    for (const UsedStruct& used : used_) {
        if (used.fields) templates_[kind_name(used.type)] = names.claim(struct_name(used.type) + "Fields");
    }
}

std::string CppStructs::value_type(const Type& type) const {
    if (!holds_structs(type)) return cpp_type(kind_name(type));
    if (type.kind == TypeKind::array) {
        return "std::array<" + value_type(type.element.front()) + ", " + std::to_string(type.extent) + ">";
    }
    return names_.at(kind_name(type));
}

std::string CppStructs::type(const PlannedArgument& item) const {
    return holds_structs(item.type) ? value_type(item.type) : cpp_type(item.element_name);
}

std::string CppStructs::tensor_type(const PlannedArgument& item) const {
    return "kf::Tensor<" + type(item) + ", " + std::to_string(item.host.rank) + ">";
}

std::string CppStructs::fields_template(const Type& type) const { return templates_.at(kind_name(type)); }

std::set<std::string> CppStructs::names() const {
    std::set<std::string> names;
    for (const auto& [slang, name] : names_) names.insert(name);
    return names;
}

View::List CppStructs::structs_view(const std::string& name_space) const {
    View::List list;
    for (const UsedStruct& used : used_) {
        if (!used.whole) continue;
        const std::string name = names_.at(kind_name(used.type));
        const StructLayout layout = layout_of(used.type);
        View::List members;
        std::vector<std::string> terms{"sizeof(" + name + ") == " + std::to_string(layout.size),
                                       "std::is_trivially_copyable_v<" + name + ">"};
        for (std::size_t i = 0; i < used.type.fields.size(); ++i) {
            const Field& field = used.type.fields[i];
            const std::string member = cpp_identifier(field.name);
            members.emplace_back(View::Object{{"type", value_type(field.type)}, {"name", member}});
            terms.push_back("offsetof(" + name + ", " + member + ") == " + std::to_string(layout.offsets[i]));
        }
        list.emplace_back(View::Object{{"name", name},
                                       {"slang", used.type.name},
                                       {"full", name_space + "::" + name},
                                       {"members", std::move(members)},
                                       {"condition", wrap_list(0, "static_assert(", terms, ");", " &&")}});
    }
    return list;
}

View::List CppStructs::templates_view() const {
    View::List list;
    for (const UsedStruct& used : used_) {
        if (!used.fields) continue;
        View::List members;
        std::string parameters;
        std::string names;
        UniqueNames types;
        for (const Field& field : fields_of(used.type)) {
            const std::string parameter = types.claim(pascal_case(field.name) + "Type");
            parameters += (parameters.empty() ? "class " : ", class ") + parameter;
            names += (names.empty() ? "" : ", ") + parameter;
            members.emplace_back(View::Object{{"type", parameter}, {"name", cpp_identifier(field.name)}});
        }
        list.emplace_back(View::Object{{"name", templates_.at(kind_name(used.type))},
                                       {"slang", used.type.name},
                                       {"parameters", parameters},
                                       {"types", names},
                                       {"members", std::move(members)}});
    }
    return list;
}

}  // namespace kf::gen
