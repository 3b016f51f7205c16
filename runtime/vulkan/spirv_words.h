// The words of SPIR-V modules, read and written by the instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/spirv.h"
#include "vulkan/spirv_adapt.h"

namespace kf::vulkan {

// Numbers of the SPIR-V specification, section 3, that are of interest to drivers alone.
enum Op : std::uint32_t {
    op_entry_point = 15,
    op_execution_mode = 16,
    op_type_bool = 20,
    op_type_int = 21,
    op_type_float = 22,
    op_type_vector = 23,
    op_type_image = 25,
    op_type_sampled_image = 27,
    op_type_pointer = 32,
    op_type_function = 33,
    op_constant = 43,
    op_constant_null = 46,
    op_spec_constant_true = 48,
    op_function = 54,
    op_function_parameter = 55,
    op_function_end = 56,
    op_function_call = 57,
    op_variable = 59,
    op_load = 61,
    op_decorate = 71,
    op_member_decorate = 72,
    op_composite_construct = 80,
    op_composite_extract = 81,
    op_sampled_image = 86,
    op_sample_dref_implicit = 89,
    op_sample_dref_explicit = 90,
    op_gather = 96,
    op_gather_dref = 97,
    op_image = 100,
    op_query_size_lod = 103,
    op_convert_s_to_f = 111,
    op_convert_ptr_to_u = 117,
    op_convert_u_to_ptr = 120,
    op_bitcast = 124,
    op_f_add = 129,
    op_f_sub = 131,
    op_f_mul = 133,
    op_f_div = 136,
    op_f_mod = 141,
    op_logical_or = 166,
    op_logical_and = 167,
    op_select = 169,
    op_i_equal = 170,
    op_f_equal = 180,
    op_f_less = 184,
    op_f_greater = 186,
    op_f_greater_equal = 190,
    op_atomic_load = 227,
    op_atomic_compare_exchange = 230,
    op_phi = 245,
    op_loop_merge = 246,
    op_label = 248,
    op_branch = 249,
    op_branch_conditional = 250,
    op_return_value = 254,
    op_atomic_f_add = 6035,
};
inline constexpr std::uint32_t decoration_binding = 33;
inline constexpr std::size_t bound_at = 3;  ///< the word of a module that is above all its ids

using Instruction = std::span<const std::uint32_t>;

[[nodiscard]] inline std::uint32_t opcode(Instruction instruction) { return instruction[0] & 0xFFFFU; }

/// Empty where the words don't add up to whole instructions.
[[nodiscard]] inline std::vector<Instruction> instructions_of(const Words& module) {
    std::vector<Instruction> found;
    if (module.size() < spirv::header_words || module[0] != spirv::magic) {
        return found;
    }
    for (std::size_t at = spirv::header_words; at < module.size();) {
        const std::size_t count = module[at] >> 16U;
        if (count == 0 || count > module.size() - at) {
            return {};
        }
        found.emplace_back(module.data() + at, count);
        at += count;
    }
    return found;
}

inline void put(Words& words, std::uint32_t op, std::initializer_list<std::uint32_t> operands) {
    words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | op);
    words.insert(words.end(), operands);
}

}  // namespace kf::vulkan
