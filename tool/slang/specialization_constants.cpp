// Finds what declares specialization constants by its tokens.
#include "slang/specialization_constants.h"

#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

constexpr std::string_view instead = "extern static";

/// Behind `[[vk::constant_id(0)]]`, or another of these, that opens at `at`; `at` where none does.
std::size_t behind_marker(const LexedText& text, std::size_t at) {
    std::size_t first = at + 1;
    if (text[at] == "[") {
        if (text[first] == "[") ++first;
        if (text[first] == "vk" && text[first + 1] == ":" && text[first + 2] == ":") first += 3;
        const bool is_marker = text[first] == "SpecializationConstant" || text[first] == "constant_id";
        return is_marker ? text.closing(at) + 1 : at;
    }
    return text[at] == "layout" && text[at + 1] == "(" && text[at + 2] == "constant_id"
               ? text.closing(at + 1) + 1
               : at;
}

}  // namespace

std::string with_link_constants(std::string_view original) {
    std::string changed(original);
    if (original.find("SpecializationConstant") == std::string_view::npos &&
        original.find("constant_id") == std::string_view::npos)
        return changed;
    const LexedText text(original);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t first = at;
        for (std::size_t next = behind_marker(text, at); next != at && next < text.size();
             next = behind_marker(text, at))
            at = next;
        if (at == first) continue;
        const std::size_t begin = text.offset(first);
        // Each marker is longer than these words. One with a line's end among them stays, and is refused
        // later.
        if (original.substr(begin, instead.size()).find('\n') != std::string_view::npos) continue;
        blank_text(changed, begin, text.offset(at));
        changed.replace(begin, instead.size(), instead);
    }
    return changed;
}

}  // namespace kf::gen
