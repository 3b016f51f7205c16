// Reads what stands before the names of functions.
#include "slang/function_access.h"

#include <algorithm>
#include <map>
#include <string>

#include "slang/declaration.h"
#include "slang/lexer.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// "define" of "# define X 1".
std::string_view name_of_directive(std::string_view directive) {
    directive.remove_prefix(std::min(directive.find_first_not_of("# \t"), directive.size()));
    return directive.substr(0, directive.find_first_of(" \t\\\r\n"));
}

bool defines_public(std::string_view text) {
    const std::vector<Lexeme> lexemes = lex(text);
    return std::any_of(lexemes.begin(), lexemes.end(), [&](const Lexeme& lexeme) {
        if (lexeme.kind != Lexeme::Kind::directive) return false;
        const std::string_view directive = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
        return name_of_directive(directive) == "define" && directive.find("public") != std::string_view::npos;
    });
}

}  // namespace

bool keeps_to_itself(std::string_view text) {
    int conditions = 0;
    bool begins = true;
    for (const Lexeme& lexeme : lex(text)) {
        const std::string_view word = text.substr(lexeme.begin, lexeme.end - lexeme.begin);
        if (lexeme.kind == Lexeme::Kind::comment) continue;
        if (lexeme.kind == Lexeme::Kind::directive) {
            const std::string_view name = name_of_directive(word);
            if (is_one_of(name, "if", "ifdef", "ifndef")) ++conditions;
            if (name == "endif") --conditions;
            if (name == "language" && conditions == 0) return true;
            continue;
        }
        if (conditions == 0 && lexeme.kind == Lexeme::Kind::word) {
            if (is_one_of(word, "public", "internal", "__include")) return true;
            if (begins && is_one_of(word, "module", "implementing")) return true;
        }
        begins = false;
    }
    return false;
}

void mark_closed(Module& module) {
    for (const auto& [path, text] : module.sources) {
        if (defines_public(text)) return;
    }
    std::map<std::string, SourceText> closed;
    for (const auto& [path, text] : module.sources) {
        if (keeps_to_itself(text)) closed.emplace(path, SourceText(text));
    }
    const auto mark = [&](std::vector<Function>& functions) {
        for (Function& function : functions) {
            const Location& place = function.location;
            const auto source = closed.find(place.file);
            if (source == closed.end()) continue;
            function.is_closed = source->second.is_closed(place.line, place.column);
        }
    };
    mark(module.functions);
    for (NamedModule& named : module.modules) mark(named.functions);
}

}  // namespace kf::gen
