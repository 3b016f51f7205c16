// Finds differentiable functions and their scalar parameters by their tokens.
#include "slang/scalar_gradients.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace kf::gen {

namespace {

using Names = std::set<std::string_view, std::less<>>;

struct Token {
    std::string_view text;  ///< a word, or one character; a literal counts as a character
    std::size_t offset = 0;
    bool word = false;
};

bool of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Tokens {
    std::vector<Token> all;
    Names attributes;  ///< macros that stand for attributes, of which one is Differentiable
    Names scalars;     ///< macros that stand for a floating scalar
    bool counts_lines = true;
};

bool is_scalar(std::string_view name) {
    static constexpr std::array<std::string_view, 6> names = {"half",      "float",     "double",
                                                              "float16_t", "float32_t", "float64_t"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool says_differentiable(std::string_view word) {
    return word == "Differentiable" || word == "BackwardDifferentiable";
}

std::vector<Token> split_line(std::string_view text) {
    std::vector<Token> words;
    for (std::size_t at = 0; at < text.size();) {
        const bool word = of_a_word(text[at]);
        std::size_t end = at + 1;
        while (word && end < text.size() && of_a_word(text[end])) {
            ++end;
        }
        if (std::isspace(static_cast<unsigned char>(text[at])) == 0 && text[at] != '\\') {
            words.push_back({text.substr(at, end - at), at, word});
        }
        at = end;
    }
    return words;
}

void read_directive(std::string_view text, Tokens& tokens) {
    const std::vector<Token> words = split_line(text);
    if (words.size() > 1 && words[1].text == "line") {
        tokens.counts_lines = false;
    }
    if (words.size() < 4 || words[1].text != "define") {
        return;
    }
    if (words.size() == 4 && is_scalar(words[3].text)) {
        tokens.scalars.insert(words[2].text);
    }
    if (words[3].text == "[" && std::any_of(words.begin(), words.end(), [](const Token& word) {
            return says_differentiable(word.text);
        })) {
        tokens.attributes.insert(words[2].text);
    }
}

std::size_t end_of_directive(std::string_view text, std::size_t at) {
    std::size_t end = text.find('\n', at);
    while (end != std::string_view::npos && end > 0 &&
           (text[end - 1] == '\\' || (text[end - 1] == '\r' && end > 1 && text[end - 2] == '\\'))) {
        end = text.find('\n', end + 1);
    }
    return std::min(end, text.size());
}

std::size_t end_of_literal(std::string_view text, std::size_t at) {
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
        at += text[at] == '\\' ? 1 : 0;
    }
    return std::min(at + 1, text.size());
}

Tokens tokenise(std::string_view text) {
    Tokens tokens;
    bool line_starts = true;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        const std::string_view two = text.substr(at, 2);
        std::size_t end = at + 1;
        if (c == '\n') {
            line_starts = true;
        } else if (two == "//") {
            end = std::min(text.find('\n', at), text.size());
        } else if (two == "/*") {
            const std::size_t close = text.find("*/", at + 2);
            end = close == std::string_view::npos ? text.size() : close + 2;
        } else if (c == '#' && line_starts) {
            end = end_of_directive(text, at);
            read_directive(text.substr(at, end - at), tokens);
        } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            line_starts = false;
            const bool word = of_a_word(c);
            while (word && end < text.size() && of_a_word(text[end])) {
                ++end;
            }
            if (c == '"' || c == '\'') {
                end = end_of_literal(text, at);
            }
            tokens.all.push_back({word ? text.substr(at, end - at) : text.substr(at, 1), at, word});
        }
        at = end;
    }
    return tokens;
}

/// Walks over the tokens once, and notes what to insert where.
class Rewriter {
public:
    explicit Rewriter(std::string_view text) : text_(text), tokens_(tokenise(text)) {
        scopes_.push_back({tokens_.scalars, 0});
    }

    std::string run() {
        for (at_ = 0; at_ < size(); ++at_) {
            const std::string_view word = token(at_);
            if (word == "{") {
                ++depth_;
            } else if (word == "}") {
                --depth_;
                while (scopes_.size() > 1 && scopes_.back().depth > depth_) {
                    scopes_.pop_back();
                }
            } else if (word == "typealias" || word == "using" || word == "typedef") {
                read_alias();
            } else if (word == "struct" || word == "extension" || word == "interface") {
                read_type_parameters();
            } else if (tokens_.attributes.contains(word) || is_attribute()) {
                read_function();
            }
        }
        return with_insertions();
    }

private:
    /// Names of floating scalars that hold within braces.
    struct Scope {
        Names scalars;
        int depth = 0;
    };

    [[nodiscard]] std::size_t size() const { return tokens_.all.size(); }
    [[nodiscard]] std::string_view token(std::size_t at) const {
        return at < size() ? tokens_.all[at].text : std::string_view();
    }
    [[nodiscard]] bool is_word(std::size_t at) const { return at < size() && tokens_.all[at].word; }

