// Reads what stands before the names of functions.
#include "slang/function_access.h"

#include <map>
#include <string>

#include "slang/declaration.h"
#include "slang/entry_points.h"
#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// "define" of "# define X 1".
std::string_view name_of_directive(std::string_view directive) { return LexedText(directive.substr(1))[0]; }

/// Tells whether a macro of the text may write `public`.
bool defines_public(std::string_view text) {
    const LexedText lexemes(text);
    for (std::size_t index = 0; index < lexemes.size(); ++index) {
        if (lexemes.kind(index) == Lexeme::Kind::directive && name_of_directive(lexemes[index]) == "define" &&
            lexemes[index].find("public") != std::string_view::npos)
            return true;
    }
    return false;
}

}  // namespace

bool keeps_to_itself(std::string_view text) {
    int conditions = 0;
    bool begins = true;
    const LexedText lexemes(text);
    for (std::size_t index = 0; index < lexemes.size(); ++index) {
        const std::string_view word = lexemes[index];
        if (lexemes.kind(index) == Lexeme::Kind::directive) {
            const std::string_view name = name_of_directive(word);
            if (is_one_of(name, "if", "ifdef", "ifndef")) ++conditions;
            if (name == "endif") --conditions;
            if (name == "language" && conditions == 0) return true;
            continue;
        }
        if (conditions == 0 && lexemes.is_word(index)) {
            if (is_one_of(word, "public", "internal", "private", "__include")) return true;
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
        if (keeps_to_itself(text)) closed.emplace(path, SourceText(as_functions(text)));
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
