// Finds what declares specialization constants by its tokens.
#include "slang/specialization_constants.h"

#include <algorithm>

#include "core/join.h"
#include "slang/lexed_text.h"
#include "slang/spirv.h"
#include "slang/tokens.h"

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

/// A declaration's lexemes, by number.
struct Marked {
    std::size_t first = 0;  ///< of its markers
    std::size_t begin = 0;  ///< behind them
    std::size_t name = 0;
    bool is_one_of_many = false;  ///< "int a = 1, b = 2"
};

std::vector<Marked> marked_in(const LexedText& text) {
    std::vector<Marked> found;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t first = at;
        for (std::size_t next = behind_marker(text, at); next != at && next < text.size();
             next = behind_marker(text, at))
            at = next;
        if (at == first) continue;
        std::size_t end = at;
        while (end < text.size() && text[end] != "=" && text[end] != ";") ++end;
        bool is_one_of_many = false;
        for (std::size_t next = end; next < text.size() && text[next] != ";"; ++next) {
            is_one_of_many = is_one_of_many || text[next] == ",";
            if (is_one_of(text[next], "(", "{", "[")) next = text.closing(next);
        }
        found.push_back({first, at, end - 1, is_one_of_many});
    }
    return found;
}

bool may_declare(std::string_view text) {
    return text.find("SpecializationConstant") != std::string_view::npos ||
           text.find("constant_id") != std::string_view::npos;
}

SpecializationPlace place_of(const LexedText& text, const Marked& marked) {
    return {std::string(text[marked.name]), text.place({}, marked.name).line};
}

}  // namespace

std::vector<SpecializationPlace> specialization_constants(std::string_view original) {
    std::vector<SpecializationPlace> places;
    if (!may_declare(original)) return places;
    const LexedText text(original);
    for (const Marked& marked : marked_in(text)) places.push_back(place_of(text, marked));
    return places;
}

/// A module's own numbers are other ones; kernels have those from 0 on.
constexpr std::uint32_t first_kept_number = 50000;

std::string with_link_constants(std::string_view original, std::string_view file,
                                const std::vector<KeptConstant>& kept) {
    std::string changed(original);
    if (!may_declare(original)) return changed;
    const LexedText text(original);
    std::vector<Marked> all = marked_in(text);
    std::reverse(all.begin(), all.end());  // what is behind a change may move
    for (const Marked& marked : all) {
        const SpecializationPlace place = place_of(text, marked);
        const auto own = std::find_if(kept.begin(), kept.end(), [&](const KeptConstant& one) {
            return one.file == file && one.line == place.line && one.last_name() == place.name;
        });
        // One number would be that of all: their kernels are refused.
        if (own != kept.end() && marked.is_one_of_many) continue;
        const std::string words =
            own == kept.end() ? std::string(instead)
                              : "[vk::constant_id(" + std::to_string(first_kept_number + own->id) + ")]";
        const std::size_t begin = text.offset(marked.first);
        const std::size_t length = text.offset(marked.begin) - begin;
        // One with a line's end among them stays, and its kernels are refused: see compile_kernel().
        if (original.substr(begin, std::max(words.size(), length)).find('\n') != std::string_view::npos)
            continue;
        changed.replace(begin, length,
                        words + std::string(std::max(length, words.size() + 1) - words.size(), ' '));
    }
    return changed;
}

Diagnostics note_constants(const KernelSource& source, CompiledKernel& kernel) {
    Diagnostics errors;
    for (const SpecializedValue& one : specialized_values(kernel.code)) {
        if (std::any_of(source.kept.begin(), source.kept.end(),
                        [&](const KeptConstant& kept) { return first_kept_number + kept.id == one.id; })) {
            kernel.constants.push_back(one.id - first_kept_number);
            continue;
        }
        errors.push_back({Severity::error,
                          "specialization-constant",
                          source.origin,
                          "'" + source.entry_point + "' depends on the specialization constant '" + one.name +
                              "', whose attribute kfgen can't read: it would have its default value for ever",
                          {"write [SpecializationConstant] out, on the line of its declaration, which "
                           "declares nothing else, and "
                           "not by a macro"}});
    }
    if (errors.empty()) renumber_constants(kernel.code, first_kept_number);
    return errors;
}

void note_kept(Diagnostic& error, const KernelSource& source) {
    if (source.kept.empty()) return;
    error.notes.push_back("\"constants\" leaves " +
                          join(source.kept, [](const KeptConstant& one) { return "'" + one.name + "'"; }) +
                          " to run time; where Slang needs a value, as in [ForceUnroll], state one");
}

}  // namespace kf::gen
