// Reads a module's instructions, and puts those together that were written.
#include "slang/spirv_rewriter.h"

namespace kf::gen {

using namespace spirv;

SpirvRewriter::SpirvRewriter(const std::string& code) {
    const Words module = module_of(code);
    is_whole_ = each_instruction(
        module, [&](Instruction one) { instructions_.emplace_back(one.begin(), one.end()); });
    if (is_whole_) {
        header_.assign(module.begin(), module.begin() + header_words);
        bound_ = header_[bound_at];
    } else {
        instructions_.clear();
    }
}

std::uint32_t SpirvRewriter::put_constant(std::uint32_t type, const Words& value) {
    const std::uint32_t made = next_id();
    Words constant{type, made};
    constant.insert(constant.end(), value.begin(), value.end());
    constants_.push_back(instruction_of(op_constant, constant));
    return made;
}

std::vector<std::uint32_t> SpirvRewriter::begin_switch(std::uint32_t index, std::size_t index_words,
                                                       std::size_t cases) {
    const std::uint32_t merge = next_id();
    std::vector<std::uint32_t> labels;
    for (std::size_t i = 0; i < cases; ++i) labels.push_back(next_id());
    Words targets{index, labels.back()};
    for (std::size_t i = 0; i + 1 < cases; ++i) {
        targets.push_back(static_cast<std::uint32_t>(i));
        targets.resize(targets.size() + index_words - 1, 0);
        targets.push_back(labels[i]);
    }
    put(op_selection_merge, {merge, 0});
    put(op_switch, targets);
    labels.push_back(merge);
    return labels;
}

void SpirvRewriter::settle_phis() {
    for (Words& words : written_) {
        if (opcode_of(words) != op_phi) continue;
        for (std::size_t i = 4; i < words.size(); i += 2) {
            if (const auto end = ends_.find(words[i]); end != ends_.end()) words[i] = end->second;
        }
    }
}

std::string SpirvRewriter::code() const {
    Words module = header_;
    if (is_whole_) module[bound_at] = bound_;
    bool in_functions = false;
    for (const Words& words : written_) {
        if (!in_functions && opcode_of(words) == op_function) {
            in_functions = true;
            for (const Words& constant : constants_) spirv::put(module, constant);
        }
        spirv::put(module, words);
    }
    return bytes_of(module);
}

}  // namespace kf::gen
