// Divides, multiplies and subtracts instead of OpSRem.
#include "slang/signed_remainders.h"

#include <cstdint>

#include "slang/spirv_rewriter.h"

namespace kf::gen {

bool expand_signed_remainders(std::string& code) {
    const auto is_remainder = [](std::uint32_t opcode, std::size_t count) {
        return opcode == op_s_rem && count == 5;
    };
    bool has_remainders = false;
    const bool whole = each_instruction(code, [&](std::uint32_t opcode, std::size_t, std::size_t count) {
        has_remainders |= is_remainder(opcode, count);
    });
    if (!whole || !has_remainders) return whole;
    SpirvRewriter rewriter(code);
    for (const Words& words : rewriter.instructions()) {
        if (!is_remainder(opcode_of(words), words.size())) {
            rewriter.put(words);
            continue;
        }
        const std::uint32_t type = words[1];
        const std::uint32_t quotient = rewriter.next_id();
        const std::uint32_t product = rewriter.next_id();
        rewriter.put(op_s_div, {type, quotient, words[3], words[4]});
        rewriter.put(op_i_mul, {type, product, quotient, words[4]});
        rewriter.put(op_i_sub, {type, words[2], words[3], product});
    }
    code = rewriter.code();
    return true;
}

}  // namespace kf::gen
