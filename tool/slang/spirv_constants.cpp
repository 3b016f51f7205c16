// Follows stores to the constants that they store.
#include "slang/spirv_constants.h"

#include <map>
#include <set>

#include "core/spirv_code.h"

namespace kf::gen {

namespace {

using namespace spirv;

/// What is known of the module's values up to some instruction.
class Constants {
public:
    void add(Instruction one) {
        const auto operand = [&](std::size_t i) { return word_of(one, i); };
        const std::uint32_t type = operand(1);
        const std::uint32_t result = operand(2);
        switch (opcode_of(one)) {
            case op_type_pointer:
                if (operand(2) == storage_physical) addresses_.insert(operand(1));
                break;
            case op_constant_true: numbers_[result] = 1; break;
            case op_constant_false:
            case op_constant_null: numbers_[result] = 0; break;
            case op_constant:
                numbers_[result] = operand(3);
                if (one.size() > 4) numbers_[result] |= static_cast<std::uint64_t>(operand(4)) << 32U;
                break;
            case op_constant_composite:
            case op_composite_construct:
                for (std::size_t i = 3; i < one.size(); ++i) parts_[result].push_back(operand(i));
                break;
            case op_composite_extract: extract(one); break;
            case op_copy_object: copy(result, operand(3)); break;
            case op_select:  // a bool as a number
                if (const auto chosen = number(operand(3))) copy(result, operand(*chosen != 0 ? 4 : 5));
                break;
            default: break;
        }
        // Whatever makes such a pointer.
        if (one.size() > 2 && addresses_.contains(type)) pointers_.insert(result);
    }

    [[nodiscard]] bool is_address(std::uint32_t pointer) const { return pointers_.contains(pointer); }
    [[nodiscard]] std::optional<std::uint64_t> number(std::uint32_t value) const {
        const auto known = numbers_.find(value);
        return known == numbers_.end() ? std::nullopt : std::optional(known->second);
    }

private:
    void copy(std::uint32_t result, std::uint32_t value) {
        if (const auto known = numbers_.find(value); known != numbers_.end())
            numbers_[result] = known->second;
        if (const auto known = parts_.find(value); known != parts_.end()) parts_[result] = known->second;
    }

    void extract(Instruction instruction) {
        std::uint32_t value = instruction[3];
        for (std::size_t i = 4; i < instruction.size(); ++i) {
            const auto composite = parts_.find(value);
            if (composite == parts_.end()) {
                // All parts of a null composite are null.
                if (number(value) == 0) numbers_[instruction[2]] = 0;
                return;
            }
            if (instruction[i] >= composite->second.size()) return;
            value = composite->second[instruction[i]];
        }
        copy(instruction[2], value);
    }

    std::set<std::uint32_t> addresses_;  ///< types of pointers
    std::set<std::uint32_t> pointers_;
    std::map<std::uint32_t, std::uint64_t> numbers_;
    std::map<std::uint32_t, Words> parts_;
};

}  // namespace

std::vector<std::optional<std::uint64_t>> stored_constants(std::string_view code) {
    Constants constants;
    std::vector<std::optional<std::uint64_t>> stored;
    const bool whole = each_instruction(module_of(code), [&](Instruction one) {
        if (opcode_of(one) != op_store) return constants.add(one);
        if (constants.is_address(word_of(one, 1))) stored.push_back(constants.number(word_of(one, 2)));
    });
    if (!whole) stored.clear();
    return stored;
}

}  // namespace kf::gen
