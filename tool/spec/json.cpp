// JSON with places: nlohmann's parser finds the tokens' meaning, a cursor beside it their places.
#include "spec/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace kf::gen {
namespace {

/// Returns the text with U+FFFD for what isn't UTF-8: the parser quotes a character's first byte alone.
std::string in_utf8(std::string_view text) {
    const nlohmann::json json = text;
    const std::string dumped = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return nlohmann::json::parse(dumped).get<std::string>();
}

/// Returns whether the character is a quotation mark that word processors put in place of ' and ".
bool is_typographic_quote(std::string_view character) {
    return character.size() == 3 && character.substr(0, 2) == "\xE2\x80" && character[2] >= '\x98' &&
           character[2] <= '\x9F';
}

constexpr std::size_t max_depth = 64;  // far above any spec; bounds the recursion over nodes

/// Walks the text one token at a time, in step with the parser's events.
class Cursor {
public:
    Cursor(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
        if (text_.substr(0, 3) == "\xEF\xBB\xBF") {
            offset_ = counted_ = 3;
        }
    }

    /// Moves over white space, commas, colons and comments to the next token's first character. A comment
    /// that is never closed is no white space.
    Location seek() {
        while (offset_ < text_.size()) {
            if (is_between_tokens(text_[offset_])) {
                step();
            } else if (const std::size_t end = comment_end(); end != offset_) {
                seek_to(end);
            } else {
                break;
            }
        }
        return here();
    }

    Location seek_to(std::size_t offset) {
        while (offset_ < std::min(offset, text_.size())) {
            step();
        }
        return here();
    }

    /// Moves over the token that begins here and returns it as written.
    std::string_view take() {
        const std::size_t begin = offset_;
        if (text_[offset_] == '"') {
            for (step(); text_[offset_] != '"'; step()) {
                if (text_[offset_] == '\\') {
                    step();
                }
            }
            step();
        } else if (is_bracket(text_[offset_])) {
            step();
        } else if (text_[offset_] == '-' || is_digit(text_[offset_])) {
            take_number();
        } else {
            for (const std::string_view literal : {"null", "true", "false"}) {
                if (text_.substr(offset_, literal.size()) == literal) {
                    offset_ += literal.size();
                    break;
                }
            }
        }
        return text_.substr(begin, offset_ - begin);
    }

    [[nodiscard]] std::size_t offset() const { return offset_; }

private:
    static bool is_between_tokens(char c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':';
    }
    static bool is_bracket(char c) { return c == '{' || c == '}' || c == '[' || c == ']'; }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    [[nodiscard]] char peek() const { return offset_ < text_.size() ? text_[offset_] : '\0'; }

    /// Finds where the comment ends that begins here; here, where none does.
    [[nodiscard]] std::size_t comment_end() const {
        const std::string_view opening = text_.substr(offset_, 2);
        if (opening == "//") return std::min(text_.find_first_of("\r\n", offset_), text_.size());
        const std::size_t close = opening == "/*" ? text_.find("*/", offset_ + 2) : std::string_view::npos;
        return close == std::string_view::npos ? offset_ : close + 2;
    }

    /// JSON's own grammar: "01" is the number 0 with a stray 1 after it.
    void take_number() {
        offset_ += peek() == '-' ? 1 : 0;
        if (peek() == '0') {
            ++offset_;
        } else {
            take_digits();
        }
        if (peek() == '.') {
            ++offset_;
            take_digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            ++offset_;
            offset_ += peek() == '+' || peek() == '-' ? 1 : 0;
            take_digits();
        }
    }

    void take_digits() {
        while (is_digit(peek())) {
            ++offset_;
        }
    }

    void step() {
        if (text_[offset_++] == '\n') {
            ++line_;
            counted_ = offset_;
            column_ = 1;
        }
    }

    /// Counts on from the place that was asked for last: a line may be as long as the file.
    [[nodiscard]] Location here() {
        for (; counted_ < offset_; ++counted_) {
            column_ += (static_cast<unsigned char>(text_[counted_]) & 0xC0U) != 0x80U ? 1 : 0;
        }
        return {file_, line_, column_};
    }

    std::string_view text_;
    std::string file_;
    std::size_t offset_ = 0;
    std::size_t counted_ = 0;  ///< up to here the line's characters are in column_
    std::int64_t line_ = 1;
    std::int64_t column_ = 1;
};

/// nlohmann's SAX events in, a tree of JsonNode out.
class TreeBuilder {
public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    TreeBuilder(std::string_view text, const std::string& file) : text_(text), cursor_(text, file) {}

    bool null() { return scalar(JsonType::null); }
    bool boolean(bool) { return scalar(JsonType::boolean); }
    bool number_integer(number_integer_t) { return scalar(JsonType::integer); }
    bool number_unsigned(number_unsigned_t) { return scalar(JsonType::integer); }
    bool number_float(number_float_t, const string_t& written) {
        // An integer too big for 64 bits arrives here as well; it is still written as an integer.
        const bool whole = written.find_first_of(".eE") == std::string::npos;
        return scalar(whole ? JsonType::integer : JsonType::number);
    }
    bool string(string_t& value) {
        JsonNode node{JsonType::string, std::move(value), {}, {}, cursor_.seek()};
        cursor_.take();
        add(std::move(node));
        return true;
    }
    bool binary(binary_t&) { return false; }  // not in JSON text

