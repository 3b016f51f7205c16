// Divides, multiplies and subtracts instead of OpSRem.
#include "slang/signed_remainders.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "slang/spirv_words.h"

namespace kf::gen {

bool expand_signed_remainders(std::string& code) {
    bool has_remainders = false;
    const bool whole = each_instruction(code, [&](std::uint32_t opcode, std::size_t, std::size_t count) {
        has_remainders |= opcode == op_s_rem && count == 5;
    });
    if (!whole || !has_remainders) return whole;
    std::uint32_t bound = word_at(code, bound_word);
    std::string expanded = code.substr(0, spirv::header_words * sizeof(std::uint32_t));
    const auto add = [&](std::uint32_t opcode, const Words& operands) {
        const Words made = instruction_of(opcode, operands);
        expanded.append(reinterpret_cast<const char*>(made.data()), made.size() * sizeof(std::uint32_t));
    };
    (void)each_instruction(code, [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        if (opcode != op_s_rem || count != 5) {
            expanded.append(code, index * sizeof(std::uint32_t), count * sizeof(std::uint32_t));
            return;
        }
        const Words rem = words_at(code, index, count);  // its type, its id, and the two operands
        const std::uint32_t quotient = bound++;
        const std::uint32_t product = bound++;
        add(op_s_div, {rem[1], quotient, rem[3], rem[4]});
        add(op_i_mul, {rem[1], product, quotient, rem[4]});
        add(op_i_sub, {rem[1], rem[2], rem[3], product});
    });
    std::memcpy(expanded.data() + bound_word * sizeof bound, &bound, sizeof bound);
    code = std::move(expanded);
    return true;
}

}  // namespace kf::gen
