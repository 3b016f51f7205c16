// Depfiles in Make's syntax, as Ninja, Make and CMake read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kf::gen {

/// "target …: input input …", inputs sorted, each once. A path with a line break can't be written in
/// this syntax and is left out.
std::string depfile_text(const std::vector<std::filesystem::path>& targets,
                         const std::vector<std::filesystem::path>& inputs);

}  // namespace kf::gen
