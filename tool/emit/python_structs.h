// The Python classes of the structs that a plan's calls take.
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

/// Returns the type of a number, or an array of them, by value: "float", "npt.NDArray[np.int32]".
std::string returned_number(const manifest::Element& element);

class PythonStructs {
public:
    /// Claims the classes' names; among `classes` those that stand in the stub alone.
    PythonStructs(const Plan& plan, UniqueNames& names, UniqueNames& classes);

    /// Returns the type of a result field by field: "Ray[kf.Tensor, float]"; of a vector a dict.
    [[nodiscard]] std::string fields_of(const PlannedCall& call, const manifest::ParameterTree& parameter,
                                        const Type& type) const;
    /// Returns a parameter's type for one: "_RayValue", "_RayValue[_Tensor]" if fields may be PyTorch's.
    [[nodiscard]] std::string object_of(const Type& type) const {
        return objects_.at(type.name).value + (following_.contains(type.name) ? "[_Tensor]" : "");
    }
    /// Whether what some struct's fields hold decides about results.
    [[nodiscard]] bool follow_torch() const { return !following_.empty(); }
    /// Names of typing and of kernelfunctions.typing that the stub's classes use.
    [[nodiscard]] const std::set<std::string>& typing_words() const { return typing_; }
    [[nodiscard]] const std::set<std::string>& words() const { return words_; }
    /// Returns the type of a returned value: "float", "_RayReturned", "list[_RayReturned]".
    [[nodiscard]] std::string value_of(const Type& type) const;
    /// Returns the type of a returned value but a struct: "float", "Color", "npt.NDArray[np.int32]".
    [[nodiscard]] std::string number_of(const Type& type, const manifest::Element& element) const;
    /// The names that stand for an enum's members where one is taken, "_ColorName"; empty: it is none.
    [[nodiscard]] std::string enum_names_of(const Type& type) const;
    [[nodiscard]] const std::vector<UsedEnum>& enums() const { return enums_; }
    /// Returns the enums of NAME.py: {class, base, slang, members: [{name, value}], scalar}; for NAME.pyi
    /// `names` in the scalar's place.
    [[nodiscard]] View::List enums_view(bool stub) const;
    /// The class of the struct that Slang calls so; empty when there is none.
    [[nodiscard]] std::string class_named(const std::string& slang) const;
    /// Whether that struct's class has a field's attribute of this name.
    [[nodiscard]] bool has_field(const std::string& slang, const std::string& attribute) const;
    [[nodiscard]] std::vector<std::string> names() const;
    /// Whether dicts of some struct may lack fields.
    [[nodiscard]] bool has_optional_fields() const { return has_optional_; }
    /// Whether some class has a dtype.
    [[nodiscard]] bool has_dtypes() const;
    /// Whether some class is generic in what its fields hold.
    [[nodiscard]] bool has_variables() const { return !variables_.empty(); }

    /// NAME.py's structs, as text: {class, slang, doc, fields, dtype: [{names, formats, offsets, size}]}.
    [[nodiscard]] View::List module_view() const;
    /// Returns the structs of NAME.pyi: {class, doc, constructor, fields: [{name, type}], methods, has_dtype,
    /// variables, returned, object: [{value, like, dict, fields}]}. `attributes`: the methods, {name, type},
    /// by the struct's name in Slang.
    [[nodiscard]] View::List stub_view(const std::map<std::string, View::List>& attributes) const;

private:
    std::vector<UsedStruct> used_;  ///< structs only
    std::vector<UsedEnum> enums_;
    std::map<std::string, std::string> enum_words_;  ///< by Slang's name: what stands for members' names
    std::string field_type(const Type& type, bool by_field) const;
    std::string own_values(const UsedStruct& used) const;
    bool has_default(const UsedStruct& used, std::size_t field) const;
    /// Whether a constructor's caller may leave the field out.
    bool is_optional(const UsedStruct& used, std::size_t field) const;
    /// The first field behind one that is left out: it goes by name then. Their number where there is none.
    std::size_t first_by_name(const UsedStruct& used) const;
    std::string default_text(const UsedStruct& used, std::size_t field) const;
    void claim_variables(const UsedStruct& used, UniqueNames& classes);
    View::List variables_view(const UsedStruct& used) const;
    View::List returned_view(const UsedStruct& used) const;
    View object_view(const UsedStruct& used, View::List fields, bool renamed) const;

    /// The types that stand for a struct where one is taken: all of it, one with its attributes, and a dict.
    struct ObjectNames {
        std::string value;
        std::string like;
        std::string dict;
        std::string field;  ///< one that is a field of another
    };

    std::map<std::string, std::string> names_;    ///< by Slang's name
    std::map<std::string, ObjectNames> objects_;  ///< by Slang's name
    /// The type variable of each field, by the struct's name in Slang; empty where the field's type is fixed.
    std::map<std::string, std::vector<std::string>> variables_;
    std::map<std::string, std::string> returned_;  ///< by Slang's name: one that is returned by value
    std::set<std::string> following_;              ///< by Slang's name: those whose fields may be PyTorch's
    std::set<std::string> typing_;
    bool has_optional_ = false;  ///< some field may be left out of a dict
    std::set<std::string> words_;
};

}  // namespace kf::gen
