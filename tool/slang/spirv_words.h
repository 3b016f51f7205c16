// Walks the words of a SPIR-V module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/spirv.h"

namespace kf::gen {

// Numbers from the SPIR-V specification, section 3.
/// The instructions that we look for.
enum Op : std::uint32_t {
    op_undef = 1,
    op_name = 5,
    op_member_name = 6,
    op_string = 7,
    op_line = 8,
    op_ext_inst = 12,
    op_entry_point = 15,
    op_type_bool = 20,
    op_type_float = 22,
    op_type_array = 28,
    op_type_pointer = 32,
    op_constant_true = 41,
    op_constant = 43,
    op_constant_null = 46,
    op_spec_constant = 50,
    op_spec_constant_composite = 51,
    op_spec_constant_op = 52,
    op_function = 54,
    op_function_parameter = 55,
    op_function_end = 56,
    op_function_call = 57,
    op_variable = 59,
    op_load = 61,
    op_store = 62,
    op_copy_memory = 63,
    op_copy_memory_sized = 64,
    op_access_chain = 65,
    op_in_bounds_access_chain = 66,
    op_ptr_access_chain = 67,
    op_array_length = 68,
    op_in_bounds_ptr_access_chain = 70,
    op_decorate = 71,
    op_vector_shuffle = 79,
    op_composite_construct = 80,
    op_composite_extract = 81,
    op_composite_insert = 82,
    op_copy_object = 83,
    op_convert_first = 109,
    op_convert_last = 122,
    op_bitcast = 124,
    op_arithmetic_first = 126,
    op_arithmetic_last = 191,
    op_select = 169,
    op_derivative_first = 207,
    op_derivative_last = 215,
    op_control_barrier = 224,
    op_memory_barrier = 225,
    op_atomic_first = 227,
    op_atomic_last = 242,
    op_phi = 245,
    op_label = 248,
    op_return_value = 254,
    op_no_line = 317,
    op_read_clock = 5056,
};

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

/// Whether it makes a pointer into what another one leads to.
inline bool leads_into(std::uint32_t opcode) {
    return opcode == op_access_chain || opcode == op_in_bounds_access_chain;
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

}  // namespace kf::gen
