// Types as their names say them.
#include "plan/type_text.h"

#include <algorithm>
#include <cctype>

#include "core/join.h"
#include "plan/types.h"
#include "spec/operators.h"

namespace kf::gen {

namespace {

constexpr std::string_view array_name = "Array";
constexpr std::string_view member_name = ".";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

TypeText number(std::int64_t value) { return {std::to_string(value), {}}; }

/// "float3" as vector of float and 3: what Slang's own long names are.
std::optional<TypeText> builtin(std::string_view name) {
    const std::optional<manifest::Element> element = parse_element(name);
    if (!element) return std::nullopt;
    TypeText scalar{to_string(element->scalar), {}};
    const auto& extents = element->extents;
    if (extents.empty()) return scalar;
    if (extents.size() == 1) return TypeText{"vector", {scalar, number(extents[0])}};
    return TypeText{"matrix", {scalar, number(extents[0]), number(extents[1])}};
}

/// "M" of "int(M)", which is how Slang writes an extent that is declared as uint.
std::string without_cast(const std::string& expression) {
    constexpr std::string_view cast = "int(";
    if (!expression.starts_with(cast) || !expression.ends_with(')')) return expression;
    const std::string inner = expression.substr(cast.size(), expression.size() - cast.size() - 1);
    return std::all_of(inner.begin(), inner.end(), is_word) ? inner : expression;
}

class TypeParser {
public:
    explicit TypeParser(std::string_view text) : text_(text), symbol_(operator_symbol(text)) {}

    std::optional<TypeText> parse() {
        std::optional<TypeText> type = parse_type();
        skip_spaces();
        return at_ == text_.size() ? type : std::nullopt;
    }

private:
    std::optional<TypeText> parse_type() {
        std::optional<TypeText> type = parse_member();
        std::vector<TypeText> extents;
        while (type && accept('[')) {
            std::optional<TypeText> extent = parse_argument("]");
            if (!extent || !accept(']')) return std::nullopt;
            extents.push_back(std::move(*extent));
        }
        for (; type && !extents.empty(); extents.pop_back()) {
            type = TypeText{std::string(array_name), {std::move(*type), std::move(extents.back())}};
        }
        return type;
    }

    /// "a.b", "Box<float>.Inner".
    std::optional<TypeText> parse_member() {
        std::optional<TypeText> type = parse_plain();
        while (type && take_separator()) {
            std::optional<TypeText> inner = parse_plain();
            if (!inner) return std::nullopt;
            type = TypeText{std::string(member_name), {std::move(*type), std::move(*inner)}};
        }
        return type;
    }

    /// A dotted name and its arguments.
    std::optional<TypeText> parse_plain() {
        TypeText type;
        do {
            const std::string_view word = parse_word();
            if (word.empty()) return std::nullopt;
            type.name += (type.name.empty() ? "" : ".") + std::string(word);
        } while (take_separator());
        if (!accept('<')) {
            if (auto known = builtin(type.name)) return known;
            return type;
        }
        do {
            std::optional<TypeText> argument = parse_argument(",>");
            if (!argument) return std::nullopt;
            type.arguments.push_back(std::move(*argument));
        } while (accept(','));
        if (!accept('>')) return std::nullopt;
        return type;
    }

    /// A type, a number, or an expression up to one of `ends`, which is kept as it is.
    std::optional<TypeText> parse_argument(std::string_view ends) {
        skip_spaces();
        const std::size_t begin = at_;
        std::optional<TypeText> type = parse_type();
        skip_spaces();
        if (type && at_ < text_.size() && ends.find(text_[at_]) != std::string_view::npos) return type;
        at_ = begin;
        TypeText expression;
        for (int depth = 0; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (depth == 0 && ends.find(c) != std::string_view::npos) break;
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (!is_letter(c) && !is_digit(c) &&
                std::string_view("+-*/%() ").find(c) == std::string_view::npos) {
                return std::nullopt;
            }
            const bool joins = c == ' ' && at_ > begin && at_ + 1 < text_.size() && is_word(text_[at_ - 1]) &&
                               is_word(text_[at_ + 1]);
            if (joins) return std::nullopt;
            if (c != ' ') expression.name += c;
        }
        const bool has_operand = std::any_of(expression.name.begin(), expression.name.end(), is_word);
        if (!has_operand) return std::nullopt;
        return TypeText{without_cast(expression.name), {}};
    }

    std::string_view parse_word() {
        skip_spaces();
        const std::size_t begin = at_;
        while (at_ < text_.size() && (at_ > begin ? is_word(text_[at_]) : is_letter(text_[at_]))) ++at_;
        // A function may be an operator: its symbol is a part of its name.
        if (symbol_ && at_ == symbol_->begin) at_ += symbol_->size;
        return text_.substr(begin, at_ - begin);
    }

    bool take_separator() {
        skip_spaces();
        if (text_.substr(at_, 2) == "::") {
            at_ += 2;
            return true;
        }
        return accept('.');
    }

    bool accept(char c) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void skip_spaces() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }

