// Finds constants by their types.
#include "slang/workarounds/folded_vectors.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "slang/spirv_words.h"

namespace kf::gen {

bool repair_null_vectors(std::string& code) {
    std::set<std::uint32_t> composites;
    std::vector<std::pair<std::size_t, std::size_t>> found;  // where, and how many words
    bool are_null = true;
    (void)each_instruction(code, [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        if ((opcode == op_type_vector || opcode == op_type_matrix) && count == 4) {
            composites.insert(word_at(code, index + 1));
        } else if (opcode == op_constant && count > 3 && composites.contains(word_at(code, index + 1))) {
            found.emplace_back(index, count);
            for (std::size_t word = 3; word < count; ++word) {
                are_null = are_null && word_at(code, index + word) == 0;
            }
        }
    });
    if (!are_null) {
        return false;
    }
    constexpr std::uint32_t null_words = 3;
    constexpr std::uint32_t first = null_words << 16U | op_constant_null;
    for (auto one = found.rbegin(); one != found.rend(); ++one) {
        const auto [index, count] = *one;
        std::memcpy(code.data() + index * sizeof(first), &first, sizeof(first));
        code.erase((index + null_words) * sizeof(first), (count - null_words) * sizeof(first));
    }
    return true;
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
