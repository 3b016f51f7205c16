// Looks for what is stored to variables that hold pointers.
#include "slang/pointer_variables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/spirv_code.h"

namespace kf::gen {

namespace {

using namespace spirv;

/// What a module says of pointers and the variables that hold them.
class Pointers {
public:
    void add(Instruction one) {
        const auto operand = [&](std::size_t i) { return word_of(one, i); };
        switch (opcode_of(one)) {
            case op_function: in_function_ = true; break;
            case op_undef:
            case op_constant_null: empty_.insert(operand(2)); break;
            case op_variable:
                if (operand(3) == storage_buffer) buffers_.insert(operand(2));
                if (operand(3) == storage_function || operand(3) == storage_private)
                    variables_.insert(operand(2));
                if (operand(3) == storage_private) private_.insert(operand(2));
                if (one.size() > 4) note(operand(2), operand(4));
                break;
            case op_store:
                note(operand(1), operand(2));
                used_.insert(operand(2));
                break;
            case op_load: break;
            case op_copy_object:
                if (const auto copied = copies_.find(operand(3)); copied != copies_.end())
                    copies_[operand(2)] = copied->second;
                else if (buffers_.contains(operand(3)))
                    copies_[operand(2)] = operand(3);
                else
                    add_uses(one);
                break;
            default: add_uses(one); break;
        }
    }

    /// The only buffer that the variable ever holds; 0 where it is none or may be several.
    [[nodiscard]] std::uint32_t buffer_in(std::uint32_t variable) const {
        const auto found = is_followed(variable) ? stored_.find(variable) : stored_.end();
        return found == stored_.end() ? 0 : found->second;
    }
    /// Returns whether a buffer is ever stored to it, and nothing but loads and stores has it. Most variables
    /// hold other things: an unrolled loop has thousands, and what is in each behind each branch is a lot to
    /// keep.
    [[nodiscard]] bool is_followed(std::uint32_t variable) const {
        return holders_.contains(variable) && variables_.contains(variable) && !used_.contains(variable);
    }
    /// The same of a variable that only one function has.
    [[nodiscard]] bool is_local(std::uint32_t variable) const {
        return is_followed(variable) && !private_.contains(variable);
    }
    [[nodiscard]] bool has_any() const {
        return std::any_of(holders_.begin(), holders_.end(),
                           [&](std::uint32_t variable) { return is_followed(variable); });
    }
    /// What a store leaves in a variable: nothing, a buffer, or 0 for anything else.
    [[nodiscard]] std::set<std::uint32_t> content(std::uint32_t value) const {
        if (empty_.contains(value)) return {};
        const auto copied = copies_.find(value);
        if (copied != copies_.end()) return {copied->second};
        return {buffers_.contains(value) ? value : 0};
    }

private:
    /// Notes the ids that an instruction may write through, or pass on.
    void add_uses(Instruction one) {
        if (!in_function_) return;  // names, decorations and interfaces
        const std::uint32_t opcode = opcode_of(one);
        std::size_t end = one.size();
        switch (opcode) {
            case op_line:
            case op_no_line:
            case op_vector_shuffle:
            case op_composite_extract: return;  // they have literals, and no pointers
            case op_composite_insert: end = std::min<std::size_t>(end, 5); break;
            default:
                if (opcode >= op_loop_merge && opcode <= op_switch) return;
        }
        for (std::size_t i = opcode == op_ext_inst ? 5 : 1; i < end; ++i) used_.insert(one[i]);
    }

    void note(std::uint32_t variable, std::uint32_t value) {
        const std::set<std::uint32_t> stored = content(value);
        if (stored.empty()) return;
        const std::uint32_t buffer = *stored.begin();
        if (buffer != 0) holders_.insert(variable);
        const auto [known, is_first] = stored_.try_emplace(variable, buffer);
        if (!is_first && known->second != buffer) known->second = 0;
    }

    std::set<std::uint32_t> empty_;                  // null or undefined
    std::set<std::uint32_t> buffers_;                // variables of the module
    std::map<std::uint32_t, std::uint32_t> copies_;  // of those, by the copy
    std::set<std::uint32_t> variables_;              // of functions, or private to threads
    std::set<std::uint32_t> private_;
    std::set<std::uint32_t> used_;  // by other than loads and stores to them
    bool in_function_ = false;
    std::map<std::uint32_t, std::uint32_t> stored_;  // by variable; 0: anything else
    std::set<std::uint32_t> holders_;                // variables that a buffer is stored to
};

/// Which stores reach the loads of one function's variables.
class Reaching {
public:
    explicit Reaching(const Pointers& pointers) : pointers_(&pointers) {}

