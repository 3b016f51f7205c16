// Writes copies between structs that lie differently in memory member by member.
#include "slang/logical_copies.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/spirv_code.h"

namespace kf::gen {

namespace {

using namespace spirv;

constexpr std::uint32_t most_members = 0xFFFF - 3;  // an instruction's words are counted in 16 bits

/// What the module's types are made of, and the types of its values.
class Composites {
public:
    void add(Instruction one) {
        const auto operand = [&](std::size_t i) { return word_of(one, i); };
        switch (opcode_of(one)) {
            case op_type_struct:
                members_[operand(1)] = {};
                for (std::size_t i = 2; i < one.size(); ++i) members_[operand(1)].push_back(operand(i));
                break;
            case op_type_array:
                // A length that specialisation sets isn't known, nor one that no instruction can list.
                if (const auto length = lengths_.find(operand(3));
                    length != lengths_.end() && length->second <= most_members)
                    members_[operand(1)] = Words(length->second, operand(2));
                break;
            case op_constant:
                if (one.size() == 4) lengths_[operand(2)] = operand(3);
                break;
            case op_undef:
            case op_constant_null:
            case op_constant_composite:
            case op_function_parameter:
            case op_function_call:
            case op_load:
            case op_composite_construct:
            case op_composite_extract:
            case op_composite_insert:
            case op_copy_object:
            case op_select:
            case op_phi:
            case op_copy_logical: types_[operand(2)] = operand(1); break;
            default: break;
        }
    }

    /// Whether a value can be written as one of type `to`, member by member.
    [[nodiscard]] bool can_copy(std::uint32_t to, std::uint32_t value) const {
        const auto from = types_.find(value);
        return from != types_.end() && can_convert(to, from->second);
    }
    [[nodiscard]] std::uint32_t type_of(std::uint32_t value) const { return types_.at(value); }
    [[nodiscard]] const Words& members(std::uint32_t type) const { return members_.at(type); }

private:
    [[nodiscard]] bool can_convert(std::uint32_t to, std::uint32_t from) const {
        const auto targets = members_.find(to);
        const auto sources = members_.find(from);
        if (targets == members_.end() || sources == members_.end() ||
            targets->second.size() != sources->second.size())
            return false;
        std::pair<std::uint32_t, std::uint32_t> last;  // an array's members are alike
        for (std::size_t i = 0; i < targets->second.size(); ++i) {
            const std::pair member(targets->second[i], sources->second[i]);
            if (member.first == member.second || member == last) continue;
            if (!can_convert(member.first, member.second)) return false;
            last = member;
        }
        return true;
    }

    std::map<std::uint32_t, Words> members_;  // by struct or array
    std::map<std::uint32_t, std::uint32_t> lengths_;
    std::map<std::uint32_t, std::uint32_t> types_;  // by value
};

/// The instructions instead of one copy.
class Expansion {
public:
    Expansion(const Composites& composites, Words& module) : composites_(composites), module_(module) {}

    /// Makes `result`, of type `to`, of a value of type `from`.
    void copy(std::uint32_t to, std::uint32_t result, std::uint32_t from, std::uint32_t value) {
        const Words& targets = composites_.members(to);
        const Words& sources = composites_.members(from);
        Words made{to, result};
        for (std::uint32_t i = 0; i < targets.size(); ++i) {
            std::uint32_t member = next_id();
            put(module_, op_composite_extract, {sources[i], member, value, i});
            if (sources[i] != targets[i]) {
                const std::uint32_t copied = next_id();
                copy(targets[i], copied, sources[i], member);
                member = copied;
            }
            made.push_back(member);
        }
        put(module_, op_composite_construct, made);
    }

private:
    std::uint32_t next_id() { return module_[bound_at]++; }

    const Composites& composites_;
    Words& module_;  // that is written
};

}  // namespace

bool expand_logical_copies(std::string& code) {
    const Words module = module_of(code);
    Composites composites;
    bool has_copies = false;
    const bool whole = each_instruction(module, [&](Instruction one) {
        composites.add(one);
        has_copies |= opcode_of(one) == op_copy_logical;
    });
    if (!whole || !has_copies) return whole;
    Words expanded(module.begin(), module.begin() + header_words);
    Expansion expansion(composites, expanded);
    (void)each_instruction(module, [&](Instruction one) {
        if (opcode_of(one) == op_copy_logical && one.size() > 3 && composites.can_copy(one[1], one[3])) {
            expansion.copy(one[1], one[2], composites.type_of(one[3]), one[3]);
        } else {
            put(expanded, one);
        }
    });
    code = bytes_of(expanded);
    return true;
}

}  // namespace kf::gen
