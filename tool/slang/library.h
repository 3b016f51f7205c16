// Where the Slang library that this process uses lies.
#pragma once

#include <filesystem>

namespace kf::gen {

/// Absolute; empty when it can't be told. An input of every run.
std::filesystem::path slang_library_path();

}  // namespace kf::gen
