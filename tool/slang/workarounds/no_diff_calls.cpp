// Finds no_diff before expressions, which declarations have too, and puts a call around each.
#include "slang/workarounds/no_diff_calls.h"

#include <algorithm>
#include <set>
#include <vector>

#include "slang/brackets.h"
#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

constexpr std::string_view no_diff_word = "no_diff";
constexpr std::string_view detached = "detached";

/// A macro that stands for no_diff and the call around it where nothing can be inserted.
constexpr std::string_view held_name = "kf_held";
static_assert(held_name.size() == no_diff_word.size());

/// The second is for what has no gradient: an integer, a struct that isn't differentiable.
constexpr std::string_view detaching_functions = R"(
[OverloadRank(1)] [Differentiable] KfT NAME<KfT : IDifferentiable>(KfT kf_value) { return detach(kf_value); }
KfT NAME<KfT>(KfT kf_value) { return kf_value; })";

/// The directives of a text, without their #.
struct DirectiveWords {
    std::size_t offset = 0;
    LexedText words;
};

std::vector<DirectiveWords> directives_of(std::string_view text) {
    std::vector<DirectiveWords> found;
    for (const Lexeme& one : lex(text)) {
        if (one.kind != Lexeme::Kind::directive) continue;
        found.push_back({one.begin + 1, LexedText(text.substr(one.begin + 1, one.end - one.begin - 1))});
    }
    return found;
}

bool no_diff_begins(const TokenView& token, std::size_t at) {
    if (at == 0 || is_one_of(token[at - 1], "{", "}", ";", "else", "do")) return true;
    if (token[at - 1] == ":") return is_one_of(token[token.start_of_statement(at)], "case", "default");
    if (token[at - 1] != ")") return false;
    return is_one_of(token[token.opening_bracket(at - 1) - 1], "if", "for", "while", "switch");
}

class NoDiffCalls {
public:
    explicit NoDiffCalls(ModuleText& text)
        : text_(text), token_(text.tokens), name_(added_name(detached, text.original)) {
        for (const DirectiveWords& one : directives_of(text.original)) {
            if (one.words[0] == "define") macros_.insert(std::string(one.words[1]));
            if (one.words[0] == "include") includes_ = true;
        }
    }

    void change() {
        for (std::size_t at = 0; at < token_.size(); ++at) {
            if (token_[at] == no_diff_word && !no_diff_begins(token_, at)) change_at(at);
        }
        for (const DirectiveWords& one : directives_of(text_.original)) change_macro(one);
        if (stands_) {
            const std::string macro(held_name);
            text_.insert_once(
                0, "#undef " + macro + "\n#define " + macro + "(...) " + name_ + "(no_diff(__VA_ARGS__))\n");
        }
        if (!changed_) return;
        std::string own(detaching_functions);
        for (std::size_t at = own.find("NAME"); at != std::string::npos; at = own.find("NAME"))
            own.replace(at, 4, name_);
        text_.insert_once(text_.original.size(),
                          "\n#ifndef " + name_ + "\n#define " + name_ + " " + name_ + own + "\n#endif\n");
    }

private:
    /// Returns the token behind names, and what is in brackets behind them; `at` where none is a call.
    [[nodiscard]] std::size_t behind_operand(std::size_t at) const {
        std::size_t end = at;
        bool calls = token_[at] == "(";
        if (calls) {
            end = token_.after_bracket(at);
        } else if (token_.is_word(at)) {
            end = at + 1;
        } else {
            return at;
        }
        for (;;) {
            if (token_[end] == "." && token_.is_word(end + 1)) {
                end += 2;
            } else if (token_[end] == ":" && token_[end + 1] == ":" && token_.is_word(end + 2)) {
                end += 3;
            } else if (is_one_of(token_[end], "(", "[")) {
                calls = true;
                end = token_.after_bracket(end);
            } else if (const std::size_t behind = behind_arguments(end); behind != end) {
                end = behind;
            } else {
                return calls ? end : at;
            }
        }
    }

