// Finds differentiable functions and their scalar parameters by their tokens.
#include "slang/scalar_gradients.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// Walks over the tokens once, and notes what to insert where.
class Rewriter {
public:
    explicit Rewriter(std::string_view text) : text_(text), tokens_(tokenise(text)) {
        scopes_.push_back({tokens_.scalars, {}, 0});
    }

    std::string run() {
        for (at_ = 0; at_ < size(); ++at_) {
            pass_directives();
            const std::string_view word = token(at_);
            if (is_one_of(word, "(", ")")) {
                parentheses_ = std::max(0, parentheses_ + (word == "(" ? 1 : -1));
            } else if (is_one_of(word, "{", "}", ";")) {
                depth_ += word == "{" ? 1 : (word == "}" ? -1 : 0);
                generics_ = {};
                leave_scopes();
            } else if (is_one_of(word, "typealias", "using", "typedef")) {
                read_alias();
            } else if (is_one_of(word, "struct", "class", "enum", "interface", "extension",
                                 "associatedtype")) {
                read_type();
            } else if (word == "__generic") {
                note_generics(at_ + 1, generics_);
            } else if (tokens_.attributes.contains(word) || is_attribute()) {
                read_function();
            }
        }
        return with_insertions();
    }

private:
    /// What names mean within braces.
    struct Scope {
        Names scalars;  ///< those of floating scalars
        Names others;   ///< those of anything else
        int depth = 0;
    };

    struct Depths {
        int parentheses = 0;
        int depth = 0;
    };

    [[nodiscard]] std::size_t size() const { return tokens_.all.size(); }
    [[nodiscard]] std::string_view token(std::size_t at) const {
        return at < size() ? tokens_.all[at].text : std::string_view();
    }
    [[nodiscard]] bool is_word(std::size_t at) const { return at < size() && tokens_.all[at].word; }

    /// Each branch of an #if starts with what was open before it.
    void pass_directives() {
        for (; passed_ < tokens_.all[at_].directives; ++passed_) {
            const Directive directive = tokens_.directives[passed_];
            if (directive == Directive::begins) {
                conditions_.push_back({parentheses_, depth_});
            } else if (directive == Directive::turns && !conditions_.empty()) {
                parentheses_ = conditions_.back().parentheses;
                depth_ = conditions_.back().depth;
            } else if (directive == Directive::ends && !conditions_.empty()) {
                conditions_.pop_back();
            }
        }
    }

    void leave_scopes() {
        while (scopes_.size() > 1 && scopes_.back().depth > depth_) {
            scopes_.pop_back();
        }
    }

    [[nodiscard]] bool opens(std::size_t at) const { return is_one_of(token(at), "(", "[", "{"); }

