// Asks compilers not to unroll the loops whose bodies are large on a CPU.
#include "vulkan/spirv_loops.h"

#include <cstddef>
#include <set>
#include <vector>

#include "core/spirv_code.h"

namespace kf::vulkan {
namespace {

using namespace spirv;

constexpr std::uint32_t dont_unroll = 1U << 1U;
constexpr std::uint32_t unroll_peel_or_partly = 1U | 1U << 7U | 1U << 8U;

bool is_atomic_or_of_subgroup(std::uint32_t op) {
    return is_atomic(op) || (op >= op_subgroup_first && op <= op_subgroup_last);
}

/// The functions that run such operations, themselves or by a call.
class Functions {
public:
    explicit Functions(const std::vector<Instruction>& instructions) {
        for (bool changes = true; changes;) {
            changes = false;
            std::uint32_t function = 0;
            for (const Instruction one : instructions) {
                if (opcode_of(one) == op_function && one.size() > 2) {
                    function = one[2];
                } else if (runs(one)) {
                    changes = found_.insert(function).second || changes;
                }
            }
        }
    }

    /// Whether an instruction is such an operation, or calls one of these functions.
    [[nodiscard]] bool runs(Instruction one) const {
        return is_atomic_or_of_subgroup(opcode_of(one)) ||
               (opcode_of(one) == op_function_call && one.size() > 3 && found_.contains(one[3]));
    }

private:
    std::set<std::uint32_t> found_;
};

struct Loop {
    std::uint32_t end;    ///< the label behind it
    std::size_t control;  ///< the place of its word in the module
};

}  // namespace

Words keeping_loops(const Words& module) {
    const std::vector<Instruction> instructions = instructions_of(module);
    const Functions functions(instructions);
    Words result = module;
    std::vector<Loop> around;  // of the instruction, from the outermost
    for (const Instruction one : instructions) {
        if (opcode_of(one) == op_function_end) {
            around.clear();
        } else if (opcode_of(one) == op_label && one.size() > 1) {
            std::erase_if(around, [&](const Loop& loop) { return loop.end == one[1]; });
        } else if (opcode_of(one) == op_loop_merge && one.size() > 3) {
            around.push_back({one[1], static_cast<std::size_t>(one.data() - module.data()) + 3});
        } else if (functions.runs(one)) {
            for (const Loop& loop : around) {
                std::uint32_t& control = result[loop.control];
                if ((control & unroll_peel_or_partly) == 0) {
                    control |= dont_unroll;
                }
            }
        }
    }
    return result;
}

}  // namespace kf::vulkan
