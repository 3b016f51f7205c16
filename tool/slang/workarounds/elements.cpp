// Finds reads of elements, and what they are of, by their tokens.
#include "slang/workarounds/elements.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "slang/brackets.h"

namespace kf::gen {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class ElementReader : TokenView {
public:
    ElementReader(std::string_view text, const Tokens& tokens)
        : TokenView(tokens), text_(text), function_(added_name("own", text)) {}

    std::map<std::size_t, std::string> run() {
        note_fields();
        for (std::size_t at = 0; at < size(); ++at) {
            if (tokens_.marks_differentiable(token(at))) at = read_function(at);
        }
        if (!insertions_.empty()) {
            // Behind all that is conditional, which may be the whole text.
            insertions_[text_.size()] +=
                "\n#ifndef " + function_ + "\n#define " + function_ + " " + function_ +
                "\n[Differentiable] KfT " + function_ +
                "<KfT : IDifferentiable>(KfT kf_value, int kf_number) { return kf_value; }\n#endif\n";
        }
        return insertions_;
    }

private:
    /// Names by what they are declared as.
    struct Declared {
        Names elements;  ///< vectors, matrices and arrays of floats
        Names others;    ///< anything else

        [[nodiscard]] bool has(std::string_view name) const {
            return elements.contains(name) || others.contains(name);
        }
        [[nodiscard]] bool has_elements(std::string_view name) const {
            return elements.contains(name) && !others.contains(name);
        }
    };

    /// A struct, by its name, which several may have.
    struct Struct {
        Declared fields;
        std::map<std::string_view, std::string_view> types;  ///< of fields; "" where there are two
    };

    /// The tokens of a struct's body.
    struct Body {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::string_view name;
    };

    /// What a function declares.
    struct Locals {
        Declared names;
        std::map<std::string_view, std::string_view> types;  ///< as in Struct
        std::string_view owner;                              ///< the struct that it is a method of
    };

    /// One subscript of a variable.
    struct Read {
        std::string_view index;
        std::size_t first = 0;  ///< the token that what is read from begins with
        std::size_t open = 0;   ///< the bracket
        bool constant = false;
        bool written = false;  ///< too, by an operator such as += or a call
    };

    [[nodiscard]] bool is_scalar_type(std::size_t at) const {
        return is_scalar(token(at)) || tokens_.scalars.contains(token(at));
    }

    /// Whether the `>` ends `vector<float, 3>` or `matrix<float, 2, 3>`.
    [[nodiscard]] bool ends_wide_type(std::size_t at) const {
        return (at > 4 && token(at - 4) == "<" && token(at - 5) == "vector") ||
               (at > 6 && token(at - 6) == "<" && token(at - 7) == "matrix");
    }

    /// What is declared outside of functions, and which of these write to arguments.
    void note_fields() {
        for (std::size_t at = 0; at + 1 < size(); ++at) {
            if (is_one_of(token(at), "struct", "class")) structs_[token(at + 1)];
        }
        std::vector<bool> code;
        std::vector<Body> bodies;  // as many
        bool type = false;
        std::string_view name;
        int parentheses = 0;
        for (std::size_t at = 0; at < size(); ++at) {
            const std::string_view word = token(at);
            parentheses += word == "(" ? 1 : (word == ")" ? -1 : 0);
            if (is_one_of(word, "out", "inout")) note_writer(at);
            if (is_one_of(word, "struct", "class", "interface", "extension", "namespace")) {
                type = true;
                name = word == "namespace" ? std::string_view() : token(at + 1);
            }
            if (word == ";") type = false;
            if (word == "{") {
                if (!type) name = {};
                code.push_back(!std::exchange(type, false) || (!code.empty() && code.back()));
                bodies.push_back({at, 0, std::exchange(name, {})});
            } else if (word == "}" && !code.empty()) {
                bodies.back().end = at;
                if (!bodies.back().name.empty()) bodies_.push_back(bodies.back());
                code.pop_back();
                bodies.pop_back();
            }
            if (parentheses != 0 || (!code.empty() && code.back())) continue;
            note(at, fields_);
            if (!bodies.empty() && !bodies.back().name.empty()) {
                Struct& around = structs_[bodies.back().name];
                note(at, around.fields);
                note_type(at, around.types);
            }
        }
    }

    void note_writer(std::size_t at) {
        const std::size_t open = parenthesis_around(at);
        if (open > 0) writers_[token(open - 1)].insert(place_in(open, at));
    }

    /// Whether a value that can be read by an index is a vector, matrix or array of floats, by its first
    /// word.
    [[nodiscard]] bool starts_with_elements(std::size_t at, const Declared& declared) const {
        while (is_one_of(token(at), "(", "-")) ++at;
        if (declared.has_elements(token(at))) return !is_one_of(token(at + 1), "[", ".");
        return is_wide(token(at)) ||
               is_one_of(token(at), "mul", "transpose", "normalize", "cross", "reflect");
    }