    bool start_object(std::size_t) { return open(JsonType::object); }
    bool start_array(std::size_t) { return open(JsonType::array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(string_t& value) {
        const Location location = cursor_.seek();
        cursor_.take();
        std::vector<JsonMember>& members = open_.back().members;
        const auto [first, is_new] = keys_.back().emplace(value, members.size());
        if (!is_new) {
            const Location& place = members[first->second].location;
            errors_.push_back({Severity::error,
                               "spec-duplicate-key",
                               location,
                               "the key '" + value + "' is given twice",
                               {"first given at line " + std::to_string(place.line) + ", column " +
                                std::to_string(place.column)}});
        }
        members.push_back({std::move(value), location, {}});
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
        // The cursor passes over punctuation; when that is what is wrong, the parser's own count of the
        // characters read says where it is.
        const std::string_view what = error.what();
        const bool punctuation = what.find("unexpected ','") != std::string_view::npos ||
                                 what.find("unexpected ':'") != std::string_view::npos;
        syntax_error(punctuation && position > 0 ? cursor_.seek_to(position - 1) : cursor_.seek(), what);
        return false;
    }

    Outcome<JsonNode> result() {
        if (!errors_.empty()) {
            return errors_;
        }
        return std::move(root_);
    }

private:
    bool scalar(JsonType type) {
        JsonNode node{type, {}, {}, {}, cursor_.seek()};
        node.text = cursor_.take();
        add(std::move(node));
        return true;
    }

    bool open(JsonType type) {
        JsonNode node{type, {}, {}, {}, cursor_.seek()};
        cursor_.take();
        if (open_.size() == max_depth) {
            errors_.push_back({Severity::error,
                               "spec-syntax",
                               node.location,
                               "values are nested more than " + std::to_string(max_depth) + " deep",
                               {}});
            return false;
        }
        open_.push_back(std::move(node));
        keys_.emplace_back();
        return true;
    }

    bool close() {
        cursor_.seek();
        cursor_.take();
        JsonNode node = std::move(open_.back());
        open_.pop_back();
        keys_.pop_back();
        add(std::move(node));
        return true;
    }

    void add(JsonNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
        } else if (open_.back().type == JsonType::array) {
            open_.back().items.push_back(std::move(node));
        } else {
            open_.back().members.back().value = std::move(node);
        }
    }

    void syntax_error(Location location, std::string_view what) {
        // "[json.exception…] parse error at line 1, column 2: syntax error while parsing value - …":
        // the place is ours already, so keep what comes after it.
        for (const std::string_view prefix : {": syntax error while parsing ", ": "}) {
            if (const std::size_t at = what.find(prefix); at != std::string_view::npos) {
                what.remove_prefix(at + prefix.size());
                break;
            }
        }
        Diagnostic error{
            Severity::error, "spec-syntax", std::move(location), "not valid JSON: in " + in_utf8(what), {}};
        const std::size_t here = cursor_.offset();
        if (here >= text_.size()) {
            error.message = "not valid JSON: the text ends too early";
            if (!open_.empty()) {
                const JsonNode& last = open_.back();
                error.notes.push_back(std::string(last.type == JsonType::array ? "the array" : "the object") +
                                      " that begins at line " + std::to_string(last.location.line) +
                                      ", column " + std::to_string(last.location.column) +
                                      " is never closed");
            }
        } else if (text_.substr(here, 2) == "/*") {
            error.message = "not valid JSON: the comment that begins here is never closed";
        } else if (text_[here] == '#') {
            error.notes.emplace_back("comments are written // … and /* … */");
        } else if (text_[here] == '\'' || is_typographic_quote(text_.substr(here, 3))) {
            error.notes.emplace_back("JSON strings are written with double quotes");
        } else if (text_[here] == ']' || text_[here] == '}') {
            const std::size_t before = text_.find_last_not_of(" \t\r\n", here == 0 ? 0 : here - 1);
            if (before != std::string_view::npos && text_[before] == ',') {
                error.notes.emplace_back("JSON allows no comma after the last element");
            }
        }
        errors_.push_back(std::move(error));
    }

    std::string_view text_;
    Cursor cursor_;
    JsonNode root_;
    std::vector<JsonNode> open_;
    std::vector<std::unordered_map<std::string, std::size_t>> keys_;  ///< of each open object, by place
    Diagnostics errors_;
};

}  // namespace

std::string_view json_type_phrase(JsonType type) {
    switch (type) {
        case JsonType::null: return "null";
        case JsonType::boolean: return "true or false";
        case JsonType::integer: return "an integer";
        case JsonType::number: return "a number";
        case JsonType::string: return "a string";
        case JsonType::array: return "an array";
        case JsonType::object: break;
    }
    return "an object";
}

const JsonNode* JsonNode::find(std::string_view key) const {
    for (const JsonMember& member : members) {
        if (member.key == key) {
            return &member.value;
        }
    }
    return nullptr;
}

Outcome<JsonNode> parse_json(std::string_view text, const std::string& file) {
    TreeBuilder builder(text, file);
    constexpr bool strict = true;
    constexpr bool ignore_comments = true;
    nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, strict, ignore_comments);
    return builder.result();
}

}  // namespace kf::gen
