// What modules keep to themselves: kernels, which are modules of their own, have to name it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slang/file_access.h"
#include "slang/module.h"

namespace kf::gen {

/// A field that kernels can't name.
struct ClosedField {
    std::string type;  ///< its struct, without generic parameters: "ns.Box"
    std::string name;
    std::int64_t line = 0;
    std::int64_t column = 0;

    bool operator==(const ClosedField&) const = default;
};

/// What is made public: `fields` are those of public structs alone.
enum class Opening : std::uint8_t { everything, fields, nothing };

/// What became of a text's declarations.
struct OpenedText {
    std::string text;
    std::vector<ClosedField> closed_fields;  ///< of structs that are public or were made so
    std::vector<std::string> closed_types;   ///< that stay so, without generic parameters: "ns.Box"
    /// (line, column) of the names of functions that stay closed.
    std::set<std::pair<std::int64_t, std::int64_t>> closed_functions;
    /// A private field is opened, or one whose name other modules mention.
    bool opens_more = false;
};

/// Makes public what a file declares, so that kernels can name it: the fields of structs, and, where its
/// module keeps to itself what isn't public, functions, types and variables. A name that other modules
/// mention stays closed, as it could mean something else there; so do private functions, which their own
/// module could then call instead of others, and fields before a public one, since the constructor that Slang
/// makes of a struct's public fields would take other arguments. Lines and columns
/// stay as they were. `text` may be what another change has made of a module, with #line directives.
/// Declarations are found by their tokens: those that macros hide stay as they are.
/// `nothing` only lists what is closed.
[[nodiscard]] OpenedText open_declarations(std::string_view text, const FileAccess& access,
                                           Opening opening = Opening::everything);

/// Sets GlobalParameter::closed_type of those with a type that stays closed in their file.
void mark_closed_types(const std::map<std::string, OpenedText>& opened,
                       std::vector<GlobalParameter>& globals);

/// Sets Function::is_closed of the functions whose names are at the places, by their files.
void mark_closed(const std::map<std::string, OpenedText>& opened, Module& module);

}  // namespace kf::gen
