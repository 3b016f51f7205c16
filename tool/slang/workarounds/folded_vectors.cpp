// Finds constants by their types.
#include "slang/workarounds/folded_vectors.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "core/spirv_code.h"

namespace kf::gen {

bool repair_null_vectors(std::string& code) {
    using namespace spirv;
    const Words module = module_of(code);
    std::set<std::uint32_t> composites;
    const auto is_folded = [&](Instruction one) {
        return opcode_of(one) == op_constant && one.size() > 3 && composites.contains(one[1]);
    };
    bool are_null = true;
    Words repaired;
    put(repaired, Instruction(module).first(std::min(module.size(), header_words)));
    const bool whole = each_instruction(module, [&](Instruction one) {
        const std::uint32_t opcode = opcode_of(one);
        if ((opcode == op_type_vector || opcode == op_type_matrix) && one.size() == 4) {
            composites.insert(one[1]);
        } else if (is_folded(one)) {
            const Instruction value = one.subspan(3);
            are_null = are_null && std::ranges::all_of(value, [](std::uint32_t word) { return word == 0; });
            return put(repaired, op_constant_null, {one[1], one[2]});
        }
        put(repaired, one);
    });
    if (whole && are_null) code = bytes_of(repaired);
    return are_null;
}

constinit const Workaround folded_vectors{
    .name = "folded vectors",
    .fault = "folds a product of a vector with 0 into OpConstant of a vector, which isn't SPIR-V",
    .report = "",
    .record = "slang_faults.md",
    .since = {2026, 7},
    .repair_code = repair_null_vectors,
};

}  // namespace kf::gen