    void add(Instruction words) {
        const std::uint32_t opcode = opcode_of(words);
        if (opcode == op_label && words.size() > 1) {
            labels_.push_back(words[1]);
            blocks_[words[1]] = {};
        } else if (labels_.empty()) {
            return;
        } else if (opcode == op_store && words.size() > 2 && pointers_->is_local(words[1])) {
            blocks_[labels_.back()].steps.push_back({words[1], pointers_->content(words[2]), 0});
        } else if (opcode == op_load && words.size() > 3 && pointers_->is_local(words[3])) {
            blocks_[labels_.back()].steps.push_back({words[3], {}, words[2]});
        } else if (opcode > op_loop_merge && opcode <= op_switch) {
            // A literal that is a label's number, too, leads to one block more than there is.
            blocks_[labels_.back()].targets.assign(words.begin() + 1, words.end());
        }
    }

    /// The loads that give one buffer, whichever way leads to them.
    [[nodiscard]] std::map<std::uint32_t, std::uint32_t> settled() {
        std::map<std::uint32_t, State> before;
        bool changes = true;
        while (changes) {
            changes = false;
            for (const std::uint32_t label : labels_) {
                const State after = run(label, before[label], nullptr);
                for (const std::uint32_t target : blocks_[label].targets) {
                    if (!blocks_.contains(target)) continue;
                    for (const auto& [variable, held] : after) {
                        std::set<std::uint32_t>& known = before[target][variable];
                        const std::size_t size = known.size();
                        known.insert(held.begin(), held.end());
                        changes |= known.size() != size;
                    }
                }
            }
        }
        std::map<std::uint32_t, std::uint32_t> loads;
        for (const std::uint32_t label : labels_) run(label, before[label], &loads);
        return loads;
    }

private:
    using State = std::map<std::uint32_t, std::set<std::uint32_t>>;
    struct Step {
        std::uint32_t variable;
        std::set<std::uint32_t> stored;
        std::uint32_t load;  ///< its result; 0 for a store
    };
    struct Block {
        std::vector<Step> steps;
        Words targets;
    };

    State run(std::uint32_t label, State state, std::map<std::uint32_t, std::uint32_t>* loads) {
        for (const Step& step : blocks_[label].steps) {
            std::set<std::uint32_t>& held = state[step.variable];
            if (step.load == 0) {
                held = step.stored;
            } else if (loads != nullptr && held.size() == 1 && *held.begin() != 0) {
                (*loads)[step.load] = *held.begin();
            }
        }
        return state;
    }

    const Pointers* pointers_;
    Words labels_;  // in the order of the code
    std::map<std::uint32_t, Block> blocks_;
};

/// Settles the loads that can be now; returns whether there were any.
bool settle_once(Words& module) {
    Pointers pointers;
    (void)each_instruction(module, [&](Instruction one) { pointers.add(one); });
    if (!pointers.has_any()) return false;
    std::map<std::uint32_t, std::uint32_t> loads;
    Reaching reaching(pointers);
    (void)each_instruction(module, [&](Instruction one) {
        const std::uint32_t opcode = opcode_of(one);
        if (opcode == op_function) reaching = Reaching(pointers);
        reaching.add(one);
        if (opcode == op_load && one.size() >= 4 && pointers.buffer_in(one[3]) != 0)
            loads[one[2]] = pointers.buffer_in(one[3]);
        if (opcode == op_function_end) loads.merge(reaching.settled());
    });
    bool changes = false;
    Words settled(module.begin(), module.begin() + header_words);
    (void)each_instruction(module, [&](Instruction one) {
        const auto load = opcode_of(one) == op_load && one.size() > 3 ? loads.find(one[2]) : loads.end();
        if (load == loads.end()) return put(settled, one);
        changes = true;
        put(settled, op_copy_object, {one[1], one[2], load->second});
    });
    module = std::move(settled);
    return changes;
}

}  // namespace

bool settle_pointer_variables(std::string& code) {
    Words module = module_of(code);
    if (!each_instruction(module, [](Instruction) {})) return false;
    // What one load gives may be stored to the next variable.
    while (settle_once(module)) {
    }
    code = bytes_of(module);
    return true;
}

}  // namespace kf::gen
