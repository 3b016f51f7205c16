// Divides, multiplies and subtracts instead of OpSRem.
#include "slang/signed_remainders.h"

#include <algorithm>
#include <cstdint>

#include "slang/spirv_rewriter.h"

namespace kf::gen {

using namespace spirv;

bool expand_signed_remainders(std::string& code) {
    const auto is_remainder = [](Instruction one) { return opcode_of(one) == op_s_rem && one.size() == 5; };
    SpirvRewriter rewriter(code);
    if (std::none_of(rewriter.instructions().begin(), rewriter.instructions().end(), is_remainder))
        return rewriter.is_whole();
    for (const Words& words : rewriter.instructions()) {
        if (!is_remainder(words)) {
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
