// @FILE on the command line: arguments that stand in a file.
#include "cli/response_file.h"

namespace kf::gen {
namespace {

constexpr int max_depth = 16;

Outcome<std::vector<std::string>> split(std::string_view text, const std::string& file) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = '\0';
    std::int64_t line = 1;
    std::int64_t quote_line = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        line += c == '\n' ? 1 : 0;
        const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            word += text[++i];
            in_word = true;
        } else if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            } else {
                word += c;
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
            quote_line = line;
            in_word = true;
        } else if (!space) {
            word += c;
            in_word = true;
        } else if (in_word) {
            words.push_back(std::move(word));
            word.clear();
            in_word = false;
        }
    }
    if (quote != '\0') {
        return Diagnostic{Severity::error,
                          "command-line",
                          {file, quote_line, 0},
                          "the quote that opens here is never closed",
                          {}};
    }
    if (in_word) {
        words.push_back(std::move(word));
    }
    return words;
}

std::optional<Diagnostics> append(const std::vector<std::string>& arguments, const FileSystem& file_system,
                                  int depth, std::vector<std::string>& result) {
    for (const std::string& argument : arguments) {
        if (argument.size() < 2 || argument[0] != '@') {
            result.push_back(argument);
            continue;
        }
        const std::string file = argument.substr(1);
        if (depth == max_depth) {
            return Diagnostics{{Severity::error,
                                "command-line",
                                {file, 0, 0},
                                "response files are nested more than " + std::to_string(max_depth) + " deep",
                                {}}};
        }
        const Outcome<std::string> text = file_system.read(file);
        if (!text) {
            return text.errors();
        }
        const Outcome<std::vector<std::string>> words = split(text.value(), file);
        if (!words) {
            return words.errors();
        }
        if (auto errors = append(words.value(), file_system, depth + 1, result)) {
            return errors;
        }
    }
    return std::nullopt;
}

}  // namespace

Outcome<std::vector<std::string>> expand_response_files(const std::vector<std::string>& arguments,
                                                        const FileSystem& file_system) {
    std::vector<std::string> result;
    if (auto errors = append(arguments, file_system, 0, result)) {
        return *errors;
    }
    return result;
}

}  // namespace kf::gen
