// Looks for what is stored to variables that hold pointers.
#include "slang/pointer_variables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>

#include "slang/spirv_words.h"

namespace kf::gen {

namespace {

constexpr std::uint32_t storage_private = 6;
constexpr std::uint32_t storage_function = 7;
constexpr std::uint32_t storage_buffer = 12;
constexpr std::uint32_t word_count_shift = 16;
constexpr std::uint32_t branch_first = 246;  // OpLoopMerge
constexpr std::uint32_t branch_last = 251;   // OpSwitch

/// What a module says of pointers and the variables that hold them.
class Pointers {
public:
    void add(std::string_view code, std::uint32_t opcode, std::size_t index, std::size_t count) {
        const auto operand = [&](std::size_t i) { return i < count ? word_at(code, index + i) : 0; };
        switch (opcode) {
            case op_function: in_function_ = true; break;
            case op_undef:
            case op_constant_null: empty_.insert(operand(2)); break;
            case op_variable:
                if (operand(3) == storage_buffer) buffers_.insert(operand(2));
                if (operand(3) == storage_function || operand(3) == storage_private)
                    variables_.insert(operand(2));
                if (count > 4) note(operand(2), operand(4));
                break;
            case op_store:
                note(operand(1), operand(2));
                used_.insert(operand(2));
                break;
            case op_load: break;
            default: add_uses(opcode, operand, count); break;
        }
    }

    /// The only buffer that the variable holds; 0 where it is none or may be several.
    [[nodiscard]] std::uint32_t buffer_in(std::uint32_t variable) const {
        if (!variables_.contains(variable) || used_.contains(variable)) return 0;
        const auto found = stored_.find(variable);
        return found == stored_.end() ? 0 : found->second;
    }

    [[nodiscard]] bool settles_any() const {
        return std::any_of(variables_.begin(), variables_.end(),
                           [&](std::uint32_t variable) { return buffer_in(variable) != 0; });
    }

private:
    /// Notes the ids that an instruction may write through, or pass on.
    template <class Operand>
    void add_uses(std::uint32_t opcode, const Operand& operand, std::size_t count) {
        if (!in_function_) return;  // names, decorations and interfaces
        std::size_t end = count;
        switch (opcode) {
            case op_line:
            case op_no_line:
            case op_vector_shuffle:
            case op_composite_extract: return;  // they have literals, and no pointers
            case op_composite_insert: end = std::min<std::size_t>(count, 5); break;
            default:
                if (opcode >= branch_first && opcode <= branch_last) return;
        }
        for (std::size_t i = opcode == op_ext_inst ? 5 : 1; i < end; ++i) used_.insert(operand(i));
    }

    void note(std::uint32_t variable, std::uint32_t value) {
        if (empty_.contains(value)) return;
        const std::uint32_t buffer = buffers_.contains(value) ? value : 0;
        const auto [known, is_first] = stored_.try_emplace(variable, buffer);
        if (!is_first && known->second != buffer) known->second = 0;
    }

    std::set<std::uint32_t> empty_;      // null or undefined
    std::set<std::uint32_t> buffers_;    // variables of the module
    std::set<std::uint32_t> variables_;  // of functions, or private to threads
    std::set<std::uint32_t> used_;       // by other than loads and stores to them
    bool in_function_ = false;
    std::map<std::uint32_t, std::uint32_t> stored_;  // by variable; 0: anything else
};

}  // namespace

bool settle_pointer_variables(std::string& code) {
    Pointers pointers;
    const auto note = [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        pointers.add(code, opcode, index, count);
    };
    if (!each_instruction(code, note)) return false;
    if (!pointers.settles_any()) return true;
    std::string settled = code.substr(0, spirv::header_words * sizeof(std::uint32_t));
    (void)each_instruction(code, [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        const std::uint32_t buffer =
            opcode == op_load && count >= 4 ? pointers.buffer_in(word_at(code, index + 3)) : 0;
        if (buffer == 0) {
            settled.append(code, index * sizeof(std::uint32_t), count * sizeof(std::uint32_t));
            return;
        }
        const std::array<std::uint32_t, 4> words{4U << word_count_shift | op_copy_object,
                                                 word_at(code, index + 1), word_at(code, index + 2), buffer};
        settled.append(reinterpret_cast<const char*>(words.data()), sizeof words);
    });
    code = std::move(settled);
    return true;
}

}  // namespace kf::gen
