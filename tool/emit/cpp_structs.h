// The C++ structs that a plan's calls take: their names, their members, and those given field by field.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/enums.h"
#include "emit/items.h"
#include "emit/names.h"
#include "emit/view.h"

namespace kf::gen {

/// "Pair_int_2" of "scene.Pair<int, 2>", whatever other names there are.
std::string cpp_struct_name(const Type& type);

/// Returns the text behind each "///".
View::List doc_comment(const std::vector<std::string>& lines);
/// The friend that gives the parts of a struct which calls take or give field by field.
std::string parts_text(const std::string& name, std::vector<std::string> fields);

/// A function of the module that is a member of a struct, or a pass of one.
struct CppMember {
    const PlannedFunction* function = nullptr;
    std::string member;     ///< the module's
    std::string pass = {};  ///< "backward", "fused" or "jvp": "scale_backward" calls "scale.backward"

    /// Returns its name in the struct, as Slang would have it.
    [[nodiscard]] std::string name() const {
        return function->member_name() + (pass.empty() ? "" : "_" + pass);
    }
};

/// The names of a struct's members.
struct CppMemberNames {
    std::vector<std::string> fields;               ///< in order
    std::map<std::string, std::string> functions;  ///< by CppMember::name()
};

class CppStructs {
public:
    /// Claims the structs' names.
    CppStructs(const Plan& plan, UniqueNames& names);

    /// Returns a host value's type: "kf::float3", "Ray", "std::array<Ray, 4>".
    [[nodiscard]] std::string type(const PlannedArgument& item) const;
    /// "kf::Tensor<Ray, 1>".
    [[nodiscard]] std::string tensor_type(const PlannedArgument& item) const;
    /// The template that takes a type field by field: "RayFields".
    [[nodiscard]] std::string fields_template(const Type& type) const;
    /// Returns the names of the members of a struct, or of a vector that is taken field by field.
    [[nodiscard]] const CppMemberNames& member_names_of(const Type& type) const;
    /// The structs' own names, which members of the module may not have.
    [[nodiscard]] std::set<std::string> names() const;

    /// Returns the header's enums, `full` with the namespace in which they are.
    [[nodiscard]] View::List enums_view(const std::string& name_space) const;
    /// Returns the header's structs, those that take one field by field, and what their member functions do.
    [[nodiscard]] View::List structs_view(const std::string& name_space,
                                          const std::vector<CppMember>& members) const;
    /// Lists the user's own structs that stand for Slang structs, and the headers that they are in.
    [[nodiscard]] View::List hosts_view() const;
    [[nodiscard]] View::List host_headers() const;
    /// Lists the structs that have static functions only.
    [[nodiscard]] View::List owners_view(const std::vector<CppMember>& members) const;
    [[nodiscard]] View::List templates_view(const std::vector<CppMember>& members) const;
    [[nodiscard]] View::List definitions_view(const std::vector<CppMember>& members) const;

private:
    /// Adds conversions of Slang's own Optional and Tuple from and to the standard library's.
    void add_conversions(const UsedStruct& used, View::Object& view) const;
    [[nodiscard]] std::string value_type(const Type& type) const;
    /// The enum that its scalars are; empty: none.
    [[nodiscard]] std::string enum_type(const Type& type) const;
    /// The default value of a field: "float{0.9f}"; empty for none.
    [[nodiscard]] std::string default_of(const UsedStruct& used, std::size_t field) const;
    /// The number of the first of the last fields that all have default values.
    [[nodiscard]] std::size_t first_optional(const UsedStruct& used) const;
    /// Returns the parameters of a template for fields, of which those of such fields may be left out.
    [[nodiscard]] std::string template_declaration(const UsedStruct& used) const;
    [[nodiscard]] View::List guides_view(const UsedStruct& used, const std::string& name) const;
    /// Returns the names that its members may not have.
    [[nodiscard]] std::set<std::string> kept_names(const Type& owner) const;

    std::vector<UsedStruct> used_;
    std::vector<UsedEnum> enums_;
    std::map<std::string, std::string> names_;       ///< by Slang's name
    std::map<std::string, std::string> templates_;   ///< the same
    std::map<std::string, CppMemberNames> members_;  ///< the same
};

}  // namespace kf::gen
