// Finds arrays by their declarations, and stores to them by their tokens.
#include "slang/workarounds/stored_parts.h"

#include <algorithm>
#include <set>
#include <vector>

#include "slang/brackets.h"
#include "slang/statements.h"

namespace kf::gen {

namespace {

/// `a[i].x = …`, or a call that may write `a[i].x`.
struct Store {
    std::size_t name = 0;  ///< the array's token
    std::size_t end = 0;   ///< the token behind what is stored to
    int depth = 0;         ///< how many subscripts and fields follow the name
};

class StoredPartFinder {
public:
    explicit StoredPartFinder(const Tokens& tokens) : tokens_(tokens), token_(tokens) {}

    Insertions run() {
        note_declarations();
        for (std::size_t at = 0; at < token_.size(); ++at) {
            if (tokens_.marks_differentiable(token_[at])) at = read_function(at);
        }
        return std::move(insertions_);
    }

private:
    // ---- What the text declares ----

    void note_declarations() {
        for (std::size_t at = 0; at < token_.size(); ++at) {
            const std::string_view word = token_[at];
            if (is_one_of(word, "out", "inout")) {
                if (const std::size_t open = token_.parenthesis_around(at); open > 0)
                    writers_.insert(token_[open - 1]);
            } else if (word == "typedef") {
                // `typedef float3 Two[2];`, `typedef float3[2] Two;`
                const std::size_t stop = token_.semicolon(at, token_.size());
                for (std::size_t name = at + 2; name < stop; ++name) {
                    if (token_.is_word(name) && (token_[name + 1] == "[" || token_[name - 1] == "]"))
                        types_.insert(token_[name]);
                }
            } else if (is_one_of(word, "typealias", "using") && token_[at + 2] == "=") {
                const std::size_t stop = token_.semicolon(at, token_.size());
                if (stop < token_.size() && (token_[stop - 1] == "]" || token_[at + 3] == "Array"))
                    types_.insert(token_[at + 1]);
            } else if (word == "(" && token_.is_word(at - 1) &&
                       is_one_of(token_[token_.after_bracket(at)], "{", "where")) {
                functions_.insert(token_[at - 1]);
            }
        }
    }

    /// Tells whether a declaration may begin with the token.
    [[nodiscard]] bool begins_declaration(std::size_t type) const {
        return type == 0 || is_one_of(token_[type - 1], "(", ",", "{", "}", ";", ")", "in", "out", "inout",
                                      "const", "no_diff", "static", "case", ":");
    }

    /// Tells whether the name at `at` is declared there, as an array of what may have a derivative.
    [[nodiscard]] bool declares_array(std::size_t at, const Names& arrays) const {
        if (!token_.is_word(at) || at == 0) return false;
        const auto fits = [&](std::size_t type) {
            return token_.is_word(type) && begins_declaration(type) && !has_no_derivative(token_[type]) &&
                   !is_one_of(token_[type], "return", "else", "do", "throw", "typedef", "struct");
        };
        if (token_[at + 1] == ":") {  // `a : float3[2]`
            return token_[at + 3] == "[" && token_[at - 1] != "?" && !has_no_derivative(token_[at + 2]);
        }
        if (is_one_of(token_[at - 1], "var", "let") && token_[at + 1] == "=") {
            return arrays.contains(token_[at + 2]) && is_one_of(token_[at + 3], ";", ",");
        }
        if (token_[at - 1] == "]") return fits(token_.opening_bracket(at - 1) - 1);
        std::size_t type = at - 1;
        if (token_[type] == ">") {
            const std::size_t open = token_.opening_angle(type);
            for (std::size_t inner = open; inner < type; ++inner) {
                if (is_one_of(token_[inner], "&", "|", "(")) return false;
            }
            if (open == type) return false;
            type = open - 1;
        }
        const bool is_array =
            token_[at + 1] == "[" || token_[type] == "Array" || types_.contains(token_[type]);
        return is_array && fits(type) && !(type == at - 1 && is_one_of(token_[type], "var", "let"));
    }

    // ---- A function ----

    /// Returns the last token of the function whose attribute is at `at`, or `at` where there is none.
    std::size_t read_function(std::size_t at) {
        const std::size_t open = token_.body_behind(at);
        if (open == token_.size()) return at;
        const std::size_t end = token_.after_bracket(open) - 1;
        Names arrays;
        for (std::size_t inner = at + 1; inner < end; ++inner) {
            if (is_one_of(token_[inner], "__intrinsic_asm", "struct", "class", "enum")) return end;
            if (declares_array(inner, arrays)) arrays.insert(token_[inner]);
        }
        if (arrays.empty()) return end;
        std::vector<Store> stores;
        for (std::size_t inner = open + 1; inner < end; ++inner) {
            if (!arrays.contains(token_[inner]) || token_[inner - 1] == "." || token_[inner + 1] != "[" ||
                declares_array(inner, {}))
                continue;
            if (const Store store = store_at(inner); store.depth > 0) stores.push_back(store);
        }
        const std::vector<Store> parts = parts_of_mixed(stores);
        if (parts.empty()) return end;
        for (const Statement& statement : simple_statements(token_, open + 1, end).all)
            keep(statement, parts);
        return end;
    }