    /// Returns the token behind `<float, 2>` before a call.
    [[nodiscard]] std::size_t behind_arguments(std::size_t at) const {
        const std::size_t behind = behind_angles(token_, at);
        const auto is_of_type = [&](std::size_t i) {
            return token_.is_word(i) || is_one_of(token_[i], ",", "<", ">", ":", ".");
        };
        for (std::size_t i = at; i < behind; ++i)
            if (!is_of_type(i)) return at;
        return token_[behind] == "(" ? behind : at;
    }

    void change_at(std::size_t at) {
        const std::size_t end = behind_operand(at + 1);
        // A declaration has a name behind its type.
        if (end == at + 1 || token_.is_word(end) || end >= token_.size()) return;
        if (token_[end] == "=" && token_[end + 1] != "=") return;
        const bool has_brackets = token_[at + 1] == "(";
        const bool is_called = has_brackets && token_[token_.after_bracket(at + 1)] == "(";
        // What other files may have as a macro is taken for one where that does no harm.
        const bool is_argument = is_in_macro(at, includes_ && has_brackets && !is_called);
        if (is_argument && has_brackets) stand_at(token_.offset(at));
        if (is_argument) return;
        text_.insertions[token_.offset(at)] += name_ + "(";
        std::string& behind = text_.insertions[token_.offset(end - 1) + 1];
        behind = ")" + behind;
        changed_ = true;
    }

    [[nodiscard]] bool is_macro(std::string_view name) const {
        return is_in_capitals(name) || macros_.contains(std::string(name));
    }

    /// A macro's argument can't hold a `#line`. `any`: each call counts as a macro's.
    [[nodiscard]] bool is_in_macro(std::size_t at, bool any) const {
        for (std::size_t open = at; open > 1 && !is_one_of(token_[open - 1], "{", "}", ";");) {
            --open;
            if (is_one_of(token_[open], ")", "]"))
                open = token_.opening_bracket(open);
            else if (token_[open] == "(" && token_.is_word(open - 1) && (any || is_macro(token_[open - 1])))
                return true;
        }
        return false;
    }

    void change_macro(const DirectiveWords& directive) {
        const LexedText& words = directive.words;
        if (words[0] != "define" || words[words.size() - 1] == ";") return;
        for (std::size_t at = 2; at < words.size(); ++at) {
            if (words[at] != no_diff_word || words[at + 1] != "(") continue;
            if (!is_one_of(words[at - 1], "{", "}", ";")) stand_at(directive.offset + words.offset(at));
        }
    }

    void stand_at(std::size_t offset) {
        text_.text.replace(offset, held_name.size(), held_name);
        stands_ = changed_ = true;
    }

    ModuleText& text_;
    TokenView token_;
    std::string name_;
    std::set<std::string, std::less<>> macros_;  ///< of the text
    bool includes_ = false;                      ///< other files
    bool stands_ = false;                        ///< the stand-in, somewhere
    bool changed_ = false;
};

}  // namespace

bool has_no_diff_statements(std::string_view text) {
    if (text.find(no_diff_word) == std::string_view::npos) return false;
    const Tokens tokens = tokenise(text);
    const TokenView token(tokens);
    for (std::size_t at = 0; at < token.size(); ++at) {
        if (token[at] == no_diff_word && no_diff_begins(token, at) && is_one_of(token[at + 1], "("))
            return true;
        // Without parentheses it is a declaration, too, where another word follows.
        if (token[at] == no_diff_word && no_diff_begins(token, at) &&
            is_one_of(token[at + 2], "(", ".", ":", "<"))
            return true;
    }
    return false;
}

bool is_detached_value(std::string_view function) { return is_added_name(function, detached); }

constinit const Workaround no_diff_calls{
    .name = "no_diff calls",
    .fault = "lets gradients through calls of differentiable functions that are marked no_diff",
    .report = "",
    .record = "slang_faults.md",
    .since = {},
    .change_text =
        [](ModuleText& text) {
            if (text.original.find(no_diff_word) != std::string::npos) NoDiffCalls(text).change();
        },
};

}  // namespace kf::gen
