// Names of Slang's operators: "operator*", "Q.operator<=", "ns.operator<<<float>".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kf::gen {

/// Where an operator's symbol stands in a function's name.
struct OperatorSymbol {
    std::size_t begin = 0;
    std::size_t size = 0;

    bool operator==(const OperatorSymbol&) const = default;
};

/// The symbol of the operator that the function is, or nothing where it is none. What may follow it are
/// generic arguments: "operator<<float>" is "<" of float.
std::optional<OperatorSymbol> operator_symbol(std::string_view function);

/// The name up to the symbol and from behind it on, so that each "<" in it opens generic arguments.
std::string without_symbol(std::string_view function);

/// Whether the name has generic arguments: "Box<int>.operator<", but not "operator<".
bool has_generic_arguments(std::string_view function);

/// Returns the host's name for an operator: "multiply" for "*" and 2 operands, "negate" for "-" and 1.
/// "operator" where the symbol is none.
std::string operator_word(std::string_view symbol, std::size_t operands);

}  // namespace kf::gen