    std::string_view text_;
    std::optional<OperatorSymbol> symbol_;
    std::size_t at_ = 0;
};

/// "float3", "float2x3": what has a short name.
std::optional<std::string> short_name(const TypeText& type) {
    if (type.name != "vector" && type.name != "matrix") return std::nullopt;
    if (type.arguments.size() != (type.name == "vector" ? 2 : 3)) return std::nullopt;
    std::string name = type.arguments[0].name;
    for (std::size_t i = 1; i < type.arguments.size(); ++i) {
        name += (i == 1 ? "" : "x") + type.arguments[i].name;
    }
    return builtin(name) == type ? std::optional(name) : std::nullopt;
}

bool is_array(const TypeText& type) { return type.name == array_name && type.arguments.size() == 2; }

/// A name or an expression, split where names end. What follows a "." is no name of its own.
struct Word {
    std::string text;
    bool is_name = false;
};

std::vector<Word> words_of(const std::string& text) {
    std::vector<Word> words;
    for (const char c : text) {
        const bool goes_on = is_word(c) && !words.empty() && is_word(words.back().text.back());
        if (!goes_on) {
            const bool member = !words.empty() && words.back().text == member_name;
            words.push_back({{}, is_letter(c) && !member});
        }
        words.back().text += c;
    }
    return words;
}

}  // namespace

std::optional<TypeText> parse_type(std::string_view text) { return TypeParser(text).parse(); }

bool is_value(const TypeText& type) {
    return type.arguments.empty() && !type.name.empty() &&
           (!is_letter(type.name.front()) || type.name == "true" || type.name == "false");
}

std::string slang_text(const TypeText& type) {
    if (const auto name = short_name(type)) return *name;
    if (type.name == member_name) return slang_text(type.arguments[0]) + "." + slang_text(type.arguments[1]);
    return type.arguments.empty() ? type.name : type.name + "<" + join(type.arguments, slang_text) + ">";
}

std::string spelled(const TypeText& type) {
    if (is_array(type)) {
        std::string extents;
        const TypeText* element = &type;
        for (; is_array(*element); element = element->arguments.data()) {
            extents += "[" + spelled(element->arguments[1]) + "]";
        }
        return spelled(*element) + extents;
    }
    if (const auto name = short_name(type)) return *name;
    if (type.name == member_name) return spelled(type.arguments[0]) + "." + spelled(type.arguments[1]);
    return type.arguments.empty() ? type.name : type.name + "<" + join(type.arguments, spelled) + ">";
}

TypeText substituted(const TypeText& pattern, const Bindings& bindings) {
    if (pattern.arguments.empty()) {
        const auto bound = bindings.find(pattern.name);
        if (bound != bindings.end()) return bound->second;
        TypeText filled;
        for (const Word& word : words_of(pattern.name)) {
            const auto value = word.is_name ? bindings.find(word.text) : bindings.end();
            filled.name += value == bindings.end() ? word.text : slang_text(value->second);
        }
        return filled;
    }
    TypeText filled{pattern.name, {}};
    for (const TypeText& argument : pattern.arguments)
        filled.arguments.push_back(substituted(argument, bindings));
    return filled;
}

std::optional<std::string> mentioned(const TypeText& type, const std::vector<std::string>& names) {
    for (const Word& word : words_of(type.name)) {
        if (word.is_name && std::find(names.begin(), names.end(), word.text) != names.end()) return word.text;
    }
    for (const TypeText& argument : type.arguments) {
        if (auto name = mentioned(argument, names)) return name;
    }
    return std::nullopt;
}

bool unify(const TypeText& pattern, const TypeText& type, const std::vector<std::string>& names,
           Bindings& bindings) {
    if (!mentioned(pattern, names)) return pattern == type;
    if (pattern.arguments.empty()) {
        if (std::find(names.begin(), names.end(), pattern.name) == names.end()) return true;
        return bindings.emplace(pattern.name, type).first->second == type;
    }
    if (pattern.name == member_name) return true;
    if (pattern.name != type.name || pattern.arguments.size() != type.arguments.size()) return false;
    for (std::size_t i = 0; i < pattern.arguments.size(); ++i) {
        if (!unify(pattern.arguments[i], type.arguments[i], names, bindings)) return false;
    }
    return true;
}

std::optional<TypeText> peeled(const TypeText& type) {
    if (type.name == "vector" && type.arguments.size() == 2) return type.arguments[0];
    if (is_array(type)) return type.arguments[0];
    if (type.name == "matrix" && type.arguments.size() == 3) {
        return TypeText{"vector", {type.arguments[0], type.arguments[2]}};
    }
    return std::nullopt;
}

int depth(const TypeText& type) {
    const std::optional<TypeText> inner = peeled(type);
    return inner ? 1 + depth(*inner) : 0;
}

std::string owner_of(std::string_view function) {
    int nested = 0;
    const auto symbol = operator_symbol(function);
    for (std::size_t i = symbol ? symbol->begin : function.size(); i-- > 0;) {
        if (function[i] == '>') ++nested;
        if (function[i] == '<') --nested;
        if (function[i] == '.' && nested == 0) return std::string(function.substr(0, i));
    }
    return {};
}

}  // namespace kf::gen
