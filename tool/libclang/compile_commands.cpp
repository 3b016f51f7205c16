// Reads compile databases.
#include "libclang/compile_commands.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>

namespace kf::gen {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Splits a command as a shell does.
std::vector<std::string> words_of(const std::string& command) {
    std::vector<std::string> words;
    std::string word;
    bool begun = false;
    char quote = 0;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
            word += command[++i];
            begun = true;
        } else if (quote != 0) {
            if (c == quote)
                quote = 0;
            else
                word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            begun = true;
        } else if (c == ' ' || c == '\t' || c == '\n') {
            if (begun) words.push_back(std::move(word));
            word.clear();
            begun = false;
        } else {
            word += c;
            begun = true;
        }
    }
    if (begun) words.push_back(std::move(word));
    return words;
}

bool is_cpp(const fs::path& file) {
    constexpr std::array<std::string_view, 6> endings{".cpp", ".cc", ".cxx", ".C", ".cppm", ".cu"};
    return std::ranges::find(endings, file.extension().string()) != endings.end();
}

std::size_t common_parts(const fs::path& one, const fs::path& other) {
    const auto [end, ignored] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    return static_cast<std::size_t>(std::distance(one.begin(), end));
}

const CompileCommand* chosen(const std::vector<CompileCommand>& commands, const fs::path& header,
                             const fs::path& beside) {
    const CompileCommand* best = nullptr;
    std::size_t most = 0;
    for (const CompileCommand& command : commands) {
        if (!is_cpp(command.file)) continue;
        const bool namesake = command.file.stem() == header.stem();
        const std::size_t near = common_parts(command.file.parent_path(), beside) + (namesake ? 1000 : 0) + 1;
        if (near > most) {
            most = near;
            best = &command;
        }
    }
    return best;
}

/// Whether the option changes layouts, or what headers see of the machine. GCC has many others, which clang
/// refuses.
bool concerns_types(const std::string& option) {
    static const std::regex known(
        "-(D|U|std=|stdlib=|march=|mcpu=|mabi=|mfloat-abi=|mfpu=).*|-m(32|64|x32)|"
        "-m(no-)?(sse|avx|fma|f16c|bmi|popcnt|altivec|vsx)[0-9a-z.]*|"
        "-f(no-)?(short-enums|short-wchar|pack-struct(=.*)?|signed-char|unsigned-char|ms-extensions|rtti|"
        "exceptions)");
    return std::regex_match(option, known);
}

/// Returns the options that matter to types, with folders as they are seen from where the compiler runs.
std::vector<std::string> kept(const CompileCommand& command) {
    constexpr std::array<std::string_view, 6> folders{"-isystem",   "-iquote",  "-include",
                                                      "-idirafter", "-imacros", "-I"};
    constexpr std::array<std::string_view, 2> target{"--target", "--sysroot"};
    std::vector<std::string> options;
    const std::vector<std::string>& words = command.words;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto begins = [&](std::string_view start) { return word.starts_with(start); };
        if (const auto folder = std::ranges::find_if(folders, begins); folder != folders.end()) {
            const bool apart = word == *folder;
            if (apart && i + 1 == words.size()) break;
            const fs::path path = apart ? words[++i] : word.substr(folder->size());
            options.emplace_back(*folder);
            options.push_back((command.folder / path).lexically_normal().string());
            continue;
        }
        const bool pair = word == "-D" || word == "-U" || word == "-target" || word == "--target";
        if (pair && i + 1 < words.size()) {
            options.push_back(word);
            options.push_back(words[++i]);
        } else if (concerns_types(word) || std::ranges::any_of(target, begins)) {
            options.push_back(word);
        }
    }
    return options;
}

Diagnostic failure(const Location& place, std::string message, std::string cure) {
    return {Severity::error, "compile-commands", place, std::move(message), {std::move(cure)}};
}

std::string text_of(const json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Outcome<std::vector<CompileCommand>> parse_compile_commands(const std::string& database,
                                                            const Location& place) {
    const json parsed = json::parse(database, nullptr, false);
    if (!parsed.is_array())
        return failure(place, "this is no compile database: expected a list of commands",
                       "CMake writes one with CMAKE_EXPORT_COMPILE_COMMANDS=ON");
    std::vector<CompileCommand> commands;
    for (const json& entry : parsed) {
        if (!entry.is_object()) continue;
        CompileCommand command{text_of(entry, "directory"), {}, {}};
        command.file = (command.folder / text_of(entry, "file")).lexically_normal();
        if (const auto words = entry.find("arguments"); words != entry.end() && words->is_array()) {
            for (const json& word : *words) {
                if (word.is_string()) command.words.push_back(word.get<std::string>());
            }
        } else {
            command.words = words_of(text_of(entry, "command"));
        }
        commands.push_back(std::move(command));
    }
    return commands;
}

Outcome<std::vector<std::string>> options_of(const std::vector<CompileCommand>& commands,
                                             const fs::path& header, const fs::path& beside,
                                             const Location& place) {
    const CompileCommand* best = chosen(commands, header, beside.lexically_normal());
    if (best == nullptr)
        return failure(place, "the compile database has no C++ source", "give the options by --cxx-option");
    return kept(*best);
}

}  // namespace kf::gen
