// The words of SPIR-V modules, read and written by the instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/spirv.h"
#include "vulkan/spirv_adapt.h"

namespace kf::vulkan {

using enum spirv::Op;
inline constexpr std::uint32_t capability_image_query = 50;
inline constexpr std::uint32_t decoration_binding = 33;
inline constexpr std::size_t bound_at = 3;  ///< the word of a module that is above all its ids

using Instruction = std::span<const std::uint32_t>;

[[nodiscard]] inline std::uint32_t opcode(Instruction instruction) { return instruction[0] & 0xFFFFU; }

/// Empty where the words don't add up to whole instructions.
[[nodiscard]] inline std::vector<Instruction> instructions_of(const Words& module) {
    std::vector<Instruction> found;
    if (module.size() < spirv::header_words || module[0] != spirv::magic) {
        return found;
    }
    for (std::size_t at = spirv::header_words; at < module.size();) {
        const std::size_t count = module[at] >> 16U;
        if (count == 0 || count > module.size() - at) {
            return {};
        }
        found.emplace_back(module.data() + at, count);
        at += count;
    }
    return found;
}

inline void put(Words& words, std::uint32_t op, std::initializer_list<std::uint32_t> operands) {
    words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | op);
    words.insert(words.end(), operands);
}

}  // namespace kf::vulkan
