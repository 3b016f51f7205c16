// The Python classes of the structs that a plan's calls take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/items.h"
#include "emit/names.h"
#include "emit/view.h"

namespace kf::gen {

class PythonStructs {
public:
    /// Claims the classes' names.
    PythonStructs(const Plan& plan, UniqueNames& names);

    /// "Ray"; of a vector that is given field by field a dict's type.
    [[nodiscard]] std::string class_of(const Type& type) const;
    /// What one comes back as: "Ray", "list[Ray]".
    [[nodiscard]] std::string value_of(const Type& type) const;
    /// The class of the struct that Slang calls so; empty when there is none.
    [[nodiscard]] std::string class_named(const std::string& slang) const;
    [[nodiscard]] std::vector<std::string> names() const;
    /// Whether some class has a dtype.
    [[nodiscard]] bool has_dtypes() const;

    /// For NAME.py: {class, slang, fields, dtype: [{names, formats, offsets, size}]}; lists as text.
    [[nodiscard]] View::List module_view() const;
    /// For NAME.pyi: {class, slang, constructor, fields: [{name}], methods, has_dtype}. `attributes`: the
    /// methods, {name, type}, by the struct's name in Slang.
    [[nodiscard]] View::List stub_view(const std::map<std::string, View::List>& attributes) const;

private:
    std::vector<UsedStruct> used_;              ///< structs only
    std::map<std::string, std::string> names_;  ///< by Slang's name
};

}  // namespace kf::gen
