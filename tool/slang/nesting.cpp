// How deep a text nests: compilers read brackets within brackets on the stack.
#include "slang/nesting.h"

#include <algorithm>

#include "slang/lexer.h"

namespace kf::gen {

std::optional<Diagnostic> check_nesting(std::string_view text, const std::filesystem::path& file) {
    int depth = 0;
    for (const Lexeme& lexeme : lex(text)) {
        if (lexeme.kind != Lexeme::Kind::symbol) continue;
        const char c = text[lexeme.begin];
        if (c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
        if ((c != '(' && c != '[' && c != '{') || ++depth <= max_nesting) continue;
        const std::string_view before = text.substr(0, lexeme.begin);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        const auto column = static_cast<std::int64_t>(lexeme.begin - (before.rfind('\n') + 1)) + 1;
        return Diagnostic{Severity::error,
                          "slang-nesting",
                          {file.string(), line, column},
                          "brackets are nested more than " + std::to_string(max_nesting) + " deep",
                          {"move what is inside into functions of its own"}};
    }
    return std::nullopt;
}

}  // namespace kf::gen
