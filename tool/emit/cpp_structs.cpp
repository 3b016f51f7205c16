// The C++ structs that a plan's calls take.
#include "emit/cpp_structs.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "emit/element.h"
#include "emit/field_defaults.h"
#include "emit/text.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {

std::string cpp_struct_name(const Type& type) {
    std::string name = kind_name(type);
    const std::size_t arguments = std::min(name.find('<'), name.size());
    const std::size_t dot = name.substr(0, arguments).find_last_of(".:");
    if (dot != std::string::npos) name = name.substr(dot + 1);
    if (type.kind != TypeKind::structure) return pascal_case(name);
    return cpp_identifier(name);
}

View::List doc_comment(const std::vector<std::string>& lines) {
    View::List list;
    for (const std::string& line : lines) list.emplace_back(line.empty() ? "" : " " + line);
    return list;
}

std::string parts_text(const std::string& name, std::vector<std::string> fields) {
    UniqueNames names;  // compilers warn of a parameter that is called as a field
    for (const std::string& field : fields) names.claim(field);
    const std::string whole = names.claim("whole");
    for (std::string& field : fields) field.insert(0, whole + ".");
    return wrap_list(4, "friend auto kf_parts(" + name + "& " + whole + ") { return std::tie(", fields,
                     "); }");
}

namespace {

/// Returns a struct's documentation, and an empty line before the one that says what it is.
View::List struct_comment(const UsedStruct& used) {
    View::List list = doc_comment(used.doc);
    if (!list.empty()) list.emplace_back("");
    return list;
}

/// Whether some overload takes the object so; static functions are the struct's own.
bool is_member_of(const CppMember& member, const Type& type, manifest::Form form) {
    const PlannedFunction& function = *member.function;
    if (function.owner != type.name) return false;
    const std::vector<Field> fields = fields_of(type);
    const bool hidden = std::any_of(fields.begin(), fields.end(),
                                    [&](const Field& field) { return field.name == member.name(); });
    if (hidden) return false;
    if (!function.is_method()) return form == manifest::Form::value;  // of the struct itself
    return std::any_of(function.calls.begin(), function.calls.end(),
                       [&](const PlannedCall& call) { return call.parameters.front().host.form == form; });
}

/// "Scaler_scale", "Scaler_scale.backward": of the module.
std::string called(const CppMember& member) {
    return member.member + (member.pass.empty() ? "" : "." + member.pass);
}

/// `kept`: the struct's own name, and those of types that it uses. Where names meet, those that would differ
/// from Slang's anyway give way: a keyword's trailing _ must not make it another member's name.
CppMemberNames member_names(const Type& type, std::set<std::string> kept, const Plan& plan) {
    std::vector<CppMember> members;
    for (const PlannedFunction& function : plan.functions) {
        for (const char* pass : {"", "backward", "fused", "jvp"}) {
            const CppMember member{&function, {}, pass};
            if (!function.is_hidden() && (is_member_of(member, type, manifest::Form::value) ||
                                          is_member_of(member, type, manifest::Form::fields)))
                members.push_back(member);
        }
    }
    if (!members.empty()) kept.insert("Module");  // which they take
    const std::vector<Field> fields = fields_of(type);
    UniqueNames names(kept);
    CppMemberNames made;
    made.fields.resize(fields.size());
    for (const bool renamed : {false, true}) {
        const auto claim = [&](const std::string& slang, std::string& name) {
            const std::string wanted = cpp_identifier(slang);
            if (name.empty() && renamed == (wanted != slang || kept.contains(slang)))
                name = names.claim(wanted);
        };
        for (std::size_t i = 0; i < fields.size(); ++i) claim(fields[i].name, made.fields[i]);
        for (const CppMember& member : members) claim(member.name(), made.functions[member.name()]);
    }
    return made;
}

/// "decltype(auto) Ray::at(const Module& module, Arguments&&... arguments) const;", and what it does.
struct MemberText {
    std::string head;
    std::string call;
};

MemberText member_text(const CppMemberNames& called_so, const CppMember& member, std::size_t indent,
                       const std::string& head, const std::string& tail) {
    UniqueNames names;  // no parameter may hide a field
    for (const std::string& name : called_so.fields) names.claim(name);
    const std::string module = names.claim("module");
    const std::string arguments = names.claim("arguments");
    const bool method = member.function->is_method();
    return {wrap_list(indent, head + called_so.functions.at(member.name()) + "(",
                      {"const Module& " + module, "Arguments&&... " + arguments},
                      (method ? ") const" : ")") + tail),
            module + "." + called(member) + "(" + (method ? "*this, " : "") + "std::forward<Arguments>(" +
                arguments + ")...)"};
}

View::List methods_view(const Type& type, const CppMemberNames& names, manifest::Form form,
                        const std::vector<CppMember>& members) {
    View::List list;
    for (const CppMember& member : members) {
        if (!is_member_of(member, type, form)) continue;
        View::List doc =
            doc_comment(member.pass.empty() ? doc_lines(member.function->doc) : std::vector<std::string>());
        const bool method = member.function->is_method();
        const std::string head = std::string(method ? "" : "static ") + "decltype(auto) ";
        list.emplace_back(View::Object{{"separate", !type.fields.empty() || !list.empty()},
                                       {"member", called(member)},
                                       {"doc", std::move(doc)},
                                       {"takes_this", method},
                                       {"declaration", member_text(names, member, 4, head, ";").head}});
    }
    return list;
}

/// "class PosType, class DirType", and without "class".
std::pair<std::string, std::string> template_parameters(const Type& type) {
    std::string declared;
    std::string names;
    UniqueNames types;
    for (const Field& field : fields_of(type)) {
        const std::string parameter = types.claim(pascal_case(field.name) + "Type");
        declared += (declared.empty() ? "class " : ", class ") + parameter;
        names += (names.empty() ? "" : ", ") + parameter;
    }
    return {declared, names};
}

/// "requires kf::detail::fields_fit<…>", and the operator.
std::string conversion_text(const Type& type, const CppMemberNames& names, const std::string& name) {
    // C++ converts no array to one of other elements.
    const bool by_elements = std::any_of(type.fields.begin(), type.fields.end(), [](const Field& field) {
        return field.type.kind == TypeKind::array &&
               (holds_structs(field.type) || holds_resource(field.type));
    });
    std::vector<std::string> given{"kf::detail::FieldTypes<Others...>()"};
    given.insert(given.end(), names.fields.begin(), names.fields.end());
    return "    requires kf::detail::fields_fit<\n        kf::detail::FieldTypes<" +
           template_parameters(type).second + ">,\n        kf::detail::FieldTypes<Others...>>\n" +
           (by_elements
                ? wrap_list(4,
                            "operator " + name + "<Others...>() const { return kf::detail::with_fields<" +
                                name + "<Others...>>(",
                            given, "); }")
                : wrap_list(4, "operator " + name + "<Others...>() const { return {", names.fields, "}; }"));
}

}  // namespace