    /// The token after the bracket that closes the one at `at`.
    [[nodiscard]] std::size_t after_bracket(std::size_t at) const {
        int open = 0;
        for (; at < size(); ++at) {
            open += opens(at) ? 1 : 0;
            open -= is_one_of(token(at), ")", "]", "}") ? 1 : 0;
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
            if (says_differentiable(token(at)) || tokens_.names.contains(token(at))) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool names_scalar(std::string_view name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (scope->scalars.contains(name)) return true;
            if (scope->others.contains(name)) return false;
        }
        return is_scalar(name);
    }

    void read_alias() {
        const bool old = token(at_) == "typedef";
        std::size_t end = at_;
        while (end < size() && token(end) != ";") {
            ++end;
        }
        const std::string_view name = token(old ? end - 1 : at_ + 1);
        const std::string_view type = token(at_ + (old ? 1 : 3));
        const bool plain = end - at_ == (old ? 3 : 4) && (old || token(at_ + 2) == "=");
        if (plain && !tokens_.all[at_].conditional && names_scalar(type)) {
            scopes_.push_back({{name}, {}, depth_});
        } else {
            scopes_.push_back({{}, {name}, depth_});
        }
    }

    void read_type() {
        const bool extends = token(at_) == "extension";
        if (!extends) {
            scopes_.push_back({{}, {token(at_ + 1)}, depth_});
        }
        Scope scope = generics_;
        scope.depth = depth_ + 1;
        note_generics(at_ + (extends ? 1 : 2), scope);
        for (std::size_t at = at_ + 1; at < size() && token(at) != "{" && token(at) != ";"; ++at) {
            note_constraint(at, scope);
        }
        scopes_.push_back(std::move(scope));
    }

    /// The parameters in `<T : IFloat, let N : int>`.
    void note_generics(std::size_t at, Scope& scope) const {
        int angles = 0;
        for (; at < size() && (angles > 0 || token(at) == "<"); ++at) {
            angles += token(at) == "<" ? 1 : 0;
            angles -= token(at) == ">" ? 1 : 0;
            if (angles == 1 && is_one_of(token(at), "<", ",")) {
                const bool type = is_one_of(token(at + 1), "each", "typename");
                scope.others.insert(token(at + (type ? 2 : 1)));
            }
            note_constraint(at, scope);
            if (is_one_of(token(at), "{", "}", ";")) return;
        }
    }

    /// A generic parameter that stands for floating scalars: `T : IDifferentiable & __Builtin…`.
    void note_constraint(std::size_t at, Scope& scope) const {
        if (token(at) != "__BuiltinFloatingPointType") {
            return;
        }
        while (at > 0 && (is_word(at) || is_one_of(token(at), "&", ",", "."))) {
            --at;
        }
        if (token(at) == ":" && at > 0 && is_word(at - 1)) {
            scope.others.erase(token(at - 1));
            scope.scalars.insert(token(at - 1));
        }
    }

    /// From an attribute to the function's body.
    void read_function() {
        Scope generics = generics_;
        std::size_t parameters = 0;
        std::size_t at = at_;
        bool clear = parentheses_ == 0;
        while (at < size() && token(at) != "{" && token(at) != ";") {
            note_constraint(at, generics);
            if (token(at) == "__generic") {
                note_generics(at + 1, generics);
            }
            if (token(at) == "(" && token(at - 1) != "operator") {
                clear = clear && parameters == 0;
                parameters = parameters == 0 ? at : parameters;
            }
            at = token(at) == "(" || token(at) == "[" ? after_bracket(at) : at + 1;
        }
        if (token(at) != "{" || parameters == 0 || tokens_.all[at].directives != passed_) {
            return;
        }
        at_ = at - 1;
        const std::size_t end = after_bracket(at);
        // Something else may stand for the body: a macro.
        const std::string_view behind = token(after_bracket(parameters));
        clear = clear && is_one_of(behind, "{", "-", ":", "where");
        if (!clear || token(end - 1) != "}" || tokens_.all[end - 1].directives != passed_ ||
            !is_plain(at, end)) {
            return;
        }
        note_generics(start_of_generics(parameters), generics);
        generics.depth = depth_ + 1;
        scopes_.push_back(std::move(generics));
        read_parameters(parameters, at, end);
        scopes_.pop_back();
    }

    [[nodiscard]] std::size_t start_of_generics(std::size_t parameters) const {
        int angles = 0;
        for (std::size_t at = parameters; at-- > 0;) {
            angles += token(at) == ">" ? 1 : 0;
            angles -= token(at) == "<" ? 1 : 0;
            if (angles <= 0) {
                return token(at) == "<" ? at : parameters;
            }
        }
        return parameters;
    }

    void read_parameters(std::size_t parameters, std::size_t open, std::size_t end) {
        std::vector<Variable> variables;
        std::string start;
        const std::size_t close = after_bracket(parameters) - 1;
        for (std::size_t first = parameters + 1; first < close;) {
            const std::size_t last = end_of_parameter(first, close);
            const Parameter parameter = scalar_parameter(first, last);
            if (!parameter.name.empty()) {
                variables.push_back({parameter.name, 0, never, true, parameter.read});
            }
            if (!parameter.name.empty() && !parameter.written) {
                start += "var " + renewed(parameter.name);
            }
            first = last + 1;
        }
        if (!start.empty()) {
            // The function's own variables may have such a name: they are in a block of their own.
            insertions_[tokens_.all[open].offset + 1] += start + "{ ";
        }
        read_body(open, end, std::move(variables));
        if (!start.empty()) {
            insertions_[tokens_.all[end - 1].offset] += "} ";
        }
    }

    /// Code of the target's takes the parameters by their numbers; types and lambdas have names of their own.
    [[nodiscard]] bool is_plain(std::size_t open, std::size_t end) const {
        for (std::size_t at = open; at < end; ++at) {
            const bool lambda = token(at) == "=" && token(at + 1) == ">";
            if (lambda || is_one_of(token(at), "__intrinsic_asm", "struct", "class", "enum", "typealias",
                                    "typedef", "using", "func", "__func")) {
                return false;
            }
        }
        return true;
    }

    static constexpr std::size_t never = static_cast<std::size_t>(-1);

    struct Variable {
        std::string_view name;
        int depth = 0;
        std::size_t until = never;  ///< the token that it ends before
        bool usable = false;        ///< a floating scalar that can be assigned to
        bool has_value = false;
    };

    using Variables = std::vector<Variable>;

    /// The innermost of that name.
    static Variable* find(Variables& variables, std::string_view name) {
        const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                        [&](const Variable& variable) { return variable.name == name; });
        return found == variables.rend() ? nullptr : &*found;
    }

