// Wrapping of lists and cleaning of comments.
#include "emit/text.h"

namespace kf::gen {
namespace {

/// Items packed in lines that start at column `at`; empty when one of them doesn't fit.
std::string pack(std::size_t at, std::size_t used, const std::vector<std::string>& items,
                 const std::string& tail, const std::string& separator) {
    std::string text;
    std::size_t column = used;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool last = i + 1 == items.size();
        const std::string piece = items[i] + (last ? tail : separator);
        if (i > 0 && column + 1 + piece.size() > columns) {
            text += "\n" + std::string(at, ' ');
            column = at;
        } else if (i > 0) {
            text += ' ';
            ++column;
        }
        text += piece;
        column += piece.size();
        if (column > columns) return {};
    }
    return text;
}

}  // namespace

std::string wrap_list(std::size_t indent, const std::string& head, const std::vector<std::string>& items,
                      const std::string& tail, const std::string& separator) {
    const std::string start = std::string(indent, ' ') + head;
    if (items.empty()) return start + tail;
    if (const std::string aligned = pack(start.size(), start.size(), items, tail, separator);
        !aligned.empty())
        return start + aligned;
    const std::size_t deeper = indent + 4;
    const std::string line = "\n" + std::string(deeper, ' ');
    if (const std::string below = pack(deeper, deeper, items, tail, separator); !below.empty())
        return start + line + below;
    std::string text = start;  // something is wider than a line: one item each
    for (std::size_t i = 0; i < items.size(); ++i)
        text += line + items[i] + (i + 1 == items.size() ? tail : separator);
    return text;
}

std::vector<std::string> docstring(std::size_t indent, const std::vector<std::string>& lines) {
    const std::string start(indent, ' ');
    std::vector<std::string> quoted;
    for (const std::string& line : lines) {
        std::string text;
        // Quotes need care only where three meet or the text ends; elsewhere they stay as written.
        const bool plain = line.find("\"\"\"") == std::string::npos && !line.ends_with('"') &&
                           line.find('\\') == std::string::npos;
        for (const char c : line)
            text += !plain && (c == '\\' || c == '"') ? std::string("\\") + c : std::string(1, c);
        if (quoted.empty()) text.insert(0, "\"\"\"");
        if (lines.size() == 1) text += "\"\"\"";
        quoted.push_back(text.empty() ? text : start + text);
    }
    if (lines.size() > 1) quoted.push_back(start + "\"\"\"");
    return quoted;
}

std::string as_identifier(std::string name) {
    std::erase(name, ']');
    for (std::size_t at = name.find_first_of(".["); at != std::string::npos;
         at = name.find_first_of(".[", at))
        name.replace(at, 1, "__");
    return name;
}

std::vector<std::string> doc_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string line(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const auto last = line.find_last_not_of(" \t\r\\");
        line.erase(last == std::string::npos ? 0 : last + 1);
        if (!line.empty() || !lines.empty()) lines.push_back(std::move(line));
    }
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
}

}  // namespace kf::gen
