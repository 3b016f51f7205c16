// Types as their names say them, so that generic ones can be matched and filled in without Slang.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// "vector<float, 3>" is vector of float and 3; "float3" is the same, and "int[2][3]" is an Array of 2
/// Arrays of 3. A type inside another is "." of both. Numbers are names; so is any expression of them.
struct TypeText {
    std::string name;
    std::vector<TypeText> arguments;

    bool operator==(const TypeText&) const = default;
};

/// The types and numbers that generic parameters stand for.
using Bindings = std::map<std::string, TypeText>;

/// Returns nothing when the text is no type. "::" and "." are the same.
std::optional<TypeText> parse_type(std::string_view text);

/// Returns the type as kinds and messages spell it: "float3", "int[2][3]", "ns.Box<float, 3>".
std::string spelled(const TypeText& type);
/// Returns the type as Slang reads it everywhere: arrays in brackets have the outermost extent last.
std::string slang_text(const TypeText& type);

/// Whether the text is a number or true or false, which only value parameters take.
bool is_value(const TypeText& type);

/// The type with its generic parameters filled in; those without a binding stay.
TypeText substituted(const TypeText& pattern, const Bindings& bindings);
/// The first of `names` that the type mentions.
std::optional<std::string> mentioned(const TypeText& type, const std::vector<std::string>& names);

/// Adds what `names` must stand for to make `pattern` the type given. False when nothing does, or another
/// binding contradicts. What can't be turned round ("T.Differential", "N+1") fits any type.
bool unify(const TypeText& pattern, const TypeText& type, const std::vector<std::string>& names,
           Bindings& bindings);

/// The type that a function is a member of: "ns.Box<float>" of "ns.Box<float>.make<int>".
std::string owner_of(std::string_view function);

/// Returns a dimension's type: a row of a matrix, an element of an array, a component of a vector.
std::optional<TypeText> peeled(const TypeText& type);
/// How often peeled() gives something.
int depth(const TypeText& type);

}  // namespace kf::gen
