// A compile database, compile_commands.json: how a project compiles its sources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// How one source is compiled.
struct CompileCommand {
    std::filesystem::path folder;  ///< where the compiler runs
    std::filesystem::path file;
    std::vector<std::string> words;  ///< the compiler and its arguments
};

/// Reads a database's text. Error: "compile-commands" at `place`.
Outcome<std::vector<CompileCommand>> parse_compile_commands(const std::string& database,
                                                            const Location& place);

/// Returns what a database says that a header is compiled with: the options of the source of its name
/// ("ray.cpp" for "ray.h"), else of the first source in the folder nearest to `beside`. Of the options those
/// stay that matter to a header's types: include folders, macros, the language's version, the target, -f and
/// -m. Error: "compile-commands" at `place`.
Outcome<std::vector<std::string>> options_of(const std::vector<CompileCommand>& commands,
                                             const std::filesystem::path& header,
                                             const std::filesystem::path& beside, const Location& place);

}  // namespace kf::gen