CppStructs::CppStructs(const Plan& plan, UniqueNames& names)
    : used_(used_structs(plan)), enums_(used_enums(plan, false)) {
    for (const UsedStruct& used : used_) {
        if (used.type.host)
            names_[kind_name(used.type)] = used.type.host->type;
        else if (used.whole || used.statics)
            names_[kind_name(used.type)] = names.claim(cpp_struct_name(used.type));
    }
    for (const UsedStruct& used : used_) {
        if (used.fields)
            templates_[kind_name(used.type)] = names.claim(cpp_struct_name(used.type) + "Fields");
    }
    for (const UsedEnum& used : enums_)
        names_[used.name] = names.claim(cpp_identifier(used.name.substr(used.name.find_last_of(".:") + 1)));
    for (const UsedStruct& used : used_)
        members_[kind_name(used.type)] = member_names(used.type, kept_names(used.type), plan);
}

std::string CppStructs::value_type(const Type& type) const {
    if (type.kind == TypeKind::pointer) return cpp_type(to_string(ScalarType::uint64));
    if (!holds_structs(type)) return cpp_type(kind_name(type), enum_type(type));
    if (type.kind == TypeKind::array) {
        return "std::array<" + value_type(type.element.front()) + ", " + std::to_string(type.extent) + ">";
    }
    return names_.at(kind_name(type));
}

