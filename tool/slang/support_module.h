// A module that kfgen carries with it.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// What users' modules and kernels import by `name`.
struct SupportModule {
    std::string name;
    std::string text;
    /// The text as compile_modules.cpp compiled it, loaded in a twentieth of the time by the same release of
    /// Slang; empty where there is none. Not owned.
    std::string_view compiled = {};
};

/// What `compiled` begins with; Slang's own bytes follow.
[[nodiscard]] inline std::string compiled_head(std::string_view release) {
    return "kfgen module for Slang " + std::string(release) + "\n";
}

}  // namespace kf::gen
