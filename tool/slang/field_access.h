// Fields that a module keeps to itself, of structs that it doesn't: kernels have to name them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// A field without `public` in a public struct.
struct ClosedField {
    std::string type;  ///< the struct, without generic parameters: "ns.Box"
    std::string name;
    std::int64_t line = 0;
    std::int64_t column = 0;

    bool operator==(const ClosedField&) const = default;
};

/// Gives `text`, a Slang module, where the fields of public structs are public. Lines and columns stay as
/// they were. `text` may be what another change has made of a module, with #line directives. Structs are
/// found by their tokens: those that macros hide stay as they are.
[[nodiscard]] std::string with_open_fields(std::string_view text);

/// The closed fields of public structs, in order. `opened`: only those that with_open_fields() leaves closed,
/// since the struct's constructor, which Slang makes of its public fields, might then take other arguments
/// for them.
[[nodiscard]] std::vector<ClosedField> closed_fields(std::string_view text, bool opened);

/// The line of "module m;" where a module begins with that and has nothing public, so that kernels can't call
/// anything; 0 for any other. What it #includes may say public: then it is another.
[[nodiscard]] std::int64_t closed_module_line(std::string_view text);

}  // namespace kf::gen
