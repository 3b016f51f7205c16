// Walks the words of a SPIR-V module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/spirv.h"

namespace kf::gen {

using enum spirv::Op;
using enum spirv::StorageClass;
using enum spirv::Decoration;

inline std::uint32_t word_at(std::string_view code, std::size_t index) {
    std::uint32_t word = 0;
    std::memcpy(&word, code.data() + index * sizeof(word), sizeof(word));
    return word;
}

/// One instruction: its length and opcode, and its operands.
using Words = std::vector<std::uint32_t>;

inline constexpr std::size_t bound_word = 3;  ///< of the header: ids are smaller

inline Words words_at(std::string_view code, std::size_t index, std::size_t count) {
    Words words(count);
    std::memcpy(words.data(), code.data() + index * sizeof(std::uint32_t), count * sizeof(std::uint32_t));
    return words;
}

inline std::uint32_t opcode_of(const Words& instruction) { return instruction.front() & 0xFFFFU; }

/// Returns whether it makes a pointer into what another one leads to.
inline bool leads_into(std::uint32_t opcode) {
    return opcode == op_access_chain || opcode == op_in_bounds_access_chain;
}

inline bool is_atomic(std::uint32_t opcode) {
    constexpr std::uint32_t flag_test = 318;
    constexpr std::uint32_t flag_clear = 319;
    return (opcode >= op_atomic_first && opcode <= op_atomic_last) || opcode == op_atomic_f_min ||
           opcode == op_atomic_f_max || opcode == op_atomic_f_add || opcode == flag_test ||
           opcode == flag_clear;
}

/// Whether it samples, gathers from or asks about a texture with its sampler.
inline bool takes_sampled_image(std::uint32_t opcode) {
    return (opcode >= op_sample_implicit && opcode <= op_sample_last) || opcode == op_gather ||
           opcode == op_gather_dref || opcode == op_query_lod;
}

inline Words instruction_of(std::uint32_t opcode, const Words& operands) {
    constexpr std::uint32_t count_shift = 16;
    Words words{static_cast<std::uint32_t>(operands.size() + 1) << count_shift | opcode};
    words.insert(words.end(), operands.begin(), operands.end());
    return words;
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

/// The text among an instruction's words that starts at one of them.
inline std::string_view text_of(const Words& instruction, std::size_t first_word) {
    const std::string_view bytes(reinterpret_cast<const char*>(instruction.data() + first_word),
                                 (instruction.size() - first_word) * sizeof(std::uint32_t));
    return bytes.substr(0, bytes.find('\0'));
}

}  // namespace kf::gen
