// Finds calls that write variables, and parameters that end with a value of their own, by their tokens.
#include "slang/workarounds/value_copies.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "slang/brackets.h"
#include "slang/older_names.h"
#include "slang/statements.h"
#include "slang/type.h"

namespace kf::gen {

namespace {

constexpr std::size_t no_token = static_cast<std::size_t>(-1);

bool is_keyword(std::string_view word) {
    return is_one_of(word, "return", "else", "do", "case", "in", "out", "inout", "throw", "no_diff", "const",
                     "static", "let", "var", "goto", "new", "sizeof", "if", "for", "while", "switch");
}

/// A tensor of the library's, by any of its names: "IDiffTensor", "NDBuffer", "TensorView".
bool is_tensor(std::string_view type) {
    if (type.starts_with("I")) type.remove_prefix(1);
    return form_named(type) || is_foreign_tensor(type);
}

class ValueCopier {
public:
    ValueCopier(ModuleText& text, CopiedValues which)
        : text_(text),
          tokens_(text.tokens),
          token_(text.tokens),
          which_(which),
          function_(added_name("kept", text.original)) {}

    void run() {
        note_functions();
        for (std::size_t at = 0; at < token_.size(); ++at) {
            if (tokens_.marks_differentiable(token_[at])) at = read_function(at);
        }
        if (!has_copied_) return;
        text_.insert_once(text_.original.size(),
                          "\n#ifndef " + function_ + "\n#define " + function_ + " " + function_ +
                              "\n[Differentiable] KfT " + function_ +
                              "<KfT : IDifferentiable>(KfT kf_value, int kf_number) { return kf_value; }\n"
                              "[OverloadRank(-1)] KfT " +
                              function_ +
                              "<KfT>(KfT kf_value, int kf_number) { return kf_value; }\n#endif\n");
    }

private:
    struct Function {
        bool mutating = false;
        Names variables;  ///< that can be assigned to
        Names others;     ///< constants, tensors, integers
        Names tensors;    ///< by the library's type names
        Names numbers;    ///< floating scalars, vectors and matrices, by these types' own names
        std::vector<std::string_view> ending;  ///< inout parameters that are assigned to
    };

    // ---- What the text declares ----

    void note_functions() {
        for (std::size_t at = 0; at < token_.size(); ++at) {
            const std::string_view word = token_[at];
            if (is_one_of(word, "out", "inout")) {
                note_writer(at);
            } else if (word == "mutating" && token_[at + 1] == "]") {
                const std::size_t name = name_of_function(at + 2);
                if (name != no_token) mutating_.insert(token_[name]);
            } else if (word == "property") {
                note_property(at);
            } else if (is_one_of(word, "struct", "class")) {
                structs_.insert(token_[at + 1]);
            } else if (word == "(" && token_.is_word(at - 1) && is_definition(at)) {
                functions_.insert(token_[at - 1]);
            }
        }
    }

    void note_writer(std::size_t at) {
        const std::size_t open = token_.parenthesis_around(at);
        if (open == 0) return;
        const std::size_t name = name_before(open);
        writers_[token_[name]].insert(token_.place_in(open, at));
    }

    /// The name before a parenthesis, also that of `f<T>(`.
    [[nodiscard]] std::size_t name_before(std::size_t open) const {
        return token_[open - 1] == ">" ? token_.opening_angle(open - 1) - 1 : open - 1;
    }

    [[nodiscard]] std::size_t name_of_function(std::size_t at) const {
        while (at < token_.size() && !is_one_of(token_[at], "(", "{", "}", ";")) {
            at = token_[at] == "[" ? token_.after_bracket(at) : at + 1;
        }
        return token_[at] == "(" ? name_before(at) : no_token;
    }

    void note_property(std::size_t at) {
        std::size_t open = at;
        while (open < token_.size() && !is_one_of(token_[open], "{", ";")) ++open;
        if (token_[open] != "{") return;
        const bool has_type_behind = token_[at + 2] == ":";
        for (std::size_t i = open, end = token_.after_bracket(open); i < end; ++i) {
            if (token_[i] == "set") properties_.insert(token_[has_type_behind ? at + 1 : open - 1]);
        }
    }

    /// Whether a function's parameters begin at `open`, not a call's arguments.
    [[nodiscard]] bool is_definition(std::size_t open) const {
        if (open < 2) return false;
        const bool typed = token_.is_word(open - 2) || is_one_of(token_[open - 2], ">", "]");
        const std::string_view behind = token_[token_.after_bracket(open)];
        return typed && !is_keyword(token_[open - 2]) && is_one_of(behind, "{", ";", "where");
    }

    // ---- A function ----