    void read_body(std::size_t open, std::size_t end, Variables variables) {
        int depth = 0;
        for (std::size_t at = open + 1; at + 1 < end; ++at) {
            const std::string_view word = token(at);
            depth += word == "{" ? 1 : (word == "}" ? -1 : 0);
            std::erase_if(variables, [&](const Variable& variable) {
                return variable.depth > depth || variable.until <= at;
            });
            if (word == "(") {
                at = after_bracket(at) - 1;
            } else if (is_one_of(word, "for", "while", "do", "if")) {
                const std::size_t next = after_statement(at, end);
                if (next >= end) return;
                if (word != "if") renew(at, next, variables);
                if (token(at + 1) == "(") hide(at + 2, after_bracket(at + 1), next, variables);
                // Between a body without braces and its `while` there is no room for a statement.
                at = word == "do" && token(at + 1) != "{" ? next - 1 : at;
            } else if (names_scalar(word) && starts_statement(at) && is_word(at + 1)) {
                at = read_variables(at + 1, end, depth, variables);
            } else if (Variable* known = find(variables, word); known != nullptr) {
                if (is_declared(at)) {
                    variables.push_back({word, depth});
                } else if (token(at + 1) == "=" && token(at - 1) != ".") {
                    known->has_value = true;
                }
            }
        }
    }

    [[nodiscard]] bool starts_statement(std::size_t at) const {
        return is_one_of(token(at - 1), "{", "}", ";");
    }

    /// Whether the name may be a declaration's here.
    [[nodiscard]] bool is_declared(std::size_t name) const {
        const std::string_view before = token(name - 1);
        if (is_word(name - 1)) {
            return !is_one_of(before, "return", "else", "do", "case", "in", "throw", "no_diff");
        }
        if (before != ">" && before != "]") {
            return before == ",";
        }
        bool type = before == "]";
        for (std::size_t at = name - 1; !is_one_of(token(at), "{", "}", ";", "("); --at) {
            type = type || token(at) == "<";
            if (!is_word(at) && !is_one_of(token(at), "<", ">", ",", ".", "[", "]", ":")) {
                return false;
            }
        }
        return type;
    }

    /// What a loop or condition declares for itself.
    void hide(std::size_t at, std::size_t end, std::size_t next, Variables& variables) const {
        for (; at < end; ++at) {
            if (find(variables, token(at)) != nullptr && is_declared(at)) {
                variables.push_back({token(at), 0, next});
            }
        }
    }

    /// To the end of `a = 0, b = f(a, 1), c;`.
    std::size_t read_variables(std::size_t at, std::size_t end, int depth, Variables& variables) const {
        while (at < end && is_word(at)) {
            const bool plain = is_one_of(token(at + 1), "=", ",", ";");
            variables.push_back({token(at), depth, never, plain, token(at + 1) == "="});
            while (at < end && token(at) != "," && token(at) != ";") {
                at = opens(at) ? after_bracket(at) : at + 1;
            }
            if (token(at) == ";") {
                return at;
            }
            ++at;
        }
        return at;
    }

