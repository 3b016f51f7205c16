// Looks for GLSL's first line.
#include "slang/glsl_text.h"

#include "slang/lexed_text.h"

namespace kf::gen {

std::optional<Diagnostic> check_glsl(std::string_view source, const std::filesystem::path& file) {
    if (source.find("version") == std::string_view::npos) return std::nullopt;
    const LexedText text(source);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text.kind(at) != Lexeme::Kind::directive) continue;
        const LexedText words(text[at].substr(1));
        if (words[0] != "version") continue;
        return Diagnostic{Severity::error,
                          "slang-glsl",
                          text.place(file.string(), at),
                          "'#version' makes this GLSL, which kfgen doesn't read",
                          {"take the line out where the rest is Slang or HLSL; 'layout(binding = …)' before "
                           "a global may stay"}};
    }
    return std::nullopt;
}

}  // namespace kf::gen