    /// The token after the bracket that closes the one at `at`.
    [[nodiscard]] std::size_t after_bracket(std::size_t at) const {
        int open = 0;
        for (; at < size(); ++at) {
            const std::string_view text = token(at);
            open += text == "(" || text == "[" || text == "{" ? 1 : 0;
            open -= text == ")" || text == "]" || text == "}" ? 1 : 0;
            if (open <= 0) {
                return at + 1;
            }
        }
        return at;
    }

    [[nodiscard]] bool is_attribute() const {
        if (token(at_) != "[") {
            return false;
        }
        for (std::size_t at = at_ + 1, end = after_bracket(at_); at < end; ++at) {
            if (says_differentiable(token(at))) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool names_scalar(std::string_view name, const Names& more) const {
        return is_scalar(name) || more.contains(name) ||
               std::any_of(scopes_.begin(), scopes_.end(),
                           [&](const Scope& scope) { return scope.scalars.contains(name); });
    }

    void read_alias() {
        const bool old = token(at_) == "typedef";
        const std::string_view name = token(at_ + (old ? 2 : 1));
        const std::string_view type = token(at_ + (old ? 1 : 3));
        if ((old || token(at_ + 2) == "=") && token(at_ + (old ? 3 : 4)) == ";" && names_scalar(type, {})) {
            scopes_.push_back({{name}, depth_});
        }
    }

    /// Adds the generic parameters that stand for floating scalars.
    void note_constraint(std::size_t at, Names& names) const {
        if (token(at) == ":" && token(at + 1) == "__BuiltinFloatingPointType" && is_word(at - 1)) {
            names.insert(token(at - 1));
        }
    }

    void read_type_parameters() {
        Scope scope{{}, depth_ + 1};
        for (std::size_t at = at_ + 1; at < size() && token(at) != "{" && token(at) != ";"; ++at) {
            note_constraint(at, scope.scalars);
        }
        if (!scope.scalars.empty()) {
            scopes_.push_back(std::move(scope));
        }
    }

    /// From an attribute to the function's body.
    void read_function() {
        Names generics;
        std::size_t parameters = 0;
        std::size_t at = at_;
        while (at < size() && token(at) != "{" && token(at) != ";") {
            note_constraint(at, generics);
            if (token(at) == "(" && parameters == 0 && token(at - 1) != "operator") {
                parameters = at;
            }
            const bool opens = token(at) == "(" || token(at) == "[";
            at = opens ? after_bracket(at) : at + 1;
        }
        at_ = at - 1;
        if (token(at) != "{" || parameters == 0 || is_target_code(at)) {
            return;
        }
        std::vector<Variable> variables;
        const std::size_t end = after_bracket(parameters) - 1;
        for (std::size_t first = parameters + 1; first < end;) {
            const std::size_t last = end_of_parameter(first, end);
            const std::string_view name = scalar_parameter(first, last, generics);
            if (!name.empty() && !declares(at, name)) {
                insert_after(at, "var ", name);
                variables.push_back({name, 0});
            }
            first = last + 1;
        }
        read_body(at, generics, std::move(variables));
    }

    /// Code of the target's takes the parameters by their numbers, and is all of its function.
    [[nodiscard]] bool is_target_code(std::size_t open) const {
        for (std::size_t at = open, end = after_bracket(open); at < end; ++at) {
            if (token(at) == "__intrinsic_asm") {
                return true;
            }
        }
        return false;
    }

    /// A local floating scalar, which can be assigned to.
    struct Variable {
        std::string_view name;
        int depth = 0;
    };

    void read_body(std::size_t open, const Names& generics, std::vector<Variable> variables) {
        int depth = 0;
        for (std::size_t at = open + 1, end = after_bracket(open); at < end; ++at) {
            const std::string_view word = token(at);
            if (word == "{") {
                ++depth;
            } else if (word == "}") {
                --depth;
                std::erase_if(variables, [&](const Variable& variable) { return variable.depth > depth; });
            } else if (word == "for" || word == "while" || word == "do") {
                const std::size_t next = after_statement(at, end);
                renew(at, next, variables);
                // Between a body without braces and its `while` there is no room for a statement.
                at = word == "do" && token(at + 1) != "{" ? next - 1 : at;
            } else if (names_scalar(word, generics) && starts_statement(at)) {
                read_variables(at + 1, end, depth, variables);
            }
        }
    }

    [[nodiscard]] bool starts_statement(std::size_t at) const {
        const std::string_view before = token(at - 1);
        return before == "{" || before == "}" || before == ";";
    }

    /// Those with a value: `a = 0, b = f(a, 1);`.
    void read_variables(std::size_t at, std::size_t end, int depth, std::vector<Variable>& variables) const {
        while (at < end && is_word(at)) {
            if (token(at + 1) == "=") {
                variables.push_back({token(at), depth});
            }
            while (at < end && token(at) != "," && token(at) != ";") {
                const bool opens = token(at) == "(" || token(at) == "[" || token(at) == "{";
                at = opens ? after_bracket(at) : at + 1;
            }
            at = token(at) == "," ? at + 1 : end;
        }
    }

    [[nodiscard]] std::size_t after_statement(std::size_t at, std::size_t end) const {
        while (at < end) {
            const std::string_view word = token(at);
            if (word == "{") {
                return after_bracket(at);
            }
            if (word == ";") {
                return at + 1;
            }
            if (word == "do") {
                at = after_statement(at + 1, end);  // to its `while`, which ends like any statement
                while (at < end && token(at) != ";") {
                    ++at;
                }
                return at + 1;
            }
            if (word == "if") {
                at = after_statement(after_bracket(at + 1), end);
                if (token(at) != "else") {
                    return at;
                }
            }
            const bool opens = word == "(" || word == "[";
            at = opens ? after_bracket(at) : at + 1;
        }
        return end;
    }

    /// A new value after the loop for what the loop may have changed.
    void renew(std::size_t loop, std::size_t next, const std::vector<Variable>& variables) {
        if (token(next) == "else") {
            return;
        }
        for (const Variable& variable : variables) {
            for (std::size_t at = loop; at < next; ++at) {
                if (token(at) == variable.name && token(at - 1) != ".") {
                    insert_after(next - 1, "", variable.name);
                    break;
                }
            }
        }
    }

    [[nodiscard]] std::size_t end_of_parameter(std::size_t at, std::size_t end) const {
        int angles = 0;
        while (at < end && (angles > 0 || token(at) != ",")) {
            angles += token(at) == "<" ? 1 : 0;
            angles -= token(at) == ">" ? 1 : 0;
            const bool opens = token(at) == "(" || token(at) == "[" || token(at) == "{";
            at = opens ? after_bracket(at) : at + 1;
        }
        return std::min(at, end);
    }

    /// The name in `float a` and `a : float`; empty for others, of which those that are also written and
    /// those without a gradient need nothing.
    [[nodiscard]] std::string_view scalar_parameter(std::size_t first, std::size_t last,
                                                    const Names& generics) const {
        while (first < last && (token(first) == "in" || token(first) == "const")) {
            ++first;
        }
        if (last - first < 2) {
            return {};
        }
        if (token(first + 1) == ":" && names_scalar(token(first + 2), generics) &&
            (first + 3 == last || token(first + 3) == "=")) {
            return token(first);
        }
        const bool ends = first + 2 == last || token(first + 2) == "=" || token(first + 2) == ":";
        return names_scalar(token(first), generics) && is_word(first + 1) && ends ? token(first + 1)
                                                                                  : std::string_view();
    }

    /// Whether the body at `open` declares the name itself; a second variable would clash with that.
    [[nodiscard]] bool declares(std::size_t open, std::string_view name) const {
        for (std::size_t at = open + 1, end = after_bracket(open); at + 1 < end; ++at) {
            if (token(at) == name && is_word(at - 1) && token(at - 1) != "return" &&
                token(at - 1) != "else" && token(at - 1) != "do") {
                return true;
            }
        }
        return false;
    }

    void insert_after(std::size_t at, std::string_view start, std::string_view name) {
        if (at >= size()) {
            return;
        }
        const std::string statement = std::string(start).append(name) + " = -(-" + std::string(name) + "); ";
        std::string& statements = insertions_[tokens_.all[at].offset + 1];
        if (statements.find(statement) == std::string::npos) {
            statements += statement;
        }
    }

    [[nodiscard]] std::string with_insertions() const {
        std::string result;
        std::size_t copied = 0;
        std::ptrdiff_t lines = 1;
        for (const auto& [offset, statements] : insertions_) {
            const std::string_view part = text_.substr(copied, offset - copied);
            result += part;
            copied = offset;
            if (!tokens_.counts_lines) {
                result += " " + statements;
                continue;
            }
            lines += std::count(part.begin(), part.end(), '\n');
            const std::size_t line_start = text_.rfind('\n', offset - 1) + 1;  // 0 where there is none
            result += "\n" + statements + "\n#line " + std::to_string(lines) + "\n" +
                      std::string(offset - line_start, ' ');
        }
        return result.append(text_.substr(copied));
    }

    std::string_view text_;
    Tokens tokens_;
    std::vector<Scope> scopes_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::map<std::size_t, std::string> insertions_;  ///< by the offset in the text
};

}  // namespace

bool slang_loses_scalar_gradients(std::string_view tag) {
    if (!tag.empty() && tag.front() == 'v') {
        tag.remove_prefix(1);
    }
    int year = 0;
    int release = 0;
    const char* end = tag.data() + tag.size();
    const auto [rest, failure] = std::from_chars(tag.data(), end, year);
    if (failure != std::errc() || rest == end || *rest != '.' ||
        std::from_chars(rest + 1, end, release).ec != std::errc()) {
        return true;
    }
    return year < 2026 || (year == 2026 && release < 16);
}

std::string keep_scalar_gradients(std::string_view text) {
    if (text.find("Differentiable") == std::string_view::npos) {
        return std::string(text);
    }
    return Rewriter(text).run();
}

}  // namespace kf::gen
