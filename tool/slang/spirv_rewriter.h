// Writes a SPIR-V module anew, instruction by instruction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/spirv_code.h"

namespace kf::gen {

/// A module's instructions, and those that are written in their place. Not thread-safe.
class SpirvRewriter {
public:
    using Words = spirv::Words;

    explicit SpirvRewriter(const std::string& code);

    /// Returns whether the code was whole instructions; else there are none.
    [[nodiscard]] bool is_whole() const { return is_whole_; }
    [[nodiscard]] const std::vector<Words>& instructions() const { return instructions_; }

    [[nodiscard]] std::uint32_t next_id() { return bound_++; }
    void put(std::uint32_t opcode, const Words& operands) {
        written_.push_back(spirv::instruction_of(opcode, operands));
    }
    void put(Words instruction) { written_.push_back(std::move(instruction)); }
    /// Makes a constant of `value`, the words of a number; it goes before all functions.
    std::uint32_t put_constant(std::uint32_t type, const Words& value);
    /// Puts a type or a constant there, too.
    void put_global(Words instruction) { constants_.push_back(std::move(instruction)); }

    /// Writes the module by write(instruction), which is called for each. Where has_switch(instruction) says
    /// so, that instruction is written as a switch, and its block becomes several.
    template <class HasSwitch, class Write>
    void write_all(HasSwitch has_switch, Write write) {
        for (std::size_t at = 0; at < instructions_.size();) {
            if (spirv::opcode_of(instructions_[at]) == spirv::op_label) {
                at = write_block(at, has_switch, write);
            } else {
                write(instructions_[at++]);
            }
        }
        settle_phis();
    }

    /// The type and the id of what an instruction makes.
    using Made = std::pair<std::uint32_t, std::uint32_t>;
    /// Writes a switch over `cases` cases, of which the last is that of all other indices. write_case(i)
    /// writes one, and returns what it makes there if the switch is to make `made`.
    /// `index_words`: of the index's type.
    template <class WriteCase>
    void put_switch(std::uint32_t index, std::size_t index_words, std::size_t cases, std::optional<Made> made,
                    WriteCase write_case) {
        const std::vector<std::uint32_t> labels = begin_switch(index, index_words, cases);
        Words results;
        for (std::size_t i = 0; i < cases; ++i) {
            put(spirv::op_label, {labels[i]});
            const std::uint32_t result = write_case(i);
            if (made) results.insert(results.end(), {result, labels[i]});
            put(spirv::op_branch, {labels.back()});
        }
        block_ = labels.back();
        put(spirv::op_label, {block_});
        if (!made) return;
        results.insert(results.begin(), {made->first, made->second});
        put(spirv::op_phi, results);
    }

    [[nodiscard]] std::string code() const;

private:
    /// Writes a block; returns where the next one begins.
    template <class HasSwitch, class Write>
    std::size_t write_block(std::size_t at, HasSwitch has_switch, Write write) {
        const auto first = instructions_.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last = std::find_if(first + 1, instructions_.end(), [](const Words& words) {
            const std::uint32_t opcode = spirv::opcode_of(words);
            return opcode == spirv::op_label || opcode == spirv::op_function_end;
        });
        const std::uint32_t label = (*first)[1];
        const auto merge = std::find_if(
            first, last, [](const Words& words) { return spirv::opcode_of(words) == spirv::op_loop_merge; });
        // A loop goes back to the block that says where it ends, which has no switch then.
        const bool splits = merge != last && std::any_of(first, last, has_switch);
        block_ = label;
        for (auto it = first; it != last; ++it) {
            if (splits && it == merge) continue;
            write(*it);
            const std::uint32_t opcode = spirv::opcode_of(*it);
            const bool is_start = opcode == spirv::op_label || opcode == spirv::op_phi;
            if (!splits || !is_start || it + 1 == last || spirv::opcode_of(*(it + 1)) == spirv::op_phi)
                continue;
            put(*merge);
            block_ = next_id();
            put(spirv::op_branch, {block_});
            put(spirv::op_label, {block_});
        }
        if (block_ != label) ends_[label] = block_;
        return static_cast<std::size_t>(last - instructions_.begin());
    }

    /// Returns the labels of its cases, and that behind them.
    std::vector<std::uint32_t> begin_switch(std::uint32_t index, std::size_t index_words, std::size_t cases);
    /// Values come from the last of the blocks that one became.
    void settle_phis();

    Words header_;
    bool is_whole_ = false;
    std::uint32_t bound_ = 0;
    std::vector<Words> instructions_;
    std::vector<Words> written_;
    std::vector<Words> constants_;
    std::uint32_t block_ = 0;                      // that is being written
    std::map<std::uint32_t, std::uint32_t> ends_;  // the last of the blocks that one became
};

}  // namespace kf::gen
