// Reads directives only for what they do to names and nesting; no macro is replaced.
#include "slang/tokens.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "slang/lexer.h"

namespace kf::gen {

namespace {

std::string_view text_of(std::string_view text, const Lexeme& lexeme) {
    return text.substr(lexeme.begin, lexeme.end - lexeme.begin);
}

/// What a directive says behind its #.
std::vector<std::string_view> words_of(std::string_view directive) {
    directive.remove_prefix(1);
    std::vector<std::string_view> words;
    for (const Lexeme& lexeme : lex(directive)) {
        const std::string_view word = text_of(directive, lexeme);
        if (lexeme.kind != Lexeme::Kind::comment && word != "\\") words.push_back(word);
    }
    return words;
}

Directive directive_named(std::string_view name) {
    if (is_one_of(name, "if", "ifdef", "ifndef")) return Directive::begins;
    if (is_one_of(name, "else", "elif", "elifdef", "elifndef")) return Directive::turns;
    return name == "endif" ? Directive::ends : Directive::other;
}

/// What a directive asks, where that is known of all kernels: `#ifdef __cplusplus` is false, `#if __SLANG__`
/// true.
std::optional<bool> condition_of(const std::vector<std::string_view>& words) {
    std::vector<std::string_view> asked(words.begin() + 1, words.end());
    std::erase_if(asked, [](std::string_view word) { return is_one_of(word, "defined", "(", ")"); });
    if (asked.size() != 1) return std::nullopt;
    const bool is_true = is_one_of(asked[0], "__SLANG__", "__SLANG_COMPILER__", "1");
    const bool is_false = is_one_of(asked[0], "__cplusplus", "0") || asked[0].starts_with("GL_");
    if (!is_true && !is_false) return std::nullopt;
    return is_true != is_one_of(words[0], "ifndef", "elifndef");
}

/// What is known at a place of the branches from an #if to its #endif.
struct Branches {
    bool is_taken = false;     ///< this one, for certain
    bool is_left_out = false;  ///< each one before it, for certain
};

class Tokeniser {
public:
    explicit Tokeniser(std::string_view text) : text_(text) {}

    Tokens run() {
        for (const Lexeme& lexeme : lex(text_)) {
            const std::string_view text = text_of(text_, lexeme);
            if (lexeme.kind == Lexeme::Kind::directive) {
                read_directive(words_of(text), lexeme.end);
            } else if (lexeme.kind != Lexeme::Kind::comment) {
                const bool literal = lexeme.kind == Lexeme::Kind::literal;
                tokens_.all.push_back({literal ? text.substr(0, 1) : text, lexeme.begin,
                                       lexeme.kind == Lexeme::Kind::word, is_conditional(),
                                       tokens_.directives.size()});
            }
        }
        for (const std::string_view name : unclear_) {
            tokens_.scalars.erase(name);
        }
        return std::move(tokens_);
    }

private:
    [[nodiscard]] bool is_conditional() const {
        const auto unsure = std::ranges::count(nesting_, false, &Branches::is_taken);
        return unsure > (guarded_ ? 1 : 0);
    }

    void turn(Branches& branches, const std::vector<std::string_view>& words) {
        const std::optional<bool> is_true = words[0] == "else" ? true : condition_of(words);
        branches.is_taken = branches.is_left_out && is_true == true;
        branches.is_left_out = branches.is_left_out && is_true == false;
    }

    void read_directive(const std::vector<std::string_view>& words, std::size_t end) {
        const std::string_view name = words.empty() ? std::string_view() : words[0];
        const Directive directive = directive_named(name);
        if (directive == Directive::begins) {
            turn(nesting_.emplace_back(Branches{false, true}), words);
        } else if (directive == Directive::turns && !nesting_.empty()) {
            turn(nesting_.back(), words);
        } else if (directive == Directive::ends) {
            if (!nesting_.empty()) nesting_.pop_back();
            guarded_ = guarded_ && !nesting_.empty();
        } else if (name == "line") {
            tokens_.counts_lines = false;
        } else if (is_one_of(name, "language", "lang")) {
            tokens_.states_language = tokens_.states_language || !is_conditional();
        } else if (words.size() > 1 && is_one_of(name, "define", "undef")) {
            read_macro(words);
        }
        guard_ = name == "ifndef" && nesting_.size() == 1 && words.size() > 1 ? words[1] : std::string_view();
        tokens_.directives.push_back(directive);
        if (is_one_of(directive, Directive::turns, Directive::ends) && end < text_.size()) {
            tokens_.branches.push_back(end + 1);
        }
    }

    /// "define" or "undef", the macro, and what it stands for.
    void read_macro(const std::vector<std::string_view>& words) {
        const std::string_view name = words[1];
        const auto names_public = [](std::string_view word) { return word.find("public") != word.npos; };
        tokens_.defines_public =
            tokens_.defines_public || (words[0] == "define" && std::ranges::any_of(words, names_public));
        guarded_ = guarded_ || (words.size() == 2 && !guard_.empty() && name == guard_);
        const bool is_a_word = words.size() == 3 && words[0] == "define";
        if (is_a_word && is_scalar(words[2]) && !is_conditional()) {
            tokens_.scalars.insert(name);
        } else {
            unclear_.insert(name);
        }
        if (is_a_word && says_differentiable(words[2])) {
            tokens_.names.insert(name);
        }
        if (words.size() > 2 && words[2] == "[" &&
            std::any_of(words.begin(), words.end(), says_differentiable)) {
            tokens_.attributes.insert(name);
        }
    }

    std::string_view text_;
    Tokens tokens_;
    Names unclear_;           ///< macros that may stand for something else
    std::string_view guard_;  ///< NAME just after #ifndef NAME
    bool guarded_ = false;    ///< within #ifndef NAME, #define NAME: the file's first time
    std::vector<Branches> nesting_;
};

}  // namespace

bool is_scalar(std::string_view name) {
    return is_one_of(name, "half", "float", "double", "float16_t", "float32_t", "float64_t");
}

bool says_access(std::string_view word) { return is_one_of(word, "public", "internal", "private"); }

bool says_differentiable(std::string_view word) {
    return word == "Differentiable" || word == "BackwardDifferentiable";
}

bool Tokens::marks_differentiable(std::string_view word) const {
    return says_differentiable(word) || attributes.contains(word) || names.contains(word);
}

Tokens tokenise(std::string_view text) { return Tokeniser(text).run(); }

}  // namespace kf::gen
