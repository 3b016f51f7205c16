// Slang's reflected types as plain values.
#pragma once

#include <slang.h>

#include <optional>
#include <string>
#include <vector>

#include "slang/module.h"

namespace kf::gen {

/// `program` is any module's layout; it answers what conforms to IDifferentiable.
class TypeDescriber {
public:
    /// `sizes`: of a program that is linked, for extents that depend on that; or null.
    explicit TypeDescriber(slang::ProgramLayout& program, slang::ProgramLayout* sizes = nullptr);
    /// Describes a type. One that names generic parameters has the kind `other` and its declaration's name.
    [[nodiscard]] Type describe(slang::TypeReflection* type) const;
    /// The type of that name: "ns.Ray", "Box<float>". Where there is none: kind `other`, and that name.
    [[nodiscard]] Type describe_named(const std::string& name) const;

private:
    /// Where a type is found: structs may lead to themselves through pointers in them.
    enum class Found { alone, in_struct };
    [[nodiscard]] Type describe(slang::TypeReflection* type, Found found) const;
    [[nodiscard]] Type describe_whole(slang::TypeReflection& type, Found found) const;
    [[nodiscard]] std::optional<Type> describe_buffer(slang::TypeReflection& type) const;
    [[nodiscard]] std::optional<Type> describe_texture(slang::TypeReflection& type) const;
    void add_own_fields(slang::TypeReflection& type, Type& described) const;
    void add_formats(slang::TypeReflection& type, std::vector<Field>& fields) const;
    [[nodiscard]] Type describe_pointer(slang::TypeReflection& type, Found found) const;
    [[nodiscard]] Type describe_pattern(slang::TypeReflection& type) const;
    [[nodiscard]] bool has_base(slang::TypeReflection& type) const;
    [[nodiscard]] static bool has_no_diff_array(slang::TypeReflection& type,
                                                const std::vector<Field>& fields);
    [[nodiscard]] bool is_differentiable(slang::TypeReflection& type) const;

    slang::ProgramLayout* program_;
    slang::ProgramLayout* sizes_;
    slang::TypeReflection* differentiable_;
};

/// A type that names generic parameters, "Box<T>": kind `other`.
[[nodiscard]] Type named_only(const std::string& name);

/// The answers of TypeLookup, from the modules loaded. Slang's exceptions pass through.
[[nodiscard]] std::optional<Type> find_type(const std::vector<slang::IModule*>& modules,
                                            const std::string& name, slang::ProgramLayout* sizes);
[[nodiscard]] bool conform(const std::vector<slang::IModule*>& modules, const std::string& type,
                           const std::string& interface_name);

/// A type's whole name, in Slang's own spelling.
[[nodiscard]] std::string full_name(slang::TypeReflection& type);

}  // namespace kf::gen
