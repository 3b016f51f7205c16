// The types of a SPIR-V module that is rewritten.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>

#include "core/spirv_code.h"

namespace kf::vulkan {

/// Finds a module's types, which are declared once each, by their words, and declares those that it lacks.
class SpirvTypes {
public:
    void add(spirv::Instruction type) {
        Key key{type[0] & 0xFFFFU, {type.begin() + 2, type.end()}};
        known_.emplace(std::move(key), type[1]);
    }

    /// Returns the type's id, or 0 where it isn't there. `operands`: without its id.
    [[nodiscard]] std::uint32_t find(std::uint32_t opcode,
                                     std::initializer_list<std::uint32_t> operands) const {
        const auto found = known_.find({opcode, operands});
        return found == known_.end() ? 0 : found->second;
    }

    /// Returns the type's id; one that isn't there becomes `next_id`, which is counted on, in `declarations`.
    std::uint32_t find_or_put(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands,
                              std::uint32_t& next_id, spirv::Words& declarations) {
        std::uint32_t& id = known_[{opcode, operands}];
        if (id != 0) return id;
        id = next_id++;
        spirv::Words all{id};
        all.insert(all.end(), operands);
        spirv::put(declarations, opcode, all);
        return id;
    }

private:
    using Key = std::pair<std::uint32_t, spirv::Words>;
    std::map<Key, std::uint32_t> known_;
};

}  // namespace kf::vulkan
