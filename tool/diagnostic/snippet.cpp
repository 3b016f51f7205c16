// The source line of a diagnostic, with the place marked.
#include "diagnostic/snippet.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace kf::gen {
namespace {

constexpr std::size_t widest = 120;  ///< characters of a line that are shown
constexpr std::size_t lead = 60;     ///< of them before the place, where the line is longer

std::optional<std::string_view> line_of(std::string_view source, std::int64_t number) {
    if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);
    for (std::int64_t line = 1; line < number; ++line) {
        const std::size_t end = source.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        source.remove_prefix(end + 1);
    }
    const std::string_view line = source.substr(0, source.find('\n'));
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Where characters begin, and the line's end.
std::vector<std::size_t> beginnings(std::string_view line) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < line.size(); ++i)
        if (!continues_character(line[i])) places.push_back(i);
    places.push_back(line.size());
    return places;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Finds the end of the word or string that begins there.
std::size_t end_of_token(std::string_view line, std::size_t begin) {
    if (line[begin] == '"') {
        for (std::size_t i = begin + 1; i < line.size(); ++i) {
            if (line[i] == '\\') {
                ++i;
            } else if (line[i] == '"') {
                return i + 1;
            }
        }
        return line.size();
    }
    std::size_t end = begin;
    while (end < line.size() && is_word(line[end])) ++end;
    return std::max(end, begin + 1);
}

/// The text without what would move a terminal's cursor; tabs stay.
std::string printable(std::string_view text) {
    std::string result(text);
    std::replace_if(
        result.begin(), result.end(),
        [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == '\x7F'; }, ' ');
    return result;
}

}  // namespace

std::string snippet(std::string_view source, const Location& location) {
    if (location.line < 1) return {};
    const std::optional<std::string_view> line = line_of(source, location.line);
    if (!line || line->find_first_not_of(" \t") == std::string_view::npos) return {};
    const std::vector<std::size_t> places = beginnings(*line);
    const std::size_t characters = places.size() - 1;
    const auto column = static_cast<std::size_t>(std::max<std::int64_t>(location.column, 1)) - 1;
    const bool in_bytes = !location.file.ends_with(".json");
    const std::size_t at =
        in_bytes ? static_cast<std::size_t>(std::lower_bound(places.begin(), places.end() - 1, column) -
                                            places.begin())
                 : std::min(column, characters);
    const std::size_t first = characters > widest && at > lead ? at - lead : 0;
    const std::size_t last = std::min(characters, first + widest);
    const std::string number = std::to_string(location.line);
    const std::string margin(std::max<std::size_t>(number.size() + 1, 5), ' ');
    std::string text = "\n" + std::string(margin.size() - number.size(), ' ') + number + " | ";
    text += first > 0 ? "…" : "";
    text += printable(line->substr(places[first], places[last] - places[first]));
    text += last < characters ? "…" : "";
    if (location.column < 1 || at > last) return text;
    text += "\n" + margin + " | " + (first > 0 ? " " : "");
    for (std::size_t i = first; i < at; ++i) text += (*line)[places[i]] == '\t' ? '\t' : ' ';
    text += '^';
    if (at == characters) return text;
    const std::size_t end = end_of_token(*line, places[at]);
    for (std::size_t i = at + 1; i < last && places[i] < end; ++i) text += '~';
    return text;
}

}  // namespace kf::gen
