// What modules keep to themselves: kernels, which are modules of their own, have to name it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slang/module.h"
#include "slang/module_texts.h"

namespace kf::gen {

/// What may become public in a file.
struct FileAccess {
    /// Its module closes what isn't public: a file of the module says `public`, `internal` or `private`, or
    /// has a line with `module`, `implementing`, `__include` or `#language`. Only what stands outside of #if
    /// counts, as a branch may be left out.
    bool keeps_to_itself = false;
    /// The words of other modules that may see what is declared here.
    std::set<std::string, std::less<>> elsewhere;
};

/// By canonical paths.
using FileAccesses = std::map<std::string, FileAccess>;

/// `listed`: canonical paths of the modules that kernels import or are linked with, all at once. `defines`:
/// macros of the whole session, as (name, text).
[[nodiscard]] FileAccesses file_accesses(
    const std::vector<ModuleFile>& files, const std::vector<std::string>& listed,
    const std::vector<std::pair<std::string, std::string>>& defines = {});

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

/// Sets Function::is_closed of the functions whose names are at the places, by their files.
void mark_closed(const std::map<std::string, OpenedText>& opened, Module& module);

}  // namespace kf::gen
