// The files of modules, found without Slang: for what it crashes on.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "slang/lexed_text.h"

namespace kf::gen {

/// A file of a module, and the files that it names, by canonical paths.
struct ModuleFile {
    std::string path;
    std::string text;
    std::vector<std::string> includes;  ///< by #include and __include: of the same module
    std::vector<std::string> imports;
};

/// The files of the modules and of all that they import or include; what can't be read is left out.
[[nodiscard]] std::vector<ModuleFile> module_files(const std::vector<std::filesystem::path>& modules,
                                                   const std::vector<std::filesystem::path>& search_paths);

/// Returns files as (canonical path, text).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> texts_of(const std::vector<ModuleFile>& files);

/// Returns the files of module_files() so.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> module_texts(
    const std::vector<std::filesystem::path>& modules,
    const std::vector<std::filesystem::path>& search_paths);

/// What an `import` names, in dots: "image.io_tools"; `index` is that of the lexeme behind it.
[[nodiscard]] std::string imported_name(const LexedText& text, std::size_t index);

}  // namespace kf::gen