    /// Returns the last token of the function whose attribute is at `at`, or `at` where there is none.
    std::size_t read_function(std::size_t at) {
        const std::size_t open = token_.body_behind(at);
        if (open == token_.size()) return at;
        const std::size_t end = token_.after_bracket(open) - 1;
        bool loops = false;
        for (std::size_t i = token_.start_of_statement(at); i < end; ++i) {
            const bool lambda = i > open && token_[i] == "=" && token_[i + 1] == ">";
            if (lambda || is_one_of(token_[i], "__intrinsic_asm", "struct", "class", "enum")) return end;
            const bool by_macro =
                i > open && is_in_capitals(token_[i]) &&
                is_one_of(token_[token_[i + 1] == "(" ? token_.after_bracket(i + 1) : i + 1], "{");
            loops = loops || by_macro ||
                    is_one_of(token_[i], "for", "while", "do", "ForceInline", "__unsafeForceInlineEarly");
        }
        Function function;
        for (std::size_t i = token_.start_of_statement(at); i < open; ++i) {
            function.mutating = function.mutating || token_[i] == "mutating";
        }
        for (std::size_t i = at + 1; i < end; ++i) note(i, function);
        if (which_ == CopiedValues::behind_calls) {
            if (loops) read_calls(open + 1, end, function);
            return end;
        }
        if (const std::size_t parameters = parameters_of(at, open); parameters < open)
            note_endings(parameters, open, end, function);
        if (!function.ending.empty()) read_endings(open + 1, end, function);
        return end;
    }

    /// Returns the first parenthesis between the attribute and the body that isn't an attribute's; `body`
    /// where there is none.
    [[nodiscard]] std::size_t parameters_of(std::size_t attribute, std::size_t body) const {
        std::size_t open = attribute;
        while (open < body && (token_[open] != "(" || closes_attribute(open))) {
            open = token_[open] == "(" ? token_.after_bracket(open) : open + 1;
        }
        return std::min(open, body);
    }

    /// Whether the parentheses are within `[…]`.
    [[nodiscard]] bool closes_attribute(std::size_t open) const {
        return token_[token_.after_bracket(open)] == "]" || token_[token_.after_bracket(open)] == ",";
    }

    /// What a name is declared as, if this is where.
    void note(std::size_t at, Function& function) const {
        if (at < 2 || !token_.is_word(at) || is_keyword(token_[at])) return;
        const std::string_view before = token_[at - 1];
        std::size_t type = at - 1;
        if (before == ">") type = token_.opening_angle(at - 1) - 1;
        const bool typed = before == ">" ? type + 2 < at : token_.is_word(at - 1);
        if (!is_one_of(token_[at + 1], "=", ",", ";", ")", "[", ":") || !typed) return;
        const std::string_view word = token_[type];
        if (is_one_of(word, "return", "else", "do", "case", "throw", "goto")) return;
        const bool fixed = is_one_of(word, "let", "const", "static") ||
                           is_one_of(token_[type - 1], "const", "no_diff", "constref", "borrow", "uniform") ||
                           is_one_of(token_[type - 2], "const", "no_diff");
        if (fixed || has_no_derivative(word)) {
            function.others.insert(token_[at]);
            if (is_tensor(word) && !structs_.contains(word)) function.tensors.insert(token_[at]);
        } else {
            function.variables.insert(token_[at]);
            if ((is_scalar(word) || is_wide(word)) && token_[at + 1] != "[") {
                function.numbers.insert(token_[at]);
            }
        }
    }

    /// The inout parameters to which the body assigns a value as a whole. Slang is right about structs and
    /// arrays.
    void note_endings(std::size_t parameters, std::size_t open, std::size_t end, Function& function) const {
        const std::size_t close = token_.after_bracket(parameters);
        for (std::size_t at = parameters; at < close; ++at) {
            if (token_[at] != "inout") continue;
            const bool has_type_behind = token_[at + 2] == ":";
            std::size_t name = has_type_behind ? at + 1 : at + 2;
            if (token_[name] == "<") {
                while (name < close && token_[name] != ">") ++name;
                ++name;
            }
            if (!function.variables.contains(token_[name]) ||
                structs_.contains(token_[has_type_behind ? at + 3 : at + 1]) || token_[name + 1] == "[") {
                continue;
            }
            for (std::size_t i = open; i < end; ++i) {
                if (token_[i] == token_[name] && token_[i + 1] == "=" && token_[i + 2] != "=" &&
                    token_[i - 1] != ".") {
                    function.ending.push_back(token_[name]);
                    break;
                }
            }
        }
    }

    // ---- Its statements ----

    void read_calls(std::size_t begin, std::size_t end, const Function& function) {
        for (const Statement& statement : simple_statements(token_, begin, end).all) {
            if (token_[statement.first] == "return") continue;
            put_around(statement, token_, {}, copies(statement, function), text_.insertions);
        }
    }