    /// What a name is declared as, if this is where.
    void note(std::size_t at, Declared& declared) const {
        if (at == 0 || !is_word(at)) return;
        const std::string_view before = token(at - 1);
        if (is_wide(before) || (before == ">" && ends_wide_type(at - 1))) {
            declared.elements.insert(token(at));
        } else if (is_scalar_type(at - 1) && token(at + 1) == "[") {
            declared.elements.insert(token(at));
        } else if (token(at + 1) == ":" && is_wide(token(at + 2)) &&
                   is_one_of(before, "(", ",", "var", "let")) {
            declared.elements.insert(token(at));
        } else if (is_one_of(before, "var", "let") && token(at + 1) == "=" &&
                   starts_with_elements(at + 2, declared)) {
            declared.elements.insert(token(at));
        } else if (is_word(at - 1) && !is_one_of(before, "return", "else", "do", "case", "in", "throw",
                                                 "no_diff", "out", "inout", "const", "static")) {
            declared.others.insert(token(at));
        }
    }

    /// The last word of a variable's type, if this is where it is declared.
    void note_type(std::size_t at, std::map<std::string_view, std::string_view>& types) const {
        if (at == 0 || !is_word(at)) return;
        std::string_view type = token(at - 1);
        if (is_one_of(type, "var", "let")) {
            if (token(at + 1) != "=") return;
            type = token(at + 2);
            if (const auto copied = types.find(type); copied != types.end() && token(at + 3) == ";")
                type = copied->second;
        }
        if (!structs_.contains(type)) return;
        const auto [known, is_new] = types.emplace(token(at), type);
        if (!is_new && known->second != type) known->second = {};
    }

    /// The innermost struct around it.
    [[nodiscard]] std::string_view owner_of(std::size_t at) const {
        std::string_view name;
        std::size_t begin = 0;
        for (const Body& body : bodies_) {
            if (body.begin >= begin && body.begin < at && at < body.end) {
                begin = body.begin;
                name = body.name;
            }
        }
        return name;
    }

    /// The body of the function whose attribute is at `at`; gives its last token, or `at` where there is
    /// none.
    std::size_t read_function(std::size_t at) {
        const std::size_t open = body_behind(at);
        if (open == size()) return at;
        const std::size_t end = after_bracket(open);
        Locals declared;
        declared.owner = owner_of(at);
        for (std::size_t inner = at + 1; inner < end; ++inner) {
            note(inner, declared.names);
            note_type(inner, declared.types);
        }
        std::vector<Read> reads;
        for (std::size_t inner = open + 1; inner < end; ++inner) {
            if (is_one_of(token(inner), "__intrinsic_asm", "struct")) return end - 1;
            if (is_word(inner) && token(inner + 1) == "[" && has_elements(inner, declared)) {
                note_reads(inner, reads);
            }
        }
        for (const Read& read : reads) {
            if (!read.written && meets_other(reads, read)) give_own(read);
        }
        return end - 1;
    }

    [[nodiscard]] bool has_elements(std::size_t at, const Locals& declared) const {
        if (token(at - 1) != "." && declared.names.has(token(at))) {
            return declared.names.has_elements(token(at));
        }
        const auto owner = structs_.find(token(at - 1) == "." ? struct_before(at, declared) : declared.owner);
        const bool known = owner != structs_.end() && owner->second.fields.has(token(at));
        return (known ? owner->second.fields : fields_).has_elements(token(at));
    }

    /// The struct that the field at `at` is one of, as in `a.b[0].field`; "" where that isn't known.
    [[nodiscard]] std::string_view struct_before(std::size_t at, const Locals& declared) const {
        std::size_t next = first_token(at);
        if (next == 0) return {};
        std::string_view type = declared.owner;
        if (token(next) != "this") {
            const bool local = declared.names.has(token(next)) || declared.types.contains(token(next));
            type = local ? found_in(declared.types, token(next)) : field_type(type, token(next));
        }
        for (next = behind_subscripts(next + 1); next + 1 < at; next = behind_subscripts(next + 2)) {
            type = field_type(type, token(next + 1));
        }
        return type;
    }

    [[nodiscard]] std::size_t behind_subscripts(std::size_t at) const {
        while (token(at) == "[") at = after_bracket(at);
        return at;
    }

    [[nodiscard]] std::string_view field_type(std::string_view type, std::string_view field) const {
        const auto owner = structs_.find(type);
        return owner == structs_.end() ? std::string_view() : found_in(owner->second.types, field);
    }

    static std::string_view found_in(const std::map<std::string_view, std::string_view>& types,
                                     std::string_view name) {
        const auto found = types.find(name);
        return found == types.end() ? std::string_view() : found->second;
    }

