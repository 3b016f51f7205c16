// Finds declarations by their tokens: no macro is replaced, and branches that are left out count.
#include "slang/global_parameters.h"

#include <algorithm>

#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

/// The lexemes of one declaration, by number.
struct GlobalDeclaration {
    std::size_t uniform = 0;      ///< the word `uniform`, or `size` of the text
    std::size_t block = 0;        ///< the word ParameterBlock or ConstantBuffer, or `size` of the text
    std::size_t block_close = 0;  ///< the > of its type
    std::size_t name = 0;
};

bool is_block(std::string_view word) { return word == "ParameterBlock" || word == "ConstantBuffer"; }

/// The number of the > that closes the < there, in a type of one argument; size() where there is none.
std::size_t closing_angle(const LexedText& text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == "<") ++depth;
        if (text[at] == ">" && --depth == 0) return at;
        if (text[at] == ";" || text[at] == "{" || (text[at] == "," && depth == 1)) break;
    }
    return text.size();
}

class GlobalFinder {
public:
    explicit GlobalFinder(const LexedText& text) : text_(text) {}

    std::vector<GlobalDeclaration> find() {
        for (std::size_t at = 0; at < text_.size();) {
            const std::string_view word = text_[at];
            if (word == "namespace") {
                while (at < text_.size() && text_[at] != "{" && text_[at] != ";") ++at;
                ++at;
            } else if (word == "{") {
                at = std::min(text_.closing(at), text_.size()) + 1;
            } else if (word == "}" || word == ";" || text_.kind(at) == Lexeme::Kind::directive) {
                ++at;
            } else {
                at = read_declaration(at);
            }
        }
        return std::move(found_);
    }

private:
    /// Reads what begins there, and returns where the next one may begin.
    std::size_t read_declaration(std::size_t at) {
        GlobalDeclaration global{text_.size(), text_.size(), text_.size(), text_.size()};
        while (text_[at] == "[") at = std::min(text_.closing(at), text_.size()) + 1;
        for (; text_[at] == "public" || text_[at] == "internal" || text_[at] == "uniform"; ++at) {
            if (text_[at] == "uniform") global.uniform = at;
        }
        if (is_block(text_[at]) && text_[at + 1] == "<") {
            global.block = at;
            global.block_close = closing_angle(text_, at + 1);
        }
        const bool may = (global.uniform < text_.size() && global.block == text_.size()) ||
                         (global.block < text_.size() && global.block_close < text_.size());
        bool plain = true;
        std::size_t last_word = text_.size();
        int angles = 0;
        for (; at < text_.size() && text_[at] != ";" && text_[at] != "{"; ++at) {
            if (text_[at] == "<") ++angles;
            if (text_[at] == ">") --angles;
            if (text_.kind(at) == Lexeme::Kind::directive) break;
            const bool outside = angles == 0;
            const bool scopes = text_[at] == ":" && (text_[at + 1] == ":" || text_[at - 1] == ":");
            if (outside &&
                (text_[at] == "=" || text_[at] == "(" || text_[at] == "," || (text_[at] == ":" && !scopes)))
                plain = false;
            if (outside && text_[at] == "[") {
                at = std::min(text_.closing(at), text_.size());
                continue;
            }
            if (outside && text_.is_word(at)) last_word = at;
        }
        if (may && plain && text_[at] == ";" && last_word < text_.size()) {
            global.name = last_word;
            found_.push_back(global);
        }
        return at;
    }

    const LexedText& text_;
    std::vector<GlobalDeclaration> found_;
};

/// Few modules have any, and splitting texts takes time.
bool may_have_globals(std::string_view text) {
    return text.find("uniform") != text.npos || text.find("ParameterBlock") != text.npos ||
           text.find("ConstantBuffer") != text.npos;
}

/// Writes the word where `length` characters were, and blanks behind it.
void put(std::string& text, std::size_t begin, std::size_t length, std::string_view word) {
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(begin), length, ' ');
    std::copy(word.begin(), word.end(), text.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

std::vector<GlobalPlace> global_places(std::string_view text) {
    std::vector<GlobalPlace> places;
    if (!may_have_globals(text)) return places;
    const LexedText lexed(text);
    for (const GlobalDeclaration& global : GlobalFinder(lexed).find()) {
        const Location place = lexed.place({}, global.name);
        places.push_back({place.line, place.column});
    }
    return places;
}

std::string globals_as_statics(std::string_view text) {
    std::string changed(text);
    if (!may_have_globals(text)) return changed;
    const LexedText lexed(text);
    for (const GlobalDeclaration& global : GlobalFinder(lexed).find()) {
        constexpr std::string_view word = "static";
        const bool uniform = global.uniform < lexed.size();
        if (uniform) put(changed, lexed.offset(global.uniform), lexed[global.uniform].size(), word);
        if (global.block == lexed.size()) continue;
        put(changed, lexed.offset(global.block), lexed[global.block].size(), uniform ? "" : word);
        put(changed, lexed.offset(global.block + 1), 1, "");
        put(changed, lexed.offset(global.block_close), 1, "");
    }
    return changed;
}

}  // namespace kf::gen
