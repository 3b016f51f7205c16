// Sources in GLSL, which kernels can't import.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// "slang-glsl" for a `#version`, by which Slang reads a file as GLSL.
std::optional<Diagnostic> check_glsl(std::string_view text, const std::filesystem::path& file);

}  // namespace kf::gen