    /// `end` where that is unclear.
    [[nodiscard]] std::size_t after_statement(std::size_t at, std::size_t end) const {
        while (token(at) == "[") {
            at = after_bracket(at);
        }
        const std::string_view word = token(at);
        if (at >= end) {
            return end;
        }
        if (word == "{") {
            return after_bracket(at);
        }
        if (is_one_of(word, "if", "for", "while", "switch")) {
            const std::size_t next = token(at + 1) == "(" ? after_statement(after_bracket(at + 1), end) : end;
            return word == "if" && token(next) == "else" ? after_statement(next + 1, end) : next;
        }
        if (word == "do") {
            at = after_statement(at + 1, end);  // to its `while`, which ends like any statement
        }
        while (at < end && token(at) != ";") {
            if (token(at) == "}") {
                return end;
            }
            at = opens(at) ? after_bracket(at) : at + 1;
        }
        return std::min(at + 1, end);
    }

    /// A new value after the loop for what the loop may have changed.
    void renew(std::size_t loop, std::size_t next, Variables& variables) {
        if (token(next) == "else") {
            return;
        }
        std::string& statements = insertions_[tokens_.all[next - 1].offset + 1];
        for (const Variable& variable : variables) {
            if (find(variables, variable.name) != &variable || !variable.usable || !variable.has_value) {
                continue;
            }
            const std::string statement = renewed(variable.name);
            for (std::size_t at = loop; at < next; ++at) {
                if (token(at) == variable.name && token(at - 1) != ".") {
                    statements += statements.find(statement) == std::string::npos ? statement : "";
                    break;
                }
            }
        }
    }

    static std::string renewed(std::string_view name) {
        return std::string(name) + " = -(-" + std::string(name) + "); ";
    }

    [[nodiscard]] std::size_t end_of_parameter(std::size_t at, std::size_t end) const {
        int angles = 0;
        while (at < end && (angles > 0 || token(at) != ",")) {
            angles += token(at) == "<" ? 1 : 0;
            angles -= token(at) == ">" ? 1 : 0;
            at = opens(at) ? after_bracket(at) : at + 1;
        }
        return std::min(at, end);
    }

    struct Parameter {
        std::string_view name;
        bool read = true;
        bool written = false;
    };

    /// The one in `float a` and `a : float`; without a name for others, of which those without a gradient
    /// need nothing.
    [[nodiscard]] Parameter scalar_parameter(std::size_t first, std::size_t last) const {
        Parameter parameter;
        bool in = false;
        for (; first < last && is_one_of(token(first), "in", "out", "inout", "const", "precise"); ++first) {
            in = in || token(first) == "in" || token(first) == "inout";
            parameter.written = parameter.written || token(first) == "out" || token(first) == "inout";
        }
        parameter.read = in || !parameter.written;
        if (last - first < 2) {
            return {};
        }
        if (token(first + 1) == ":") {
            const bool ends = first + 3 == last || token(first + 3) == "=";
            parameter.name = token(first);
            return names_scalar(token(first + 2)) && ends ? parameter : Parameter();
        }
        const bool ends = first + 2 == last || token(first + 2) == "=" || token(first + 2) == ":";
        parameter.name = token(first + 1);
        return names_scalar(token(first)) && is_word(first + 1) && ends ? parameter : Parameter();
    }

    [[nodiscard]] std::string with_insertions() {
        std::erase_if(insertions_, [](const auto& insertion) { return insertion.second.empty(); });
        if (!insertions_.empty() && tokens_.counts_lines) {
            // A #line in a branch that is left out counts for nothing. These are empty, others aren't.
            for (const std::size_t branch : tokens_.branches) {
                insertions_[branch];
            }
        }
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
            // Slang's columns are characters, not bytes.
            const auto column =
                std::count_if(text_.begin() + static_cast<std::ptrdiff_t>(line_start),
                              text_.begin() + static_cast<std::ptrdiff_t>(offset),
                              [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
            result += (statements.empty() ? "" : "\n" + statements + "\n") + "#line " +
                      std::to_string(lines) + "\n" + std::string(static_cast<std::size_t>(column), ' ');
        }
        return result.append(text_.substr(copied));
    }

    std::string_view text_;
    Tokens tokens_;
    std::vector<Scope> scopes_;
    Scope generics_;                  ///< of `__generic<…>` before a declaration
    std::vector<Depths> conditions_;  ///< what was open at each #if
    std::size_t passed_ = 0;          ///< directives
    std::size_t at_ = 0;
    int parentheses_ = 0;
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
