// The Slang modules that kfgen carries with it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kf::gen {

/// (name, text): what generated kernels and users' own modules may import beside files.
std::vector<std::pair<std::string, std::string>> support_modules();

}  // namespace kf::gen
