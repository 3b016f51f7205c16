// Looks for what is stored to variables that hold pointers.
#include "slang/pointer_variables.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "slang/spirv_words.h"

namespace kf::gen {

namespace {

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
                if (operand(3) == storage_private) private_.insert(operand(2));
                if (count > 4) note(operand(2), operand(4));
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
                    add_uses(opcode, operand, count);
                break;
            default: add_uses(opcode, operand, count); break;
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

    void add(std::uint32_t opcode, const Words& words) {
        if (opcode == op_label && words.size() > 1) {
            labels_.push_back(words[1]);
            blocks_[words[1]] = {};
        } else if (labels_.empty()) {
            return;
        } else if (opcode == op_store && words.size() > 2 && pointers_->is_local(words[1])) {
            blocks_[labels_.back()].steps.push_back({words[1], pointers_->content(words[2]), 0});
        } else if (opcode == op_load && words.size() > 3 && pointers_->is_local(words[3])) {
            blocks_[labels_.back()].steps.push_back({words[3], {}, words[2]});
        } else if (opcode > branch_first && opcode <= branch_last) {
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

/// Settles the loads that can be now; `changes`: whether there were any.
bool settle_once(std::string& code, bool& changes) {
    changes = false;
    Pointers pointers;
    const auto note = [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        pointers.add(code, opcode, index, count);
    };
    if (!each_instruction(code, note)) return false;
    if (!pointers.has_any()) return true;
    std::map<std::uint32_t, std::uint32_t> loads;
    Reaching reaching(pointers);
    (void)each_instruction(code, [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        const Words words = words_at(code, index, count);
        if (opcode == op_function) reaching = Reaching(pointers);
        reaching.add(opcode, words);
        if (opcode == op_load && count >= 4 && pointers.buffer_in(words[3]) != 0)
            loads[words[2]] = pointers.buffer_in(words[3]);
        if (opcode == op_function_end) loads.merge(reaching.settled());
    });
    std::string settled = code.substr(0, spirv::header_words * sizeof(std::uint32_t));
    (void)each_instruction(code, [&](std::uint32_t opcode, std::size_t index, std::size_t count) {
        Words words = words_at(code, index, count);
        if (const auto load = opcode == op_load && count > 3 ? loads.find(words[2]) : loads.end();
            load != loads.end()) {
            changes = true;
            words = instruction_of(op_copy_object, {words[1], words[2], load->second});
        }
        settled.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t));
    });
    code = std::move(settled);
    return true;
}

}  // namespace

bool settle_pointer_variables(std::string& code) {
    // What one load gives may be stored to the next variable.
    for (bool changes = true; changes;) {
        if (!settle_once(code, changes)) return false;
    }
    return true;
}

}  // namespace kf::gen
