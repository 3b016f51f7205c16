// Finds definitions by their form: a name, parameters, a body.
#include "slang/source_functions.h"

#include <algorithm>
#include <set>

#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// Where the body opens of what has its parameters there; size() where there is none.
std::size_t body_behind(const LexedText& text, std::size_t parameters) {
    std::size_t index = text.closing(parameters) + 1;
    // A semantic, or what generic parameters must be.
    while (index < text.size() && !is_one_of(text[index], "{", ";", "}", "=", ")", "(")) ++index;
    return text[index] == "{" ? index : text.size();
}

}  // namespace

SourceFunctions::SourceFunctions(const std::map<std::string, std::string>& sources) {
    for (const auto& [file, text] : sources) {
        const LexedText& lexed = *texts_.emplace_back(std::make_unique<LexedText>(text));
        read(file, lexed, std::nullopt);
        for (std::size_t index = 0; index < lexed.size(); ++index) {
            if (lexed.kind(index) != Lexeme::Kind::directive) continue;
            const std::string_view directive = lexed[index].substr(1);  // without its #, it is text
            read(file, *texts_.emplace_back(std::make_unique<LexedText>(directive)),
                 lexed.place(file, index));
        }
    }
}

void SourceFunctions::read(const std::string& file, const LexedText& text,
                           const std::optional<Location>& macro) {
    std::size_t begin = 0;
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (is_one_of(text[index], "{", "}", ";")) begin = index + 1;
        const bool named = text.is_word(index) && (text[index + 1] == "(" || text[index + 1] == "<") &&
                           index > begin && (text.is_word(index - 1) || is_one_of(text[index - 1], ">", "]"));
        if (!named) continue;
        std::size_t parameters = index + 1;
        while (parameters < text.size() && !is_one_of(text[parameters], "(", "{", ";")) ++parameters;
        if (text[parameters] != "(") continue;
        const std::size_t body = body_behind(text, parameters);
        if (body == text.size()) continue;
        SourceFunction function{std::string(text[index]), &file, &text, begin, body,
                                text.closing(body),       false, macro};
        for (std::size_t at = begin; at < index; ++at) {
            function.differentiable = function.differentiable || says_differentiable(text[at]);
        }
        index = function.end;
        begin = index + 1;
        functions_.push_back(std::move(function));
    }
}

std::vector<const SourceFunction*> SourceFunctions::reached_from(std::string_view kernel) const {
    std::set<const SourceFunction*> reached;
    std::vector<const SourceFunction*> found;
    const auto follow = [&](const LexedText& text, std::size_t begin, std::size_t end) {
        for (std::size_t index = begin; index < end; ++index) {
            if (!text.is_word(index)) continue;
            for (const SourceFunction& function : functions_) {
                if (function.name == text[index] && reached.insert(&function).second) {
                    found.push_back(&function);
                }
            }
        }
    };
    const LexedText text(kernel);
    follow(text, 0, text.size());
    for (std::size_t next = 0; next < found.size(); ++next) {
        const SourceFunction& function = *found[next];
        follow(*function.text, function.body, std::min(function.end, function.text->size()));
    }
    return found;
}

}  // namespace kf::gen