    void read_endings(std::size_t begin, std::size_t end, const Function& function) {
        const Statements statements = simple_statements(token_, begin, end);
        bool returned = false;
        for (const Statement& statement : statements.all) {
            const bool returns = token_[statement.first] == "return";
            returned = returns && statement.stop + 1 == end;
            if (returns) put_around(statement, token_, endings(function), {}, text_.insertions);
        }
        if (statements.complete && !returned) text_.insertions[token_.offset(end)] += endings(function);
    }

    std::string copied(std::string_view name) {
        has_copied_ = true;
        return std::string(name) + " = " + function_ + "(" + std::string(name) + ", " + own_number + "); ";
    }

    std::string endings(const Function& function) {
        std::string statements;
        for (const std::string_view name : function.ending) statements += copied(name);
        return statements;
    }

    /// Returns copies of what the calls in a statement write.
    std::string copies(const Statement& statement, const Function& function) {
        const auto& [first, stop, bare] = statement;
        Names written;
        for (std::size_t at = first; at < stop; ++at) {
            if (token_[at] == "(" && at > first && (token_.is_word(at - 1) || token_[at - 1] == ">")) {
                note_call(at, first, stop, bare, function, written);
            } else if (properties_.contains(token_[at]) && is_assigned(at + 1)) {
                const std::size_t start = start_of_chain(at);
                add(start == at ? "this" : token_[start], function, written);
            }
        }
        std::string statements;
        for (const std::string_view name : written) statements += copied(name);
        return statements;
    }

    /// Whether `=` or `+=` is at `at`.
    [[nodiscard]] bool is_assigned(std::size_t at) const {
        const bool combined = is_one_of(token_[at], "+", "-", "*", "/") && token_[at + 1] == "=";
        return combined || (token_[at] == "=" && token_[at + 1] != "=");
    }

    void note_call(std::size_t open, std::size_t first, std::size_t stop, bool bare, const Function& function,
                   Names& written) const {
        const std::size_t name = name_before(open);
        const std::string_view callee = token_[name];
        const std::size_t start = start_of_chain(name);
        const std::size_t close = token_.after_bracket(open) - 1;
        const bool stores = start != name && function.tensors.contains(token_[start]) &&
                            is_one_of(callee, "store", "storeOnce", "store_once", "set", "setv", "add");
        if (stores) return;
        const bool known =
            functions_.contains(callee) || writers_.contains(callee) || mutating_.contains(callee);
        const bool alone = start == first && close + 1 == stop;
        const auto writer = writers_.find(callee);
        if (mutating_.contains(callee) || (!known && alone && start != name)) {
            add(start == name ? "this" : token_[start], function, written);
        }
        std::size_t place = 0;
        for (std::size_t at = open + 1; at < close; ++place) {
            std::size_t next = at;
            while (next < close && token_[next] != ",") {
                next = token_.opens(next) ? token_.after_bracket(next) : next + 1;
            }
            const bool may_write =
                writer != writers_.end() ? writer->second.contains(place) : !known && alone;
            // rename_scalars() sees to numbers as a whole.
            const bool number = next == at + 1 && !bare && function.numbers.contains(token_[at]);
            if (may_write && !number && is_place(at, next)) add(token_[at], function, written);
            at = next + 1;
        }
    }

    /// Whether the tokens are a variable, or a part of one.
    [[nodiscard]] bool is_place(std::size_t at, std::size_t end) const {
        if (!token_.is_word(at)) return false;
        for (++at; at < end;) {
            if (token_[at] == ".") {
                at += 2;
            } else if (token_[at] == "[") {
                at = token_.after_bracket(at);
            } else {
                return false;
            }
        }
        return true;
    }

    /// Where `a.b[0].name` begins; `name` itself where that is a call's result.
    [[nodiscard]] std::size_t start_of_chain(std::size_t name) const {
        std::size_t at = name;
        while (at > 1 && token_[at - 1] == ".") {
            at -= 2;
            while (token_[at] == "]") at = token_.opening_bracket(at) - 1;
            if (!token_.is_word(at)) return name;
        }
        return at;
    }

    void add(std::string_view name, const Function& function, Names& written) const {
        if (function.others.contains(name)) return;
        if (function.variables.contains(name)) {
            written.insert(name);
        } else if (function.mutating) {
            written.insert("this");  // of which it is a field
        }
    }

    ModuleText& text_;
    const Tokens& tokens_;
    TokenView token_;
    CopiedValues which_;
    std::string function_;
    bool has_copied_ = false;
    /// Functions that write to arguments, and to which.
    std::map<std::string_view, std::set<std::size_t>> writers_{
        {"sincos", {1, 2}}, {"modf", {1}}, {"frexp", {1}}};
    Names mutating_;    ///< methods
    Names functions_;   ///< of this text, of which it is known what they write
    Names properties_;  ///< that have a setter
    Names structs_;
};

}  // namespace

void copy_values(ModuleText& text, CopiedValues which) { ValueCopier(text, which).run(); }

bool is_copy_of_value(std::string_view function) { return is_added_name(function, "kept"); }

}  // namespace kf::gen
