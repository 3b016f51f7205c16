// Follows stores to the constants that they store.
#include "slang/spirv_constants.h"

#include <map>
#include <set>

#include "slang/spirv_words.h"

namespace kf::gen {

namespace {

/// What is known of the module's values up to some instruction.
class Constants {
public:
    void add(std::string_view code, std::uint32_t opcode, std::size_t index, std::size_t count) {
        const auto operand = [&](std::size_t i) { return i < count ? word_at(code, index + i) : 0; };
        const std::uint32_t type = operand(1);
        const std::uint32_t result = operand(2);
        switch (opcode) {
            case spirv::op_type_pointer:
                if (operand(2) == spirv::storage_physical) addresses_.insert(operand(1));
                break;
            case spirv::op_constant_true: numbers_[result] = 1; break;
            case spirv::op_constant_false:
            case spirv::op_constant_null: numbers_[result] = 0; break;
            case spirv::op_constant:
                numbers_[result] = operand(3);
                if (count > 4) numbers_[result] |= static_cast<std::uint64_t>(operand(4)) << 32U;
                break;
            case spirv::op_constant_composite:
            case spirv::op_composite_construct:
                for (std::size_t i = 3; i < count; ++i) parts_[result].push_back(operand(i));
                break;
            case spirv::op_composite_extract: extract(words_at(code, index, count)); break;
            case spirv::op_copy_object: copy(result, operand(3)); break;
            case spirv::op_select:  // a bool as a number
                if (const auto chosen = number(operand(3))) copy(result, operand(*chosen != 0 ? 4 : 5));
                break;
            default: break;
        }
        // Whatever makes such a pointer.
        if (count > 2 && addresses_.contains(type)) pointers_.insert(result);
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

    void extract(const Words& instruction) {
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
    const bool whole =
        each_instruction(code, [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
            if (opcode != spirv::op_store) return constants.add(code, opcode, index, count);
            if (constants.is_address(word_at(code, index + 1)))
                stored.push_back(constants.number(word_at(code, index + 2)));
        });
    if (!whole) stored.clear();
    return stored;
}

}  // namespace kf::gen
