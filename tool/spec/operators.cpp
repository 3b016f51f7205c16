// Reads operators' names.
#include "spec/operators.h"

#include <algorithm>
#include <array>

namespace kf::gen {

namespace {

constexpr std::string_view keyword = "operator";

struct Word {
    std::string_view symbol;
    std::string_view binary;
    std::string_view unary = {};  ///< the same as `binary` where empty
};

/// The operators that Slang's parser takes, and the subscript; the longer of two that begin alike goes first.
constexpr std::array<Word, 36> operator_words{{{"<<=", "shift_left_assign"},
                                               {">>=", "shift_right_assign"},
                                               {"<<", "shift_left"},
                                               {">>", "shift_right"},
                                               {"<=", "less_equal"},
                                               {">=", "greater_equal"},
                                               {"==", "equal"},
                                               {"!=", "not_equal"},
                                               {"&&", "logical_and"},
                                               {"||", "logical_or"},
                                               {"++", "increment"},
                                               {"--", "decrement"},
                                               {"+=", "add_assign"},
                                               {"-=", "subtract_assign"},
                                               {"*=", "multiply_assign"},
                                               {"/=", "divide_assign"},
                                               {"%=", "remainder_assign"},
                                               {"|=", "bit_or_assign"},
                                               {"&=", "bit_and_assign"},
                                               {"^=", "bit_xor_assign"},
                                               {"?:", "select"},
                                               {"()", "apply"},
                                               {"[]", "at"},
                                               {"+", "add", "plus"},
                                               {"-", "subtract", "negate"},
                                               {"*", "multiply"},
                                               {"/", "divide"},
                                               {"%", "remainder"},
                                               {"!", "logical_not"},
                                               {"~", "bit_not"},
                                               {"<", "less"},
                                               {">", "greater"},
                                               {"^", "bit_xor"},
                                               {"&", "bit_and"},
                                               {"|", "bit_or"},
                                               {",", "comma"}}};

bool is_generic_part(std::string_view text) {
    return text.empty() || (text.size() > 2 && text.front() == '<' && text.back() == '>');
}

}  // namespace

std::optional<OperatorSymbol> operator_symbol(std::string_view function) {
    const std::size_t found = function.rfind(keyword);
    if (found == std::string_view::npos) return std::nullopt;
    if (found > 0 && function[found - 1] != '.' && function[found - 1] != ':') return std::nullopt;
    const std::size_t begin = found + keyword.size();
    const std::string_view rest = function.substr(begin);
    for (const Word& word : operator_words) {
        if (rest.starts_with(word.symbol) && is_generic_part(rest.substr(word.symbol.size())))
            return OperatorSymbol{begin, word.symbol.size()};
    }
    return std::nullopt;
}

std::string without_symbol(std::string_view function) {
    std::string name(function);
    if (const auto symbol = operator_symbol(function)) name.erase(symbol->begin, symbol->size);
    return name;
}

bool has_generic_arguments(std::string_view function) {
    return without_symbol(function).find('<') != std::string::npos;
}

std::string operator_word(std::string_view symbol, std::size_t operands) {
    const auto found = std::find_if(operator_words.begin(), operator_words.end(),
                                    [&](const Word& word) { return word.symbol == symbol; });
    if (found == operator_words.end()) return std::string(keyword);
    return std::string(operands == 1 && !found->unary.empty() ? found->unary : found->binary);
}

}  // namespace kf::gen
