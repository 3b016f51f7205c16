// A compile database, compile_commands.json: how a project compiles its sources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// Returns what a database's text says that a header is compiled with: the options of the source of its name
/// ("ray.cpp" for "ray.h"), else of the first source in the folder nearest to `beside`. Of the options those
/// stay that matter to a header's types: include folders, macros, the language's version, the target, -f and
/// -m. Error: "compile-commands" at `place`.
Outcome<std::vector<std::string>> options_of(const std::string& database, const std::filesystem::path& header,
                                             const std::filesystem::path& beside, const Location& place);

}  // namespace kf::gen
