// Finds reads of elements, and what they are of, by their tokens.
#include "slang/workarounds/elements.h"

#include <set>
#include <utility>
#include <vector>

#include "slang/brackets.h"

namespace kf::gen {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class ElementReader {
public:
    ElementReader(std::string_view text, const Tokens& tokens)
        : text_(text), tokens_(tokens), view_(tokens), function_("kf_own_" + hash_of(text)) {}

    std::map<std::size_t, std::string> run() {
        note_fields();
        for (std::size_t at = 0; at < size(); ++at) {
            const std::string_view word = token(at);
            if (says_differentiable(word) || tokens_.attributes.contains(word) ||
                tokens_.names.contains(word)) {
                at = read_function(at);
            }
        }
        if (!insertions_.empty()) {
            // Behind all that is conditional, which may be the whole text.
            insertions_[text_.size()] +=
                "\n#ifndef " + function_ + "\n#define " + function_ + " " + function_ +
                "\n[Differentiable] T " + function_ +
                "<T : IDifferentiable>(T value, int number) { return value; }\n#endif\n";
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

    /// One subscript of a variable.
    struct Read {
        std::string_view index;
        std::size_t first = 0;  ///< the token that what is read from begins with
        std::size_t open = 0;   ///< the bracket
        bool constant = false;
        bool written = false;  ///< too, by an operator such as += or a call
    };

    [[nodiscard]] std::size_t size() const { return tokens_.all.size(); }
    [[nodiscard]] std::string_view token(std::size_t at) const {
        return at < size() ? tokens_.all[at].text : std::string_view();
    }
    [[nodiscard]] bool is_word(std::size_t at) const { return at < size() && tokens_.all[at].word; }

    [[nodiscard]] std::size_t after_bracket(std::size_t at) const { return view_.after_bracket(at); }
    [[nodiscard]] std::size_t opening_bracket(std::size_t at) const { return view_.opening_bracket(at); }

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
        std::vector<bool> code;
        bool type = false;
        int parentheses = 0;
        for (std::size_t at = 0; at < size(); ++at) {
            const std::string_view word = token(at);
            parentheses += word == "(" ? 1 : (word == ")" ? -1 : 0);
            if (is_one_of(word, "out", "inout")) note_writer(at);
            if (is_one_of(word, "struct", "class", "interface", "extension", "namespace")) type = true;
            if (word == ";") type = false;
            if (word == "{") {
                code.push_back(!std::exchange(type, false) || (!code.empty() && code.back()));
            } else if (word == "}" && !code.empty()) {
                code.pop_back();
            }
            if (parentheses == 0 && (code.empty() || !code.back())) note(at, fields_);
        }
    }

    void note_writer(std::size_t at) {
        std::size_t open = at;
        while (open > 0 && token(open) != "(" && !is_one_of(token(open), "{", "}", ";")) {
            open = (is_one_of(token(open), ")", "]") ? opening_bracket(open) : open) - 1;
        }
        if (open > 0 && token(open) == "(") writers_[token(open - 1)].insert(view_.place_in(open, at));
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

    /// The body of the function whose attribute is at `at`; gives its last token, or `at` where there is
    /// none.
    std::size_t read_function(std::size_t at) {
        std::size_t open = at;
        while (open < size() && token(open) != "{" && token(open) != ";") {
            open = token(open) == "(" ? after_bracket(open) : open + 1;
        }
        if (token(open) != "{") return at;
        const std::size_t end = after_bracket(open);
        Declared declared;
        for (std::size_t inner = at + 1; inner < end; ++inner) note(inner, declared);
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

    [[nodiscard]] bool has_elements(std::size_t at, const Declared& declared) const {
        const bool field = token(at - 1) == "." || !declared.has(token(at));
        return (field ? fields_ : declared).has_elements(token(at));
    }

    /// Whether there is another index that may be the same at run time, and this read is the one to change:
    /// what is written can't be, and else constants needn't.
    static bool meets_other(const std::vector<Read>& reads, const Read& read) {
        for (const Read& other : reads) {
            // Under whatever name: it may be a copy.
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
        std::size_t open = first - 1;
        while (open > 0 && token(open) != "(" && !is_one_of(token(open), "{", "}", ";")) {
            open = (is_one_of(token(open), ")", "]") ? opening_bracket(open) : open) - 1;
        }
        if (token(open) != "(" || !is_word(open - 1)) return false;
        if (const auto writer = writers_.find(token(open - 1)); writer != writers_.end()) {
            return writer->second.contains(view_.place_in(open, first));
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
    const Tokens& tokens_;
    TokenView view_;
    std::string function_;
    Declared fields_;  ///< and what is global
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

}  // namespace kf::gen
