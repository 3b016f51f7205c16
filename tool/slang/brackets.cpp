// Walks over tokens from bracket to bracket.
#include "slang/brackets.h"

#include <algorithm>
#include <cstdint>

namespace kf::gen {

bool TokenView::is_changed(std::size_t at) const {
    const std::string_view here = (*this)[at];
    const std::string_view next = (*this)[at + 1];
    if (is_one_of(here, "+", "-") && next == here) return true;
    const bool combined = is_one_of(here, "+", "-", "*", "/", "%", "&", "|", "^") && next == "=";
    return combined || (here == "=" && next != "=");
}

std::size_t TokenView::semicolon(std::size_t at, std::size_t end) const {
    while (at < end && (*this)[at] != ";" && !closes(at)) at = opens(at) ? after_bracket(at) : at + 1;
    return (*this)[at] == ";" ? std::min(at, end) : end;
}

std::size_t TokenView::start_of_statement(std::size_t at) const {
    while (at > 0 && !is_one_of((*this)[at - 1], "{", "}", ";")) {
        at = closes(at - 1) ? opening_bracket(at - 1) : at - 1;
    }
    return at;
}

std::size_t TokenView::parenthesis_around(std::size_t at) const {
    while (at > 0 && !is_one_of((*this)[at], "(", "{", "}", ";")) {
        const std::size_t open = is_one_of((*this)[at], ")", "]") ? opening_bracket(at) : at;
        at = open > 0 ? open - 1 : 0;
    }
    return (*this)[at] == "(" ? at : 0;
}

std::size_t TokenView::body_behind(std::size_t at) const {
    while (at < size() && !is_one_of((*this)[at], "{", ";")) {
        at = (*this)[at] == "(" ? after_bracket(at) : at + 1;
    }
    return (*this)[at] == "{" ? at : size();
}

std::size_t TokenView::place_in(std::size_t open, std::size_t end) const {
    std::size_t count = 0;
    for (std::size_t at = open + 1; (at = comma(at, end)) < end; ++at) ++count;
    return count;
}

namespace {
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
}  // namespace

bool is_in_capitals(std::string_view word) {
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || is_decimal(c); };
    return word.size() > 1 && !is_decimal(word.front()) && std::all_of(word.begin(), word.end(), fits);
}

bool is_wide(std::string_view word) {
    const auto ends_with_count = [&] { return word.size() > 1 && word.back() >= '1' && word.back() <= '4'; };
    if (!ends_with_count()) return false;
    word.remove_suffix(1);
    if (word.back() == 'x') {
        word.remove_suffix(1);
        if (!ends_with_count()) return false;
        word.remove_suffix(1);
    }
    return is_one_of(word, "half", "float", "double");
}

bool has_no_derivative(std::string_view type) {
    for (const std::string_view name : {"bool", "int", "uint", "int8_t", "int16_t", "int32_t", "int64_t",
                                        "uint8_t", "uint16_t", "uint32_t", "uint64_t"}) {
        if (type == name || (type.starts_with(name) && type.size() == name.size() + 1)) return true;
    }
    const auto holds = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
    const bool is_interface = type.size() > 2 && type[0] == 'I' && type[1] >= 'A' && type[1] <= 'Z' &&
                              !(type[2] >= 'A' && type[2] <= 'Z');
    return is_interface || holds("Tensor") || holds("Buffer") || holds("Texture") || holds("Sampler") ||
           holds("Ptr") || holds("Query") || holds("HitObject") || holds("Atomic") ||
           holds("AccelerationStructure") || type == "void";
}

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

}  // namespace kf::gen