std::string CppStructs::default_of(const UsedStruct& used, std::size_t field) const {
    const std::vector<Field> fields = fields_of(used.type);
    const Type& type = fields[field].type;
    const Type& inner = innermost_of(type);
    const bool has_type = inner.kind != TypeKind::structure || names_.contains(kind_name(inner));
    if (used.defaults[field].empty() || !has_type) return "";
    return value_type(type) + "{" + cpp_initialiser(type, used.defaults[field]) + "}";
}

std::size_t CppStructs::first_optional(const UsedStruct& used) const {
    std::size_t first = used.defaults.size();
    while (first > 0 && !default_of(used, first - 1).empty()) --first;
    return first;
}

std::string CppStructs::template_declaration(const UsedStruct& used) const {
    std::string declared;
    UniqueNames types;
    const std::vector<Field> fields = fields_of(used.type);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        declared += (i == 0 ? "class " : ", class ") + types.claim(pascal_case(fields[i].name) + "Type");
        if (i >= first_optional(used)) declared += " = " + value_type(fields[i].type);
    }
    return declared;
}

/// "RayFields(PosType) -> RayFields<…>;": of all fields, and without those at the end that may be left out.
View::List CppStructs::guides_view(const UsedStruct& used, const std::string& name) const {
    View::List guides;
    const std::vector<Field> fields = fields_of(used.type);
    for (std::size_t given = fields.size(); given > 0 && given >= first_optional(used); --given) {
        UniqueNames names;
        std::string declared;
        std::string taken;
        std::vector<std::string> types;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i >= given) {
                types.push_back(value_type(fields[i].type));
                continue;
            }
            const std::string parameter = names.claim(pascal_case(fields[i].name) + "Type");
            declared += (i == 0 ? "class " : ", class ") + parameter;
            taken += (i == 0 ? "" : ", ") + parameter;
            types.push_back("typename kf::detail::FieldOf<" + parameter + ">::type");
        }
        guides.emplace_back(View::Object{
            {"parameters", declared},
            {"guide", name + "(" + taken + ")\n" + wrap_list(4, "-> " + name + "<", types, ">;")}});
    }
    return guides;
}

std::string CppStructs::type(const PlannedArgument& item) const {
    return holds_structs(item.type) ? value_type(item.type)
                                    : cpp_type(item.element_name, enum_type(item.type));
}

std::string CppStructs::enum_type(const Type& type) const {
    const auto known = names_.find(host_enum(type));
    return known == names_.end() ? std::string() : known->second;
}

std::string CppStructs::tensor_type(const PlannedArgument& item) const {
    return "kf::Tensor<" + type(item) + ", " + std::to_string(item.host.rank) + ">";
}

std::set<std::string> CppStructs::kept_names(const Type& owner) const {
    std::set<std::string> kept;
    const auto keep = [&](const Type& type) {
        if (const std::string name = enum_type(type); !name.empty()) kept.insert(name);
        if (type.kind != TypeKind::structure) return;
        const std::string slang = kind_name(type);
        if (names_.contains(slang)) kept.insert(names_.at(slang));
        if (templates_.contains(slang)) kept.insert(templates_.at(slang));
    };
    keep(owner);
    for (const Field& field : fields_of(owner)) keep(innermost_of(field.type));
    return kept;
}

const CppMemberNames& CppStructs::member_names_of(const Type& type) const {
    return members_.at(kind_name(type));
}

std::string CppStructs::fields_template(const Type& type) const { return templates_.at(kind_name(type)); }

std::set<std::string> CppStructs::names() const {
    std::set<std::string> names;
    for (const auto& [slang, name] : names_) names.insert(name);
    return names;
}