    /// Whether there is another index that may be the same at run time, and this read is the one to change:
    /// what is written can't be, and else constants needn't.
    static bool meets_other(const std::vector<Read>& reads, const Read& read) {
        for (const Read& other : reads) {
            // The name doesn't count: it may be a copy.
            if (other.index != read.index && (!read.constant || (other.written && !other.constant)))
                return true;
        }
        return false;
    }

    void note_reads(std::size_t at, std::vector<Read>& reads) const {
        const std::size_t first = first_token(at);
        std::size_t after = at + 1;
        while (token(after) == "[" || (token(after) == "." && is_word(after + 1))) {
            after = token(after) == "[" ? after_bracket(after) : after + 2;
        }
        if (first == 0 || token(after) == "(" || is_declared(at) || is_in_macro(first)) return;
        if (token(after) == "=" && token(after + 1) != "=") return;
        const bool written = may_be_written(first, after);
        for (std::size_t open = at + 1; token(open) == "[";) {
            const std::size_t next = after_bracket(open);
            const std::size_t from = tokens_.all[open].offset + 1;
            const std::string_view index = text_.substr(from, tokens_.all[next - 1].offset - from);
            const bool constant = next == open + 3 && is_digit(token(open + 1).front());
            reads.push_back({index, first, open, constant, written});
            open = next;
        }
    }

    /// Whether it may be the argument of a macro, which can't hold a `#line`.
    [[nodiscard]] bool is_in_macro(std::size_t at) const {
        for (std::size_t open = at; open > 1 && !is_one_of(token(open - 1), "{", "}", ";");) {
            --open;
            if (is_one_of(token(open), ")", "]"))
                open = opening_bracket(open);
            else if (token(open) == "(" && is_in_capitals(token(open - 1)))
                return true;
        }
        return false;
    }

    /// Where `a.b[0].name` begins; 0 where that is a call's result.
    [[nodiscard]] std::size_t first_token(std::size_t at) const {
        while (token(at - 1) == ".") {
            at -= 2;
            while (token(at) == "]") at = opening_bracket(at) - 1;
            if (!is_word(at)) return 0;
        }
        return token(at - 1) == ":" && token(at - 2) == ":" ? 0 : at;
    }

    [[nodiscard]] bool is_declared(std::size_t at) const {
        return is_scalar_type(at - 1) || is_wide(token(at - 1)) ||
               (token(at - 1) == ">" && ends_wide_type(at - 1));
    }

    /// Whether an operator such as += changes it, or it may be the argument of a call that does.
    [[nodiscard]] bool may_be_written(std::size_t first, std::size_t after) const {
        const std::string_view next = token(after);
        const std::string_view second = token(after + 1);
        const bool changes = is_one_of(next, "+", "-", "*", "/", "%", "&", "|", "^");
        if (changes && (second == "=" || (second == next && is_one_of(next, "+", "-")))) return true;
        if (is_one_of(token(first - 1), "+", "-") && token(first - 2) == token(first - 1)) return true;
        if (!is_one_of(token(first - 1), "(", ",") || !is_one_of(next, ",", ")")) return false;
        const std::size_t open = parenthesis_around(first - 1);
        if (!is_word(open - 1)) return false;
        if (const auto writer = writers_.find(token(open - 1)); writer != writers_.end()) {
            return writer->second.contains(place_in(open, first));
        }
        std::size_t start = open - 1;
        while (token(start - 1) == "." && is_word(start - 2)) start -= 2;
        return is_one_of(token(start - 1), "{", "}", ";") && token(after_bracket(open)) == ";";
    }

    void give_own(const Read& read) {
        insertions_[tokens_.all[read.first].offset] += function_ + "(";
        insertions_[tokens_.all[read.open].offset] += ", " + std::to_string(++count_) + ")";
    }

    std::string_view text_;
    std::string function_;
    Declared fields_;  ///< of all structs, and what is global
    std::map<std::string_view, Struct> structs_;
    std::vector<Body> bodies_;
    /// Functions that write to arguments, and to which.
    std::map<std::string_view, std::set<std::size_t>> writers_{
        {"sincos", {1, 2}}, {"modf", {1}}, {"frexp", {1}}};
    int count_ = 0;
    std::map<std::size_t, std::string> insertions_;
};

}  // namespace

std::map<std::size_t, std::string> keep_element_gradients(std::string_view text, const Tokens& tokens) {
    return ElementReader(text, tokens).run();
}

constinit const Workaround elements{
    .name = "elements",
    .fault = "loses a gradient of two elements that are read by run-time indices, where both are the same",
    .report = "",
    .record = "decisions/0036-elements-through-a-call.md",
    .since = {},
    .change_text = [](ModuleText& text) { text.insert(keep_element_gradients(text.original, text.tokens)); },
};

}  // namespace kf::gen
