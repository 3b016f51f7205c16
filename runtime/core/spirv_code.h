// Reads and writes the instructions of SPIR-V modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/spirv.h"

namespace kf::spirv {

/// The words of a module, of an instruction or of its operands.
using Words = std::vector<std::uint32_t>;

/// One instruction: its length and opcode, and its operands. The words are the module's.
using Instruction = std::span<const std::uint32_t>;

/// Returns a module's words, or none where the bytes, which may lie anywhere, are no whole words.
[[nodiscard]] inline Words module_of(std::span<const std::byte> bytes) {
    Words words(bytes.size() % sizeof(std::uint32_t) == 0 ? bytes.size() / sizeof(std::uint32_t) : 0);
    if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}
[[nodiscard]] inline Words module_of(std::string_view bytes) {
    return module_of(std::as_bytes(std::span(bytes)));
}

[[nodiscard]] inline std::string bytes_of(const Words& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)};
}

/// Calls visit(instruction) for each instruction of a module, whose words it may change if they aren't const.
/// Returns whether the words are SPIR-V and whole instructions; else it stops at the first that isn't.
template <class Module, class Visit>
bool each_instruction(Module&& module, Visit visit) {
    const std::span words(module);
    if (words.size() < header_words || words[0] != magic) return false;
    for (std::size_t at = header_words; at < words.size();) {
        const std::size_t count = words[at] >> 16U;
        if (count == 0 || count > words.size() - at) return false;
        visit(words.subspan(at, count));
        at += count;
    }
    return true;
}

/// Returns all instructions of a module, or none where the words don't add up to whole ones.
[[nodiscard]] inline std::vector<Instruction> instructions_of(const Words& module) {
    std::vector<Instruction> found;
    if (!each_instruction(module, [&](Instruction one) { found.push_back(one); })) found.clear();
    return found;
}

[[nodiscard]] inline std::uint32_t opcode_of(Instruction one) { return one[0] & 0xFFFFU; }

/// Returns the word at an index; 0 behind the instruction's end.
[[nodiscard]] inline std::uint32_t word_of(Instruction one, std::size_t index) {
    return index < one.size() ? one[index] : 0;
}

/// Returns the text that starts at a word.
[[nodiscard]] inline std::string_view text_of(Instruction one, std::size_t first) {
    const Instruction rest = one.subspan(first);
    const std::string_view bytes(reinterpret_cast<const char*>(rest.data()), rest.size_bytes());
    return bytes.substr(0, bytes.find('\0'));
}

/// Writes the words of a whole instruction.
inline void put(Words& to, Instruction one) { to.insert(to.end(), one.begin(), one.end()); }

/// Writes an instruction of these operands.
inline void put(Words& to, std::uint32_t opcode, Instruction operands) {
    to.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | opcode);
    put(to, operands);
}
inline void put(Words& to, std::uint32_t opcode, std::initializer_list<std::uint32_t> operands) {
    put(to, opcode, Instruction(operands.begin(), operands.size()));
}

[[nodiscard]] inline Words instruction_of(std::uint32_t opcode, Instruction operands) {
    Words words;
    put(words, opcode, operands);
    return words;
}

// ---- Kinds of instructions ----

[[nodiscard]] inline bool declares_type(std::uint32_t opcode) {
    return opcode >= op_type_first && opcode <= op_type_last;
}

/// Returns whether it makes a pointer into what another one leads to.
[[nodiscard]] inline bool leads_into(std::uint32_t opcode) {
    return opcode == op_access_chain || opcode == op_in_bounds_access_chain;
}

[[nodiscard]] inline bool is_atomic(std::uint32_t opcode) {
    return (opcode >= op_atomic_first && opcode <= op_atomic_last) || opcode == op_atomic_f_min ||
           opcode == op_atomic_f_max || opcode == op_atomic_f_add || opcode == op_atomic_flag_test ||
           opcode == op_atomic_flag_clear;
}

/// Returns whether it samples, gathers from or asks about a texture with its sampler.
[[nodiscard]] inline bool takes_sampled_image(std::uint32_t opcode) {
    return (opcode >= op_sample_implicit && opcode <= op_sample_last) || opcode == op_gather ||
           opcode == op_gather_dref || opcode == op_query_lod;
}

}  // namespace kf::spirv
