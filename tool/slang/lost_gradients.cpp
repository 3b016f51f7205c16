// A data flow over each differentiable function's blocks, until nothing is added.
#include "slang/lost_gradients.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "slang/ir_text.h"
#include "slang/ir_types.h"
#include "slang/workarounds/no_diff_calls.h"
#include "slang/workarounds/value_copies.h"

namespace kf::gen {

namespace {

using ir::Text;

/// What a value, or a variable at a place, has come from.
struct Flow {
    bool carries = false;        ///< a derivative
    std::set<std::size_t> lost;  ///< one that was lost there

    [[nodiscard]] bool any() const { return carries || !lost.empty(); }
    void add(const Flow& other) {
        carries = carries || other.carries;
        lost.insert(other.lost.begin(), other.lost.end());
    }
    bool operator==(const Flow&) const = default;
};

/// What drops a derivative: none does where no_diff should have and doesn't.
enum class Loss : std::uint8_t { by_call, by_type, none, none_if_marked };

using Memory = std::map<Text, Flow>;  ///< of variables and parameters that are written

bool is_any_of(Text word, std::initializer_list<Text> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Functions of Slang's that give a number's bits.
bool gives_bits(Text name) {
    return is_any_of(name, {"asint", "asuint", "asint16", "asuint16", "f32tof16", "f32tof16_", "packHalf2x16",
                            "packUnorm4x8", "packSnorm4x8", "packUnorm2x16", "packSnorm2x16", "asuint64"});
}
/// Whether an instruction of that name makes a number of bits.
bool takes_bits(Text name) {
    return is_any_of(name, {"asfloat", "asdouble", "asfloat16", "f16tof32", "f16tof32_",
                            "unpackHalf2x16ToFloat", "unpackHalf2x16ToHalf", "unpackUnorm4x8ToFloat",
                            "unpackSnorm4x8ToFloat", "unpackUnorm2x16ToFloat", "unpackSnorm2x16ToFloat"});
}

class Analysis {
public:
    Analysis(const ir::Module& module, bool statements)
        : module_(module), types_(module), statements_(statements) {}

    std::vector<LostGradient> run() {
        for (const ir::Function& function : module_.functions) {
            if (module_.is_differentiated(function)) follow(function);
        }
        return std::move(found_);
    }

private:
    [[nodiscard]] bool is_differentiable(Text type) const { return types_.is_differentiable(type); }

    void follow(const ir::Function& function) {
        values_.clear();
        roots_.clear();
        types_of_values_.clear();
        origins_.clear();
        reported_.clear();
        function_ = &function;
        std::map<Text, Memory> before;
        Memory& start = before[function.blocks.front().id];
        for (const ir::BlockParameter& parameter : function.blocks.front().parameters) {
            const bool out = parameter.type.starts_with("OutParam(");
            const bool pointer =
                ir::is_written(parameter.type) || parameter.type.starts_with("BorrowInParam(");
            const bool carries = is_differentiable(pointer ? ir::pointee(parameter.type) : parameter.type);
            (pointer ? start[parameter.id] : values_[parameter.id]).carries = carries && !out;
        }
        for (changed_ = true; changed_;) {
            changed_ = false;
            for (const ir::Block& block : function.blocks) {
                Memory memory = before[block.id];
                for (const ir::Instruction& one : block.instructions) step(one, memory);
                if (!block.instructions.empty()) leave(block.instructions.back(), memory, before);
            }
        }
        for (const std::size_t origin : reported_) found_.push_back(origins_[origin]);
    }

    /// Passes what variables hold, and the arguments of blocks, on to where the block goes.
    void leave(const ir::Instruction& last, const Memory& memory, std::map<Text, Memory>& before) {
        for (const Text target : last.operands) {
            const auto block = std::find_if(function_->blocks.begin(), function_->blocks.end(),
                                            [&](const ir::Block& one) { return one.id == target; });
            if (block == function_->blocks.end()) continue;
            for (const auto& [variable, flow] : memory) {
                Flow& there = before[target][variable];
                const Flow old = there;
                there.add(flow);
                changed_ = changed_ || !(there == old);
            }
        }
        const bool loops = last.name == "loop";
        if (!loops && last.name != "unconditionalBranch") return;
        const auto block =
            std::find_if(function_->blocks.begin(), function_->blocks.end(),
                         [&](const ir::Block& one) { return one.id == last.operands.front(); });
        if (block == function_->blocks.end()) return;
        const std::size_t first = loops ? 3 : 1;
        for (std::size_t i = first; i < last.operands.size() && i - first < block->parameters.size(); ++i) {
            add(block->parameters[i - first].id, value(last.operands[i]));
        }
    }

    [[nodiscard]] Flow value(Text id) const {
        const auto found = values_.find(id);
        return found == values_.end() ? Flow() : found->second;
    }
    void add(Text id, const Flow& flow) {
        Flow& there = values_[id];
        const Flow old = there;
        there.add(flow);
        changed_ = changed_ || !(there == old);
    }
    [[nodiscard]] Text root(Text pointer) const {
        const auto found = roots_.find(pointer);
        return found == roots_.end() ? pointer : found->second;
    }
    /// What an operand is or points to.
    [[nodiscard]] Flow content(Text operand, const Memory& memory) const {
        const auto found = memory.find(root(operand));
        Flow flow = value(operand);
        if (found != memory.end() && !without_derivative_.contains(operand)) flow.add(found->second);
        return flow;
    }

    void step(const ir::Instruction& one, Memory& memory) {
        types_of_values_[one.id] = one.type;
        // Slang may print an instruction in a form of its own.
        if (one.operands.empty() && !is_any_of(one.name, {"var", "call", "return_val"})) return;
        if (one.name == "var") {
            memory[one.id];
        } else if (one.name == "load") {
            Flow flow = content(one.operands.at(0), memory);
            flow.carries = flow.carries && is_differentiable(one.type);
            add(one.id, flow);
        } else if (one.name == "get_field_addr" || one.name == "getElementPtr") {
            roots_[one.id] = root(one.operands.at(0));
            if (is_without_derivative(one)) without_derivative_.insert(one.id);
            if (without_derivative_.contains(one.operands[0])) without_derivative_.insert(one.id);
        } else if (one.name == "get_field") {
            if (!is_without_derivative(one)) pass_on(one);
        } else if (one.name == "store" && one.operands.size() > 1) {
            store(one.operands[0], value(one.operands[1]), memory);
        } else if (one.name == "call") {
            call(one, memory);
        } else if (one.name == "bitCast" || one.name == "bit_cast") {
            const Flow flow = value(one.operands.at(0));
            if (flow.carries && ir::is_integer(one.type))
                return lose(one, "bit_cast", Loss::by_call, {one.id}, memory);
            add(one.id, flow);
        } else if (one.name == "return_val") {
            give_back(one, memory);
        } else if (!is_any_of(one.name, {"detachDerivative", "castFloatToInt", "castIntToFloat"})) {
            pass_on(one);
        }
    }

    /// A field that is marked no_diff, of a struct that has derivatives otherwise.
    [[nodiscard]] bool is_without_derivative(const ir::Instruction& one) const {
        if (one.operands.size() < 2 || !one.operands[1].starts_with('%')) return false;
        const bool is_field = one.name != "getElementPtr";
        if (!is_field || module_.keys.contains(one.operands[1])) return false;
        const auto type = types_of_values_.find(one.operands[0]);
        Text holder = type == types_of_values_.end() ? Text() : type->second;
        if (holder.starts_with("Ptr(")) holder = ir::pointee(holder);
        return module_.annotated.contains(holder);
    }

    void pass_on(const ir::Instruction& one) {
        if (one.id.empty() || one.type == "Bool") return;
        Flow flow;
        for (const Text operand : one.operands) flow.add(value(operand));
        const bool number = is_differentiable(one.type);
        flow.carries = flow.carries && number;
        add(one.id, flow);
    }

    void store(Text pointer, const Flow& flow, Memory& memory) {
        const Text target = root(pointer);
        if (target == pointer) {
            memory[target] = flow;
        } else {
            memory[target].add(flow);
        }
    }

    void call(const ir::Instruction& one, Memory& memory) {
        const Text id = ir::head_of(one.callee);
        const std::vector<Text> parameters = types_.parameters_of(one.callee);
        const bool differentiable = module_.annotated.contains(one.callee);
        const auto is_out = [&](std::size_t i) {
            return i < parameters.size() && ir::is_written(parameters[i]);
        };
        Flow in;
        std::vector<Text> outs;
        for (std::size_t i = 0; i < one.operands.size(); ++i) {
            const Text operand = one.operands[i];
            const Text type = i < parameters.size() ? parameters[i] : Text();
            const bool only_out = type.starts_with("OutParam(");
            if (is_out(i) && (is_differentiable(ir::pointee(type)) || !ir::is_integer(ir::pointee(type)))) {
                outs.push_back(operand);
            }
            if (!only_out) in.add(content(operand, memory));
        }
        if (differentiable) {
            // What has a derivative of its own, as a tensor's load has, needs none to go into it.
            const bool made =
                !one.is_no_diff && is_differentiable(one.type) && !takes_derivatives(one, parameters);
            in.carries = in.carries || made;
            if (is_detached_value(types_.name_of(id))) return;
            const bool unmarked = statements_ && one.type.empty() && !one.is_no_diff;
            if ((one.is_no_diff || unmarked) && in.carries && !made && takes_derivatives(one, parameters) &&
                !is_opaque(id)) {
                std::vector<Text> given = outs;
                if (is_differentiable(one.type)) given.push_back(one.id);
                const Loss loss = unmarked ? Loss::none_if_marked : Loss::none;
                if (!given.empty()) return lose(one, types_.name_of(id), loss, given, memory, in);
            }
            if (outs.empty() && one.type.empty()) return report(in);
            for (const Text out : outs) store(out, in, memory);
            return add(one.id, in);
        }
        const std::string name = types_.name_of(id);
        if (is_copy_of_value(name)) return add(one.id, in);
        if (is_detached_value(name)) return;
        if (takes_bits(name)) {
            in.carries = false;
            return add(one.id, in);
        }
        if (gives_bits(name)) {
            if (in.carries) lose(one, name, Loss::by_call, {one.id}, memory);
            return;
        }
        // Slang marks calls alike into which nothing goes that could have a derivative.
        const bool marked_by_slang = one.is_no_diff && !takes_derivatives(one, parameters);
        if (marked_by_slang && is_differentiable(one.type) && !in.lost.empty() && holds_lost(one)) {
            in.carries = false;
            return add(one.id, in);
        }
        // The source says that it is meant.
        if (one.is_no_diff || !in.any()) {
            for (const Text out : outs) store(out, {}, memory);
            return;
        }
        // Slang itself refuses a derivative that is lost in a value, unless that is put into a struct; one in
        // a struct without derivatives it doesn't see.
        const bool holds = !one.type.empty() && !is_differentiable(one.type) && !ir::is_integer(one.type) &&
                           !is_any_of(one.type, {"Void", "Bool"}) && !one.type.starts_with("Attributed(");
        std::vector<Text> given = outs;
        // Says less of interfaces' functions: their declarations needn't tell whether they have derivatives.
        const bool is_value = is_differentiable(one.type) && !module_.witnesses.contains(id);
        if (holds || is_value) given.push_back(one.id);
        if (given.empty()) return;
        in.carries = false;
        lose(one, name, holds ? Loss::by_type : Loss::by_call, given, memory, in);
    }

    /// Whether a function is marked [TreatAsDifferentiable]: its derivative is 0.
    [[nodiscard]] bool is_opaque(Text id) const {
        const auto inner = module_.generics.find(id);
        return module_.opaque.contains(id) ||
               (inner != module_.generics.end() && module_.opaque.contains(inner->second));
    }

    [[nodiscard]] bool takes_derivatives(const ir::Instruction& one,
                                         const std::vector<Text>& parameters) const {
        for (std::size_t i = 0; i < one.operands.size() && i < parameters.size(); ++i) {
            if (is_differentiable(ir::is_written(parameters[i]) ? ir::pointee(parameters[i]) : parameters[i]))
                return true;
        }
        return false;
    }

    /// In a struct: numbers that are made of a derivative's bits have none.
    [[nodiscard]] bool holds_lost(const ir::Instruction& one) const {
        return std::any_of(one.operands.begin(), one.operands.end(), [&](Text operand) {
            const auto type = types_of_values_.find(operand);
            return !value(operand).lost.empty() && type != types_of_values_.end() &&
                   !ir::is_integer(type->second);
        });
    }

    void lose(const ir::Instruction& one, const std::string& cause, Loss loss, const std::vector<Text>& given,
              Memory& memory, Flow flow = {}) {
        std::string file;
        const auto source = module_.sources.find(one.file);
        if (source != module_.sources.end()) file = source->second;
        LostGradient lost{types_.name_of(function_->id),
                          ir::as_written(cause),
                          loss == Loss::by_type,
                          file,
                          one.line,
                          loss == Loss::none || loss == Loss::none_if_marked,
                          loss == Loss::none_if_marked};
        const auto known = std::find(origins_.begin(), origins_.end(), lost);
        const auto index = static_cast<std::size_t>(known - origins_.begin());
        if (known == origins_.end()) origins_.push_back(std::move(lost));
        flow.lost.insert(index);
        for (const Text target : given) {
            if (target == one.id) {
                add(target, flow);
            } else {
                store(target, flow, memory);
            }
        }
    }

    void report(const Flow& flow) { reported_.insert(flow.lost.begin(), flow.lost.end()); }

    void give_back(const ir::Instruction& one, const Memory& memory) {
        const std::vector<Text> parts = ir::parts_of(function_->type);
        if (!parts.empty() && is_differentiable(parts.front()) && !one.operands.empty()) {
            report(value(one.operands.front()));
        }
        for (const ir::BlockParameter& parameter : function_->blocks.front().parameters) {
            if (!ir::is_written(parameter.type) || !is_differentiable(ir::pointee(parameter.type))) continue;
            const auto held = memory.find(parameter.id);
            if (held != memory.end()) report(held->second);
        }
    }

    const ir::Module& module_;
    ir::Types types_;
    bool statements_;
    const ir::Function* function_ = nullptr;
    std::map<Text, Flow> values_;
    std::map<Text, Text> roots_;  ///< of pointers into variables
    std::map<Text, Text> types_of_values_;
    std::set<Text> without_derivative_;  ///< pointers to what is marked no_diff
    std::vector<LostGradient> origins_;
    std::set<std::size_t> reported_;
    std::vector<LostGradient> found_;
    bool changed_ = false;
};

}  // namespace

std::vector<LostGradient> lost_gradients(std::string_view code, bool statements) {
    const ir::Module module = ir::parse(code);
    return Analysis(module, statements).run();
}

namespace {

std::size_t find_word(std::string_view line, std::string_view word) {
    const auto goes_on = [&](std::size_t at) {
        return at < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_');
    };
    for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        if (!(at > 0 && goes_on(at - 1)) && !goes_on(at + word.size())) return at;
    }
    return std::string_view::npos;
}

/// The warning of a derivative that no_diff doesn't drop.
Diagnostic kept_gradient(const LostGradient& kept, std::size_t call) {
    Diagnostic warning{
        Severity::warning,
        "no-diff-ignored",
        {kept.file, kept.line, 0},
        "'" + kept.function + "' has the derivative of '" + kept.cause +
            "' in spite of no_diff, which Slang ignores before calls of differentiable functions",
        {"write detach() around what goes into the call, or around what comes out"}};
    if (call != std::string_view::npos) warning.location.column = static_cast<std::int64_t>(call) + 1;
    return warning;
}

}  // namespace

Diagnostics warning_of(const LostGradient& lost, std::string_view line) {
    const std::size_t call = find_word(line, lost.cause.substr(lost.cause.rfind('.') + 1));
    // In the call's own statement: a parameter of a function of one line may be marked, too.
    const std::string_view before = line.substr(0, call == std::string_view::npos ? 0 : call);
    const std::size_t end = before.find_last_of(";{}");
    const std::string_view statement = before.substr(end == std::string_view::npos ? 0 : end + 1);
    const bool is_marked = find_word(statement, "no_diff") != std::string_view::npos;
    if (lost.is_kept && (is_marked || !lost.is_unmarked)) return {kept_gradient(lost, call)};
    if (is_marked || lost.is_kept) return {};
    const bool bits = gives_bits(lost.cause) || lost.cause == "bit_cast";
    const std::string why = bits ? "which gives its bits"
                            : lost.is_type
                                ? "which isn't differentiable and gives a struct without derivatives"
                                : "which isn't differentiable";
    Diagnostic warning{Severity::warning,
                       "gradient-lost",
                       {lost.file, lost.line, 0},
                       "'" + lost.function + "' loses the derivative of what goes into '" + lost.cause +
                           "', " + why + ", and depends on what comes out",
                       {}};
    if (call != std::string_view::npos) warning.location.column = static_cast<std::int64_t>(call) + 1;
    if (!bits) {
        warning.notes.push_back(lost.is_type ? "let the struct conform to IDifferentiable, and mark '" +
                                                   lost.cause + "' [Differentiable]"
                                             : "mark '" + lost.cause + "' [Differentiable]");
    }
    warning.notes.emplace_back(
        "where that is meant, write no_diff before the call or detach() around the argument");
    return {warning};
}

}  // namespace kf::gen
