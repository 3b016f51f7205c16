// Finds differentiable functions and their scalar parameters by their tokens.
#include "slang/workarounds/scalar_renames.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "slang/brackets.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

/// Walks over the tokens once, and puts new names where they are asked for.
class ScalarRenamer : TokenView {
public:
    ScalarRenamer(ModuleText& text, RenamedScalars which)
        : TokenView(text.tokens), text_(text), which_(which) {
        scopes_.push_back({tokens_.scalars, {}, 0});
        for (std::size_t at = 1; at < size(); ++at) {
            if (is_one_of(token(at), "out", "inout")) note_out_taker(at);
        }
    }

    void run() {
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
            } else if (tokens_.attributes.contains(word) || is_attribute() || may_be_attribute()) {
                read_function();
            }
        }
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

    /// The function whose parameter this is.
    void note_out_taker(std::size_t at) {
        const std::size_t open = start_of_statement(at);
        if (open > 1 && token(open - 1) == "(") out_takers_.insert(token(open - 2));
    }

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

    /// A macro that another file or the spec defines may stand for the attribute. What isn't differentiated
    /// may be changed, too.
    [[nodiscard]] bool may_be_attribute() const {
        const bool starts = at_ == 0 || starts_statement(at_) || token(at_ - 1) == "]";
        return starts && is_in_capitals(token(at_)) && (is_word(at_ + 1) || token(at_ + 1) == "[");
    }

    [[nodiscard]] bool names_scalar(std::string_view name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (scope->scalars.contains(name)) return true;
            if (scope->others.contains(name)) return false;
        }
        return is_scalar(name) || names_inner_scalar(name);
    }

    /// Whether it names a scalar in some namespace or type of this file, and nothing else in another.
    [[nodiscard]] bool names_inner_scalar(std::string_view name) const {
        return inner_.scalars.contains(name) && !inner_.others.contains(name);
    }

    /// The last word of a type's name.
    [[nodiscard]] bool is_scalar_type(std::size_t at) const {
        return outer_name(at) != at ? names_inner_scalar(token(at)) : names_scalar(token(at));
    }

    /// The `N` of `N::real` or `N.real`; `at` itself where there is none.
    [[nodiscard]] std::size_t outer_name(std::size_t at) const {
        if (token(at - 1) == ".") return at - 2;
        return token(at - 1) == ":" && token(at - 2) == ":" ? at - 3 : at;
    }

    /// Whether the word before `at` is what a type's name is within.
    [[nodiscard]] bool is_within(std::size_t at) const {
        return token(at) == "." || (token(at) == ":" && token(at + 1) == ":");
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
        const bool scalar = plain && !tokens_.all[at_].conditional && names_scalar(type);
        (scalar ? inner_.scalars : inner_.others).insert(name);
        scopes_.push_back(scalar ? Scope{{name}, {}, depth_} : Scope{{}, {name}, depth_});
    }

    void read_type() {
        const bool extends = token(at_) == "extension";
        if (!extends) {
            scopes_.push_back({{}, {token(at_ + 1)}, depth_});
            inner_.others.insert(token(at_ + 1));
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

    /// Reads a function from an attribute to its body.
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
        const bool accessor = parameters == 0 && token(at - 1) == "get";
        if (token(at) != "{" || (parameters == 0 && !accessor) || tokens_.all[at].directives != passed_) {
            return;
        }
        at_ = at - 1;
        const std::size_t end = after_bracket(at);
        // Something else may stand for the body: a macro.
        const std::string_view behind = token(after_bracket(parameters));
        clear = clear && (accessor || is_one_of(behind, "{", "-", ":", "where"));
        if (!clear || token(end - 1) != "}" || tokens_.all[end - 1].directives != passed_ ||
            !is_plain(at, end)) {
            return;
        }
        if (accessor) {
            read_body(at, end, {});
            return;
        }
        note_generics(start_of_generics(parameters), generics);
        generics.depth = depth_ + 1;
        scopes_.push_back(std::move(generics));
        read_parameters(parameters, at, end);
        scopes_.pop_back();
    }

    [[nodiscard]] std::size_t start_of_generics(std::size_t parameters) const {
        const std::size_t open = parameters > 0 ? opening_angle(parameters - 1) : 0;
        return token(open) == "<" ? open : parameters;
    }

    void read_parameters(std::size_t parameters, std::size_t open, std::size_t end) {
        std::vector<Variable> variables;
        std::string start;
        const std::size_t close = after_bracket(parameters) - 1;
        for (std::size_t first = parameters + 1; first < close;) {
            const std::size_t last = end_of_parameter(first, close);
            const ScalarParameter parameter = scalar_parameter(first, last);
            if (!parameter.name.empty()) {
                variables.push_back({parameter.name, 0, never, true, parameter.read});
            } else if (const std::string_view name = wide_parameter(first, last); !name.empty()) {
                variables.push_back({name, 0, never, false, true, true});
            }
            if (which_ == RenamedScalars::parameters && !parameter.name.empty() && !parameter.written) {
                start += "var " + renewed(parameter.name);
            }
            first = last + 1;
        }
        if (!start.empty()) {
            // The function's own variables may have such a name: they are in a block of their own.
            text_.insertions[tokens_.all[open].offset + 1] += start + "{ ";
        }
        read_body(open, end, std::move(variables));
        if (!start.empty()) {
            text_.insertions[tokens_.all[end - 1].offset] += "} ";
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
        bool wide = false;   ///< a floating vector or matrix that can be assigned to
        bool given = false;  ///< may have its value of a call's `out`, under this name
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
                const std::size_t close = after_bracket(at) - 1;
                note_arguments(at, close, variables);
                at = close;
            } else if (is_one_of(word, "for", "while", "do", "if")) {
                const std::size_t next = after_statement(at, end);
                if (next >= end) return;
                if (word != "if") renew_around(at, next, variables);
                if (token(at + 1) == "(") {
                    hide(at + 2, after_bracket(at + 1), next, variables);
                    read_header(at + 2, after_bracket(at + 1) - 1, next, variables);
                }
                // Between a body without braces and its `while` there is no room for a statement.
                at = word == "do" && token(at + 1) != "{" ? next - 1 : at;
            } else if (const std::size_t next = after_macro_loop(at); next != 0) {
                renew_around(at, next, variables);
            } else if (is_word(at + 1) && starts_statement(at) && declares_scalars(at, variables)) {
                at = read_variables(at + 1, end, depth, variables);
            } else if (const std::size_t name = after_wide_type(at); is_word(name) && starts_statement(at)) {
                const std::size_t known_before = variables.size();
                at = read_variables(name, end, depth, variables);
                for (std::size_t i = known_before; i < variables.size(); ++i) {
                    variables[i].wide = std::exchange(variables[i].usable, false);
                }
            } else if (Variable* known = find(variables, word); known != nullptr) {
                if (is_declared(at)) {
                    variables.push_back({word, depth});
                } else if (token(at + 1) == "=" && token(at - 1) != ".") {
                    known->has_value = true;
                }
            }
        }
    }

    /// Whether a statement starts there: `precise` and what the type's name is within may come first.
    [[nodiscard]] bool starts_statement(std::size_t at) const {
        while (at > 1 && is_one_of(token(at - 1), ".", "precise")) {
            at -= token(at - 1) == "." ? 2 : 1;
        }
        return is_one_of(token(at - 1), "{", "}", ";", ":");
    }

    /// `float w`, `var w : float`, or `var w` with a value that is a floating scalar.
    [[nodiscard]] bool declares_scalars(std::size_t at, Variables& variables) const {
        if (token(at) != "var") {
            return is_scalar_type(at);
        }
        if (token(at + 2) != "=") {
            return token(at + 2) == ":" && names_scalar(token(at + 3));
        }
        const std::string_view value = token(at + 3);
        const Variable* known = find(variables, value);
        if (known != nullptr && token(at + 4) == ";") {
            return known->usable;
        }
        if (names_scalar(value) && token(at + 4) == "(") {
            return token(after_bracket(at + 4)) == ";";
        }
        return !value.empty() && is_decimal_digit(value.front()) && token(at + 4) == "." &&
               token(at + 6) == ";";
    }

    /// What follows `float3`, `half2x2`, `vector<float, 3>`; otherwise `never`.
    [[nodiscard]] std::size_t after_wide_type(std::size_t at) const {
        if (is_one_of(token(at), "vector", "matrix") && token(at + 1) == "<" && names_scalar(token(at + 2))) {
            for (++at; token(at) != ">" && (is_word(at) || is_one_of(token(at), "<", ",")); ++at) {
            }
            return token(at) == ">" ? at + 1 : never;
        }
        return is_wide(token(at)) ? at + 1 : never;
    }

    /// What follows `LOOP(3) { … }`, where a macro begins a loop; otherwise 0.
    [[nodiscard]] std::size_t after_macro_loop(std::size_t at) const {
        if (!is_in_capitals(token(at)) || !(starts_statement(at) || token(at - 1) == "]")) {
            return 0;
        }
        const std::size_t open = token(at + 1) == "(" ? after_bracket(at + 1) : at + 1;
        const std::size_t next = token(open) == "{" ? after_bracket(open) : 0;
        return is_in_capitals(token(next)) ? 0 : next;  // which may go on like an `else`
    }

    /// `out` arguments get values, which are given another name, too: Slang gives what comes from a call, and
    /// is read in a loop, the gradient of one iteration.
    void note_arguments(std::size_t open, std::size_t close, Variables& variables) {
        bool writes = out_takers_.contains(token(open - 1)) || is_call_alone(open, close);
        const std::size_t end = simple_end(start_of_statement(open));
        for (std::size_t at = open + 1; at < close; ++at) {
            const bool whole = is_one_of(token(at - 1), "(", ",") && is_one_of(token(at + 1), ",", ")");
            Variable* known = whole ? find(variables, token(at)) : nullptr;
            if (known == nullptr) {
                writes = writes || out_takers_.contains(token(at));
                continue;
            }
            const bool given = (writes || !known->has_value) && (known->usable || known->wide);
            known->has_value = true;
            if (given && end != 0) {
                put_behind_call(end, known->name);
            } else {
                known->given = known->given || given;
            }
        }
    }

    [[nodiscard]] std::size_t start_of_statement(std::size_t at) const {
        for (int open = 0; at > 0 && !is_one_of(token(at - 1), "{", "}", ";"); --at) {
            open += is_one_of(token(at - 1), ")", "]") ? 1 : 0;
            open -= is_one_of(token(at - 1), "(", "[") ? 1 : 0;
            if (open < 0) break;
        }
        return at;
    }

    /// `f(a, b);` or `x.f(a, b);`: it is called for what it writes.
    [[nodiscard]] bool is_call_alone(std::size_t open, std::size_t close) const {
        std::size_t name = open - 1;
        while (is_word(name) && outer_name(name) != name) {
            name = outer_name(name);
        }
        const bool starts = is_one_of(token(name - 1), "{", "}", ";", ")", "else", "do", ":");
        return is_word(name) && starts && token(close + 1) == ";";
    }

    /// Where a statement of its own ends, in the text; 0 for the parts of others.
    [[nodiscard]] std::size_t simple_end(std::size_t start) const {
        if (!is_one_of(token(start - 1), "{", "}", ";") || !is_word(start) ||
            is_one_of(token(start), "if", "else", "for", "while", "do", "switch", "case", "default",
                      "return")) {
            return 0;
        }
        const std::size_t next = after_statement(start, size());
        return next < size() ? tokens_.all[next - 1].offset + 1 : 0;
    }

    void put_behind_call(std::size_t offset, std::string_view name) {
        if (which_ == RenamedScalars::behind_calls) text_.insert_once(offset, renewed(name));
    }

    void put_behind_loop(std::size_t offset, std::string_view name) {
        if (which_ == RenamedScalars::behind_loops) text_.insert_once(offset, renewed(name));
    }

    /// The scalars in `for (float w = a, x = b; …)`.
    void read_header(std::size_t at, std::size_t close, std::size_t next, Variables& variables) {
        if (!names_scalar(token(at)) || !is_word(at + 1)) {
            return;
        }
        const std::size_t known = variables.size();
        read_variables(at + 1, close, 0, variables);
        for (std::size_t i = known; i < variables.size(); ++i) {
            variables[i].until = next;
        }
    }

    /// Whether the name may be a declaration's here.
    [[nodiscard]] bool is_declared(std::size_t name) const {
        const std::string_view before = token(name - 1);
        if (is_word(name - 1)) {
            return !is_one_of(before, "return", "else", "do", "case", "in", "throw", "no_diff");
        }
        if (before == ",") {
            return !is_operator(name - 1);
        }
        if (before != ">" && before != "]") {
            return false;
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

    /// Whether a comma surely stands between expressions: what the statement starts with is no type.
    [[nodiscard]] bool is_operator(std::size_t comma) const {
        std::size_t at = start_of_statement(comma);
        if (token(at - 1) == "(" && !is_one_of(token(at - 2), "for", "if", "while")) {
            return true;
        }
        if (!is_word(at)) {
            return is_one_of(token(at), "+", "-", "(");
        }
        for (++at; is_one_of(token(at), ".", "[");) {
            at = token(at) == "." ? at + 2 : after_bracket(at);
        }
        return at <= comma && !is_word(at) && !is_one_of(token(at), "<", ":", ",");
    }

    /// What a loop or condition declares for itself.
    void hide(std::size_t at, std::size_t end, std::size_t next, Variables& variables) const {
        for (; at < end; ++at) {
            if (find(variables, token(at)) != nullptr && is_declared(at)) {
                variables.push_back({token(at), 0, next});
            }
        }
    }

    /// Reads variables up to the end of `a = 0, b = f(a, 1), c;`.
    std::size_t read_variables(std::size_t at, std::size_t end, int depth, Variables& variables) {
        while (at < end && is_word(at)) {
            const std::string_view behind = token(at + (token(at + 1) == ":" ? 3 : 1));
            const bool plain = is_one_of(behind, "=", ",", ";");
            variables.push_back({token(at), depth, never, plain, behind == "="});
            while (at < end && token(at) != "," && token(at) != ";") {
                if (token(at) == "(") note_arguments(at, after_bracket(at) - 1, variables);
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

    /// A new value after the loop for what the loop may have changed, and before it for what calls gave.
    void renew_around(std::size_t loop, std::size_t next, Variables& variables) {
        const std::size_t start = start_of_loop(loop);
        for (Variable& variable : variables) {
            if (find(variables, variable.name) != &variable || !names(loop, next, variable.name)) {
                continue;
            }
            if (variable.usable && variable.has_value && token(next) != "else") {
                put_behind_loop(tokens_.all[next - 1].offset + 1, variable.name);
            }
            if (variable.given && start != 0) {
                put_behind_call(tokens_.all[start].offset, variable.name);
            }
        }
    }

    [[nodiscard]] bool names(std::size_t from, std::size_t end, std::string_view name) const {
        for (std::size_t at = from; at < end; ++at) {
            if (token(at) == name && token(at - 1) != ".") return true;
        }
        return false;
    }

    /// Returns where a loop starts, with its attributes; 0 where no statement can stand before it.
    [[nodiscard]] std::size_t start_of_loop(std::size_t at) const {
        const bool ends_do = token(at) == "while" && token(at - 1) == "}";
        while (token(at - 1) == "]") {
            for (int open = 0; at > 0;) {
                --at;
                open += token(at) == "]" ? 1 : (token(at) == "[" ? -1 : 0);
                if (open == 0) break;
            }
        }
        return !ends_do && is_one_of(token(at - 1), "{", "}", ";") ? at : 0;
    }

    static std::string renewed(std::string_view name) {
        return std::string(name) + " = -(-" + std::string(name) + "); ";
    }

    [[nodiscard]] std::size_t end_of_parameter(std::size_t at, std::size_t end) const {
        return comma(at, end);
    }

    struct ScalarParameter {
        std::string_view name;
        bool read = true;
        bool written = false;
    };

    /// Whether a modifier is there: `uniform float a`, `in a : float`.
    [[nodiscard]] bool has_modifier(std::size_t at) const {
        const bool known = is_one_of(token(at), "in", "out", "inout", "const", "precise", "uniform");
        return is_word(at) && is_word(at + 1) && (known || is_word(at + 2) || is_within(at + 2));
    }

    /// The one in `float a` and `a : float`; without a name for others, of which those without a gradient
    /// need nothing.
    [[nodiscard]] ScalarParameter scalar_parameter(std::size_t first, std::size_t last) const {
        ScalarParameter parameter;
        bool in = false;
        for (; has_modifier(first); ++first) {
            const std::string_view modifier = token(first);
            if (is_one_of(modifier, "no_diff", "ref", "__ref")) return {};
            in = in || is_one_of(modifier, "in", "inout");
            parameter.written = parameter.written || is_one_of(modifier, "out", "inout");
        }
        while (is_word(first) && is_within(first + 1)) {
            first += token(first + 1) == "." ? 2 : 3;
        }
        parameter.read = in || !parameter.written;
        if (last - first < 2) {
            return {};
        }
        if (token(first + 1) == ":") {
            const bool ends = first + 3 == last || token(first + 3) == "=";
            parameter.name = token(first);
            return names_scalar(token(first + 2)) && ends ? parameter : ScalarParameter();
        }
        const bool ends = first + 2 == last || token(first + 2) == "=" || token(first + 2) == ":";
        parameter.name = token(first + 1);
        return is_scalar_type(first) && is_word(first + 1) && ends ? parameter : ScalarParameter();
    }

    /// The one in `inout float3 a`.
    [[nodiscard]] std::string_view wide_parameter(std::size_t first, std::size_t last) const {
        while (first < last && is_one_of(token(first), "in", "out", "inout")) {
            ++first;
        }
        const std::size_t name = after_wide_type(first);
        const bool ends = name + 1 == last || token(name + 1) == "=" || token(name + 1) == ":";
        return is_word(name) && ends ? token(name) : std::string_view();
    }

    ModuleText& text_;
    RenamedScalars which_;
    std::vector<Scope> scopes_;
    Scope generics_;  ///< of `__generic<…>` before a declaration
    Scope inner_;     ///< aliases and types so far, of namespaces and types that have ended, too
    std::vector<Depths> conditions_;               ///< what was open at each #if
    Names out_takers_{"sincos", "modf", "frexp"};  ///< functions that write to arguments
    std::size_t passed_ = 0;                       ///< directives
    std::size_t at_ = 0;
    int parentheses_ = 0;
    int depth_ = 0;
};

}  // namespace

void rename_scalars(ModuleText& text, RenamedScalars which) { ScalarRenamer(text, which).run(); }

}  // namespace kf::gen