    [[nodiscard]] bool is_stepped_before(std::size_t at) const {
        return is_one_of(token_[at - 1], "+", "-") && token_[at - 2] == token_[at - 1] &&
               !token_.is_word(at - 3) && !token_.closes(at - 3);
    }

    /// Reads what is stored to at the array's name; its depth is 0 where nothing is.
    [[nodiscard]] Store store_at(std::size_t name) const {
        Store store{name, name + 1, 0};
        for (;;) {
            if (token_[store.end] == "[") {
                store.end = token_.after_bracket(store.end);
            } else if (token_[store.end] == "." && token_[store.end + 2] != "(") {
                store.end += 2;
            } else {
                break;
            }
            ++store.depth;
        }
        const bool stored = token_.is_changed(store.end) || is_stepped_before(name) || may_be_written(store);
        return stored ? store : Store{};
    }

    /// Tells whether a call that it is an argument of may write it: of a function that has such parameters,
    /// or that isn't this text's, and whose result is not used.
    [[nodiscard]] bool may_be_written(const Store& store) const {
        if (!is_one_of(token_[store.name - 1], "(", ",") || !is_one_of(token_[store.end], ")", ","))
            return false;
        const std::size_t open = token_.parenthesis_around(store.name - 1);
        if (!token_.is_word(open - 1)) return false;
        const std::string_view callee = token_[open - 1];
        if (writers_.contains(callee)) return true;
        const bool alone =
            is_one_of(token_[open - 2], "{", "}", ";", ")") && token_[token_.after_bracket(open)] == ";";
        return alone && !functions_.contains(callee) && !is_one_of(callee, "if", "for", "while", "switch");
    }

    /// Selects the stores to parts of arrays that are stored to at several depths.
    [[nodiscard]] std::vector<Store> parts_of_mixed(const std::vector<Store>& stores) const {
        std::vector<Store> parts;
        for (const Store& store : stores) {
            const bool mixed = std::any_of(stores.begin(), stores.end(), [&](const Store& other) {
                return token_[other.name] == token_[store.name] && other.depth != store.depth;
            });
            if (mixed && store.depth > 1) parts.push_back(store);
        }
        return parts;
    }

    // ---- A statement ----

    void keep(const Statement& statement, const std::vector<Store>& parts) {
        std::set<std::string> elements;
        for (const Store& part : parts) {
            if (part.name < statement.first || part.name >= statement.stop) continue;
            const std::string element = element_of(part, statement);
            if (!element.empty()) elements.insert(element);
        }
        if (elements.empty()) return;
        std::string stores;
        for (const std::string& element : elements) stores += element + " = " + element + "; ";
        const bool leaves = token_[statement.first] == "return";
        put_around(statement, token_, stores, leaves ? std::string() : " " + stores, insertions_);
    }

    /// Gives "a[i]"; nothing where `i` may not be read once more.
    [[nodiscard]] std::string element_of(const Store& part, const Statement& statement) const {
        const std::size_t end = token_.after_bracket(part.name + 1);
        std::string text(token_[part.name]);
        for (std::size_t at = part.name + 1; at < end; ++at) {
            const bool calls =
                token_[at] == "(" && token_.is_word(at - 1) && !is_one_of(token_[at - 1], "int", "uint");
            if (calls || token_.is_changed(at)) return {};
            if (token_.is_word(at) && is_changed_in(statement, token_[at])) return {};
            text += (token_.is_word(at) && token_.is_word(at - 1) ? " " : "") + std::string(token_[at]);
        }
        return text;
    }

    [[nodiscard]] bool is_changed_in(const Statement& statement, std::string_view name) const {
        for (std::size_t at = statement.first; at < statement.stop; ++at) {
            if (token_[at] == name && (token_.is_changed(at + 1) || is_stepped_before(at))) return true;
        }
        return false;
    }

    const Tokens& tokens_;
    TokenView token_;
    Names types_;                               ///< that stand for arrays
    Names functions_;                           ///< of this text
    Names writers_{"sincos", "modf", "frexp"};  ///< functions with parameters that they write
    Insertions insertions_;
};

}  // namespace

Insertions keep_part_gradients(const Tokens& tokens) { return StoredPartFinder(tokens).run(); }

constinit const Workaround stored_parts{
    .name = "stored parts",
    .fault = "mixes up stores to an array's element and to a part of another",
    .report = "",
    .record = "decisions/0038-parts-of-arrays.md",
    .since = {},
    .change_text = [](ModuleText& text) { text.insert(keep_part_gradients(text.tokens)); },
};

}  // namespace kf::gen
