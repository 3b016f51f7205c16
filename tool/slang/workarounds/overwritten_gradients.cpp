// Follows what calls have written to the blocks that read it, and looks at the loops that these are in.
#include "slang/workarounds/overwritten_gradients.h"

#include <algorithm>
#include <map>
#include <set>

#include "slang/ir_text.h"
#include "slang/ir_types.h"

namespace kf::gen {

namespace {

using ir::Text;

/// The call that wrote what a variable, or a part of one, holds on every way there. What several wrote is
/// a value of its own.
using Memory = std::map<std::string, const ir::Instruction*, std::less<>>;

/// "%s.%a" of a pointer to the field a of s.
struct Place {
    std::string path;
    bool is_computed = false;  ///< an element by a run-time index, or a part of one: `path` is the whole's

    [[nodiscard]] bool meets(std::string_view other) const {
        const std::string_view longer = path.size() > other.size() ? std::string_view(path) : other;
        const std::string_view shorter = path.size() > other.size() ? other : std::string_view(path);
        return longer.starts_with(shorter) &&
               (longer.size() == shorter.size() || longer[shorter.size()] == '.');
    }
};

bool is_numeric(Text type) {
    return type.starts_with("Vec(") || type.starts_with("Mat(") || type == "Float" || type == "Half" ||
           type == "Double";
}

class Analysis {
public:
    explicit Analysis(const ir::Module& module) : module_(module), types_(module) {}

    std::vector<OverwrittenGradient> run() {
        for (const ir::Function& function : module_.functions) {
            if (module_.is_differentiated(function) && has_calls_that_write(function)) follow(function);
        }
        return std::move(found_);
    }

private:
    struct Written {
        std::size_t block = 0;  ///< of the call
        std::string variable;
    };
    struct Loop {
        std::size_t body = 0;
        std::size_t exit = 0;  ///< the block behind it
    };

    [[nodiscard]] bool writes(const ir::Instruction& one, std::size_t argument) const {
        if (one.name != "call" || !module_.annotated.contains(one.callee)) return false;
        const std::vector<Text> parameters = types_.parameters_of(one.callee);
        return argument < parameters.size() && ir::is_written(parameters[argument]) &&
               types_.is_differentiable(ir::pointee(parameters[argument]));
    }

    [[nodiscard]] bool has_calls_that_write(const ir::Function& function) const {
        for (const ir::Block& block : function.blocks) {
            for (const ir::Instruction& one : block.instructions) {
                for (std::size_t i = 0; i < one.operands.size(); ++i) {
                    if (writes(one, i)) return true;
                }
            }
        }
        return false;
    }

    void follow(const ir::Function& function) {
        read_flow(function);
        places_.clear();
        raw_.clear();
        written_.clear();
        reads_.clear();
        std::vector<Memory> before(function.blocks.size());
        std::vector<bool> known(function.blocks.size(), false);
        known[0] = true;
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < function.blocks.size(); ++i) {
                if (!known[i]) continue;
                Memory memory = before[i];
                for (const ir::Instruction& one : function.blocks[i].instructions) step(one, memory);
                for (const std::size_t next : next_[i]) {
                    const std::size_t size = before[next].size();
                    if (!known[next]) {
                        before[next] = memory;
                    } else {
                        std::erase_if(before[next], [&](const auto& held) {
                            const auto other = memory.find(held.first);
                            return other == memory.end() || other->second != held.second;
                        });
                    }
                    changed = changed || !known[next] || before[next].size() != size;
                    known[next] = true;
                }
            }
        }
        raw_.clear();
        for (std::size_t i = 0; i < function.blocks.size(); ++i) {
            for (const ir::Instruction& one : function.blocks[i].instructions) {
                step(one, before[i]);
                note_reads(one, i, before[i]);
            }
        }
        for (const auto& [call, written] : written_) report(function, *call, written);
    }

    void read_flow(const ir::Function& function) {
        std::map<Text, std::size_t> blocks;
        next_.assign(function.blocks.size(), {});
        loops_.clear();
        for (std::size_t i = 0; i < function.blocks.size(); ++i) blocks[function.blocks[i].id] = i;
        for (std::size_t i = 0; i < function.blocks.size(); ++i) {
            if (function.blocks[i].instructions.empty()) continue;
            const ir::Instruction& last = function.blocks[i].instructions.back();
            std::vector<std::size_t> targets;
            for (const Text target : last.operands) {
                const auto block = blocks.find(target);
                if (block != blocks.end()) targets.push_back(block->second);
            }
            if (last.name == "loop" && targets.size() > 1) {
                loops_.push_back({targets[0], targets[1]});
                targets.erase(targets.begin() + 1, targets.end());
            }
            next_[i].insert(targets.begin(), targets.end());
        }
    }

    /// Forgets what a pointer may point to.
    static void forget(Memory& memory, const Place& place) {
        std::erase_if(memory, [&](const auto& held) { return place.meets(held.first); });
    }

    [[nodiscard]] Place place(Text pointer) const {
        const auto found = places_.find(pointer);
        return found == places_.end() ? Place{std::string(pointer)} : found->second;
    }

    /// The call whose result a load gives as it is.
    [[nodiscard]] const ir::Instruction* writer(Text pointer, Text type, const Memory& memory) const {
        const Place from = place(pointer);
        const auto held = memory.find(from.path);
        // Slang takes structs and arrays apart behind the call, but for elements that are computed.
        return held != memory.end() && (from.is_computed || is_numeric(type)) ? held->second : nullptr;
    }

