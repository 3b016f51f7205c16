// Knows type packs by their declarations: `each T`, `expand each T t`.
#include "slang/pack_counts.h"

#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

/// Whether a name that is declared at `from` holds at `at`: its function, or type, hasn't ended.
bool is_in_scope(const LexedText& text, std::size_t from, std::size_t at) {
    int depth = 0;
    for (std::size_t between = from; between < at; ++between) {
        if (text[between] == "{") ++depth;
        if (text[between] == "}" && --depth <= 0) return false;
    }
    return true;
}

bool is_pack(const LexedText& text, std::size_t at) {
    for (std::size_t before = at; before-- > 0;) {
        if (text[before] != "each") continue;
        const bool is_value = before > 0 && text[before - 1] == "expand" && text[before + 2] == text[at];
        if ((is_value || text[before + 1] == text[at]) && is_in_scope(text, before, at)) return true;
    }
    return false;
}

}  // namespace

std::optional<Diagnostic> check_pack_counts(std::string_view source, const std::filesystem::path& file) {
    constexpr std::string_view counted = "countof";
    if (source.find(counted) == std::string_view::npos) return std::nullopt;
    const LexedText text(source);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != counted || text[at + 1] != "(") continue;
        if (text[at + 3] == ")" && is_pack(text, at + 2)) continue;
        return Diagnostic{Severity::error,
                          "slang-countof",
                          text.place(file.string(), at),
                          "'countof' is for type packs: of an array or a tuple, Slang takes the bytes of an "
                          "element for its count",
                          {"write 'a.getCount()' for an array 'a', or the number"}};
    }
    return std::nullopt;
}

}  // namespace kf::gen