View::List CppStructs::enums_view(const std::string& name_space) const {
    View::List list;
    for (const UsedEnum& used : enums_) {
        View::List members;
        UniqueNames names;
        for (const auto& [member, value] : used.members) {
            std::string text = value_text(used, value);
            // C++ has no negative literals: the literal of this one's size would be too large.
            if (value == std::numeric_limits<std::int64_t>::min() && text.starts_with('-'))
                text = "-9223372036854775807 - 1";
            if (used.scalar == ScalarType::uint64) text += "U";
            members.emplace_back(
                View::Object{{"name", names.claim(cpp_identifier(member))}, {"value", text}});
        }
        const std::string& name = names_.at(used.name);
        const std::string scalar = cpp_type(to_string(used.scalar));
        list.emplace_back(View::Object{{"name", name},
                                       {"slang", used.name},
                                       {"scalar", scalar},
                                       {"full", name_space + "::" + name},
                                       {"flags", used.flags},
                                       {"members", std::move(members)}});
    }
    return list;
}

void CppStructs::add_conversions(const UsedStruct& used, View::Object& view) const {
    const std::vector<Field>& fields = used.type.fields;
    const std::vector<std::string>& members = member_names_of(used.type).fields;
    const std::string& name = names_.at(kind_name(used.type));
    View::List optional;
    View::List tuple;
    if (used.type.own == OwnStruct::optional) {
        const std::string type = value_type(fields.front().type);
        optional.emplace_back(View::Object{{"struct", name},
                                           {"type", type},
                                           {"own", "std::optional<" + type + ">"},
                                           {"value", members.front()},
                                           {"has_value", members.back()}});
    } else if (used.type.own == OwnStruct::tuple) {
        std::string types;
        std::string initial;
        std::vector<std::string> parameters;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string type = value_type(fields[i].type);
            types += (i == 0 ? "" : ", ") + type;
            parameters.push_back("const " + type + "& at" + std::to_string(i));
            initial += (i == 0 ? "" : ", ") + members[i] + "(at" + std::to_string(i) + ")";
        }
        const std::string own = "std::tuple<" + types + ">";
        tuple.emplace_back(View::Object{
            {"struct", name},
            {"own", own},
            {"constructor", wrap_list(4, name + "(", parameters, ")") + "\n        : " + initial + " {}"},
            {"conversion", wrap_list(4, "operator " + own + "() const { return {", members, "}; }")}});
    }
    view.emplace("optional", std::move(optional));
    view.emplace("tuple", std::move(tuple));
}

View::List CppStructs::structs_view(const std::string& name_space,
                                    const std::vector<CppMember>& members_of) const {
    View::List list;
    for (const UsedStruct& used : used_) {
        if (!used.whole || used.type.host) continue;
        const std::string name = names_.at(kind_name(used.type));
        const StructLayout layout = layout_of(used.type);
        const CppMemberNames& names = member_names_of(used.type);
        View::List members;
        std::vector<std::string> terms{"sizeof(" + name + ") == " + std::to_string(layout.size),
                                       "std::is_trivially_copyable_v<" + name + ">"};
        for (std::size_t i = 0; i < used.type.fields.size(); ++i) {
            const Field& field = used.type.fields[i];
            const std::string& member = names.fields[i];
            const std::string value = default_of(used, i).empty()
                                          ? "{}"
                                          : "{" + cpp_initialiser(field.type, used.defaults[i]) + "}";
            members.emplace_back(View::Object{{"type", value_type(field.type)},
                                              {"name", member},
                                              {"value", value},
                                              {"doc", doc_comment(used.field_docs[i])}});
            terms.push_back("offsetof(" + name + ", " + member + ") == " + std::to_string(layout.offsets[i]));
        }
        View::Object view{{"name", name},
                          {"slang", used.type.name},
                          {"doc", struct_comment(used)},
                          {"full", name_space + "::" + name},
                          {"members", std::move(members)},
                          {"methods", methods_view(used.type, names, manifest::Form::value, members_of)},
                          {"condition", wrap_list(0, "static_assert(", terms, ");", " &&")}};
        add_conversions(used, view);
        list.emplace_back(std::move(view));
    }
    return list;
}