    void step(const ir::Instruction& one, Memory& memory) {
        const auto operand = [&](std::size_t i) {
            return i < one.operands.size() ? one.operands[i] : Text();
        };
        if (one.name == "get_field_addr" || one.name == "getElementPtr") {
            Place part = place(operand(0));
            const bool is_computed = one.name == "getElementPtr" && operand(1).starts_with('%');
            if (!part.is_computed && !is_computed) part.path += "." + std::string(operand(1));
            part.is_computed = part.is_computed || is_computed;
            places_[one.id] = part;
        } else if (one.name == "load" && types_.is_differentiable(one.type)) {
            raw_[one.id] = writer(operand(0), one.type, memory);
        } else if (one.name == "store") {
            const Place target = place(operand(0));
            forget(memory, target);
            const auto copied = raw_.find(operand(1));
            if (copied != raw_.end() && copied->second != nullptr && !target.is_computed) {
                memory[target.path] = copied->second;
            }
        } else if (one.name == "call") {
            for (std::size_t i = 0; i < one.operands.size(); ++i) {
                if (!writes(one, i)) continue;
                const Place target = place(one.operands[i]);
                forget(memory, target);
                if (!target.is_computed) memory[target.path] = &one;
            }
        }
    }

    void note_reads(const ir::Instruction& one, std::size_t block, const Memory& memory) {
        for (const auto& [path, call] : memory) {
            if (call == &one) written_[call] = {block, path.substr(0, path.find('.'))};
        }
        const bool has_derivative = one.type != "Bool" && !ir::is_integer(one.type);
        const bool copies =
            one.name == "store" && place(one.operands.front()).path.find('.') == std::string::npos;
        if (one.name == "load" || !has_derivative || copies) return;
        for (const Text operand : one.operands) {
            const auto read = raw_.find(operand);
            if (read != raw_.end() && read->second != nullptr) reads_[read->second].insert(block);
        }
    }

    /// Whether there is a way from one block to another, or back to itself, past some.
    [[nodiscard]] bool reaches(std::size_t from, std::size_t to, const std::set<std::size_t>& past) const {
        std::set<std::size_t> seen;
        std::vector<std::size_t> left(next_[from].begin(), next_[from].end());
        while (!left.empty()) {
            const std::size_t block = left.back();
            left.pop_back();
            if (past.contains(block) || !seen.insert(block).second) continue;
            if (block == to) return true;
            left.insert(left.end(), next_[block].begin(), next_[block].end());
        }
        return false;
    }

    /// What comes after the loops that a block is in.
    [[nodiscard]] std::set<std::size_t> exits(std::size_t block) const {
        std::set<std::size_t> found;
        for (const auto& [body, exit] : loops_) {
            if (body == block || reaches(body, block, {exit})) found.insert(exit);
        }
        return found;
    }

    void report(const ir::Function& function, const ir::Instruction& call, const Written& written) {
        const std::set<std::size_t>& readers = reads_[&call];
        const std::set<std::size_t> past = exits(written.block);
        const bool is_faulty = std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
            if (reader == written.block) return false;
            const bool runs_more_often = reaches(reader, reader, {written.block});
            const bool may_be_left_out =
                reaches(written.block, written.block, {reader}) && reaches(written.block, reader, past);
            return runs_more_often || may_be_left_out;
        });
        if (!is_faulty) return;
        const auto name = module_.names.find(written.variable);
        const auto source = module_.sources.find(call.file);
        OverwrittenGradient found{
            types_.name_of(function.id), std::string(name == module_.names.end() ? Text() : name->second),
            ir::as_written(types_.name_of(ir::head_of(call.callee))),
            std::string(source == module_.sources.end() ? Text() : source->second), call.line};
        if (std::find(found_.begin(), found_.end(), found) == found_.end())
            found_.push_back(std::move(found));
    }

    const ir::Module& module_;
    ir::Types types_;
    std::vector<std::set<std::size_t>> next_;  ///< blocks, by block
    std::vector<Loop> loops_;
    std::map<Text, Place> places_;                ///< of pointers
    std::map<Text, const ir::Instruction*> raw_;  ///< what gave loaded values
    std::map<const ir::Instruction*, Written> written_;
    std::map<const ir::Instruction*, std::set<std::size_t>> reads_;  ///< blocks
    std::vector<OverwrittenGradient> found_;
};

}  // namespace

std::vector<OverwrittenGradient> overwritten_gradients(std::string_view code) {
    const ir::Module module = ir::parse(code);
    return Analysis(module).run();
}

Diagnostic warning_of(const OverwrittenGradient& overwritten, std::string_view line) {
    const std::string variable =
        overwritten.variable.empty() ? "a variable" : "'" + overwritten.variable + "'";
    Diagnostic warning{
        Severity::warning,
        "gradient-overwritten",
        {overwritten.file, overwritten.line, 0},
        "'" + overwritten.function + "' reads " + variable + " in a loop or a branch as '" +
            overwritten.writer + "' has written it: Slang gives it a wrong gradient",
        {"let the call be a statement of its own, and pass what it has written through a function "
         "that returns its argument: '[Differentiable] T same(T value) { return value; }'"}};
    const std::string word = overwritten.writer.substr(overwritten.writer.rfind('.') + 1);
    const std::size_t call = line.find(word);
    if (call != std::string_view::npos) warning.location.column = static_cast<std::int64_t>(call) + 1;
    return warning;
}

}  // namespace kf::gen
