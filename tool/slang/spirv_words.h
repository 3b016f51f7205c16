// Walks the words of a SPIR-V module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/spirv.h"

namespace kf::gen {

inline std::uint32_t word_at(std::string_view code, std::size_t index) {
    std::uint32_t word = 0;
    std::memcpy(&word, code.data() + index * sizeof(word), sizeof(word));
    return word;
}

/// Calls visit(opcode, index of the first word, count of words) for each instruction, until it has
/// seen them all; false when the words do not add up to whole instructions.
template <class Visit>
bool each_instruction(std::string_view code, Visit visit) {
    if (code.size() % sizeof(std::uint32_t) != 0 ||
        code.size() < spirv::header_words * sizeof(std::uint32_t) || word_at(code, 0) != spirv::magic) {
        return false;
    }
    const std::size_t words = code.size() / sizeof(std::uint32_t);
    for (std::size_t index = spirv::header_words; index < words;) {
        const std::uint32_t first = word_at(code, index);
        const std::size_t count = first >> 16U;
        if (count == 0 || count > words - index) {
            return false;
        }
        visit(first & 0xFFFFU, index, count);
        index += count;
    }
    return true;
}

/// The text that starts at a word and ends within `words` of them.
inline std::string_view literal_string(std::string_view code, std::size_t first_word, std::size_t words) {
    const std::string_view bytes =
        code.substr(first_word * sizeof(std::uint32_t), words * sizeof(std::uint32_t));
    return bytes.substr(0, bytes.find('\0'));
}

}  // namespace kf::gen