View::List CppStructs::hosts_view() const {
    View::List list;
    for (const UsedStruct& used : used_) {
        if (!used.whole || !used.type.host) continue;
        const HostStruct& host = *used.type.host;
        std::vector<std::string> terms{"sizeof(" + host.type + ") == " + std::to_string(host.size),
                                       "alignof(" + host.type + ") == " + std::to_string(host.alignment),
                                       "std::is_trivially_copyable_v<" + host.type + ">"};
        if (!host.is_copied_by_bytes)
            terms.back() = "std::is_copy_constructible_v<" + host.type +
                           "> && std::is_trivially_destructible_v<" + host.type + ">";
        std::string name = host.type;
        std::ranges::replace_if(
            name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
        // A comma would end the macro's argument.
        const bool has_comma = host.type.find(',') != std::string::npos;
        const std::string type = has_comma ? "kf::detail::host::" + name : host.type;
        for (const HostStruct::Place& field : host.fields)
            terms.push_back("offsetof(" + type + ", " + field.member +
                            ") == " + std::to_string(field.member_offset));
        View::List alias;
        if (has_comma) alias.emplace_back(name);
        list.emplace_back(View::Object{{"type", host.type},
                                       {"slang", used.type.name},
                                       {"alias", std::move(alias)},
                                       {"guard", "KF_ELEMENT_OF_" + name},
                                       {"condition", wrap_list(0, "static_assert(", terms, ");", " &&")}});
    }
    return list;
}

View::List CppStructs::host_headers() const {
    std::set<std::string> headers;
    for (const UsedStruct& used : used_) {
        if (used.type.host) headers.insert(used.type.host->header);
    }
    return {headers.begin(), headers.end()};
}

View::List CppStructs::owners_view(const std::vector<CppMember>& members) const {
    View::List list;
    for (const UsedStruct& used : used_) {
        if (used.whole || used.type.host || !used.statics) continue;
        const CppMemberNames& names = member_names_of(used.type);
        list.emplace_back(
            View::Object{{"name", names_.at(kind_name(used.type))},
                         {"slang", used.type.name},
                         {"doc", struct_comment(used)},
                         {"methods", methods_view(used.type, names, manifest::Form::value, members)}});
    }
    return list;
}

View::List CppStructs::templates_view(const std::vector<CppMember>& members_of) const {
    View::List list;
    for (const UsedStruct& used : used_) {
        if (!used.fields) continue;
        View::List members;
        UniqueNames types;
        const std::vector<Field> fields = fields_of(used.type);
        const CppMemberNames& names = member_names_of(used.type);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string type = types.claim(pascal_case(fields[i].name) + "Type");
            const std::string value = default_of(used, i);
            members.emplace_back(View::Object{
                {"type", type},
                {"name", names.fields[i]},
                {"value", value.empty() ? "{}" : "{kf::detail::default_of<" + type + ">(" + value + ")}"},
                {"doc", doc_comment(used.field_docs[i])}});
        }
        const std::string& name = templates_.at(kind_name(used.type));
        list.emplace_back(
            View::Object{{"name", name},
                         {"conversion", conversion_text(used.type, names, name)},
                         {"guides", guides_view(used, name)},
                         {"parts", parts_text(name, names.fields)},
                         {"slang", used.type.name},
                         {"doc", struct_comment(used)},
                         {"parameters", template_declaration(used)},
                         {"members", std::move(members)},
                         {"methods", methods_view(used.type, names, manifest::Form::fields, members_of)}});
    }
    return list;
}

View::List CppStructs::definitions_view(const std::vector<CppMember>& members) const {
    View::List list;
    const auto add = [&](const CppMemberNames& names, const CppMember& member, const std::string& owner,
                         View::List parameters) {
        MemberText text = member_text(names, member, 0, "decltype(auto) " + owner + "::", " {");
        list.emplace_back(View::Object{{"template", std::move(parameters)},
                                       {"head", std::move(text.head)},
                                       {"call", std::move(text.call)}});
    };
    for (const UsedStruct& used : used_) {
        const CppMemberNames& own = member_names_of(used.type);
        for (const CppMember& member : members) {
            const bool own_struct = (used.whole || used.statics) && !used.type.host;
            if (own_struct && is_member_of(member, used.type, manifest::Form::value))
                add(own, member, names_.at(kind_name(used.type)), {});
            if (!used.fields || !is_member_of(member, used.type, manifest::Form::fields)) continue;
            const auto [declared, names] = template_parameters(used.type);
            add(own, member, templates_.at(kind_name(used.type)) + "<" + names + ">", View::List{declared});
        }
    }
    return list;
}

}  // namespace kf::gen
