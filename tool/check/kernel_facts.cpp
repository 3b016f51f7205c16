// Follows each argument's data through the instructions of a SPIR-V module, until nothing is added.
#include "check/kernel_facts.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/spirv_code.h"

namespace kf::check {
namespace {

using namespace spirv;

using Word = std::uint32_t;

/// Which arguments something depends on.
using ArgumentSet = std::bitset<256>;

struct Origin {
    ArgumentSet addresses;  ///< it is where their data lie
    ArgumentSet data;

    bool add(const Origin& other) {
        const auto before = *this;
        addresses |= other.addresses;
        data |= other.data;
        return addresses != before.addresses || data != before.data;
    }
};

/// Returns its words behind the first: the result and its type first, where there are such.
Instruction operands_of(Instruction one) { return one.subspan(1); }

class Reader {
public:
    Reader(const manifest::Kernel& kernel, const manifest::BlockLayout& layout, std::size_t arguments)
        : kernel_(kernel),
          layout_(layout),
          facts_(arguments),
          is_given_(arguments, false),
          compared_(arguments) {
        // Nothing is known of arguments that the kernel isn't given.
        for (const manifest::Record& record : kernel.records) {
            const bool holds =
                record.kind == manifest::RecordKind::value || record.kind == manifest::RecordKind::data;
            if (holds) is_given_.at(static_cast<std::size_t>(record.argument)) = true;
        }
    }

    /// Nothing where the module isn't understood.
    std::optional<std::vector<InputFacts>> read(std::span<const std::byte> bytes) {
        if (is_given_.size() > ArgumentSet().size() || !split(bytes)) return std::nullopt;
        declare();
        if (blocks_.empty()) return std::nullopt;
        for (changed_ = true; changed_ && understood_;) {
            changed_ = false;
            for (std::size_t i = body_; i < instructions_.size(); ++i) follow(instructions_[i]);
        }
        if (!understood_) return std::nullopt;
        for (std::size_t i = body_; i < instructions_.size(); ++i) note_constants(instructions_[i]);
        for (std::size_t a = 0; a < facts_.size(); ++a) {
            facts_[a].unused = is_given_[a] && !used_.test(a);
            facts_[a].compared.assign(compared_[a].begin(), compared_[a].end());
        }
        return facts_;
    }

private:
    bool split(std::span<const std::byte> bytes) {
        module_ = module_of(bytes);
        instructions_ = instructions_of(module_);
        const auto body = std::find_if(instructions_.begin(), instructions_.end(),
                                       [](Instruction one) { return opcode_of(one) == op_function; });
        body_ = static_cast<std::size_t>(body - instructions_.begin());
        return !instructions_.empty();
    }

    /// Types, constants, and which structs are the kernel's block.
    void declare() {
        std::map<Word, std::map<Word, std::int64_t>> offsets;
        for (std::size_t i = 0; i < body_; ++i) {
            const Instruction one = instructions_[i];
            const Instruction words = operands_of(one);
            switch (opcode_of(one)) {
                case op_member_decorate:
                    if (words.size() == 4 && words[2] == decoration_offset) {
                        offsets[words[0]][words[1]] = words[3];
                    }
                    break;
                case op_type_int: integers_[words[0]] = {words[1], words[2] != 0}; break;
                case op_type_pointer:
                case op_type_vector:
                case op_type_matrix:
                case op_type_array:
                case op_type_struct: types_[words[0]] = one; break;
                case op_constant: add_constant(words); break;
                case op_variable: type_of_[words[1]] = words[0]; break;
                default: break;
            }
        }
        for (const auto& [type, members] : offsets) {
            std::vector<std::int64_t> laid_out;
            for (const auto& [member, offset] : members) laid_out.push_back(offset);
            if (laid_out == layout_.offsets) blocks_.insert(type);
        }
    }

    void add_constant(Instruction words) {
        const auto type = integers_.find(words[0]);
        if (type == integers_.end()) return;
        std::uint64_t bits = words[2];
        if (words.size() > 3) bits |= static_cast<std::uint64_t>(words[3]) << 32U;
        const auto [width, is_signed] = type->second;
        // Narrow ones are sign-extended in their word.
        constants_[words[1]] = width > 32  ? static_cast<std::int64_t>(bits)
                               : is_signed ? static_cast<std::int64_t>(static_cast<std::int32_t>(bits))
                                           : static_cast<std::int64_t>(bits);
    }

    Origin& at(Word id) { return origins_[id]; }
    [[nodiscard]] Word root(Word pointer) const {
        const auto found = roots_.find(pointer);
        return found == roots_.end() ? pointer : found->second;
    }
    void add(Word id, const Origin& origin) { changed_ = at(id).add(origin) || changed_; }
    void use(const Origin& origin) { used_ |= origin.data; }
    [[nodiscard]] bool is_block(Word id) const {
        const auto type = type_of_.find(id);
        return type != type_of_.end() && blocks_.contains(type->second);
    }

    /// What one of the block's members is: an argument's data, or their address.
    Origin member_of_block(std::int64_t index) {
        Origin origin;
        if (index < 0 || index >= static_cast<std::int64_t>(kernel_.records.size())) return origin;
        const manifest::Record& record = kernel_.records[static_cast<std::size_t>(index)];
        if (record.argument < 0) return origin;
        const auto argument = static_cast<std::size_t>(record.argument);
        if (record.kind == manifest::RecordKind::value) origin.data.set(argument);
        // Strides and steps beside the address only ever lead to the same data.
        if (record.kind == manifest::RecordKind::data) origin.addresses.set(argument);
        return origin;
    }

    void follow_chain(Instruction one) {
        const Instruction words = operands_of(one);
        const Word base = words[2];
        roots_[words[1]] = root(base);
        Origin origin = at(base);
        Word type = pointee(base);
        for (std::size_t i = opcode_of(one) == op_ptr_access_chain ? 4 : 3; i < words.size(); ++i) {
            origin.add(at(words[i]));
            const auto constant = constants_.find(words[i]);
            const std::int64_t index = constant != constants_.end() ? constant->second : 0;
            if (blocks_.contains(type)) {
                const Origin member = member_of_block(index);
                // What is loaded from there is the data, or the address: of a pointer both are told apart
                // when it is loaded.
                members_[words[1]].add(member);
            }
            type = element(type, index);
        }
        if (opcode_of(one) == op_ptr_access_chain) origin.add(at(words[3]));
        if (members_.contains(base)) changed_ = members_[words[1]].add(members_[base]) || changed_;
        add(words[1], origin);
    }

    [[nodiscard]] Word pointee(Word id) const { return of_pointer(id, 3); }
    [[nodiscard]] Word storage_of(Word id) const { return of_pointer(id, 2); }

    /// Returns that word of the pointer's type; 0: it is none.
    [[nodiscard]] Word of_pointer(Word id, std::size_t word) const {
        const auto type = type_of_.find(id);
        const auto pointer = type == type_of_.end() ? types_.end() : types_.find(type->second);
        return pointer == types_.end() || opcode_of(pointer->second) != op_type_pointer
                   ? 0
                   : word_of(pointer->second, word);
    }

    [[nodiscard]] Word element(Word type, std::int64_t index) const {
        const auto found = types_.find(type);
        if (found == types_.end()) return 0;
        // All elements of what is no struct have one type.
        if (opcode_of(found->second) != op_type_struct) index = 0;
        return index < 0 ? 0 : word_of(found->second, 2 + static_cast<std::size_t>(index));
    }

    void follow(Instruction one) {
        const Instruction words = operands_of(one);
        switch (opcode_of(one)) {
            case op_function:
                function_ = words[1];
                called_[function_].clear();
                return;
            case op_function_parameter:
                type_of_[words[1]] = words[0];
                called_[function_].push_back(words[1]);
                return;
            case op_variable: type_of_[words[1]] = words[0]; return;
            case op_store:
            case op_copy_memory:
            case op_atomic_store: return follow_store(one);
            case op_branch_conditional:
            case op_switch: return use(at(words[0]));
            case op_return_value: return add(function_, at(words[0]));
            case op_label:
            case op_branch:
            case op_loop_merge:
            case op_selection_merge:
            case op_control_barrier:
            case op_memory_barrier: return;
            default: break;
        }
        if (words.size() < 2 || (opcode_of(one) >= op_kill && opcode_of(one) <= op_unreachable)) return;
        type_of_[words[1]] = words[0];
        switch (opcode_of(one)) {
            case op_access_chain:
            case op_in_bounds_access_chain:
            case op_ptr_access_chain: return follow_chain(one);
            case op_load: return follow_load(words);
            case op_function_call: return follow_call(words);
            case op_composite_extract:
                if (is_block(words[2]) && words.size() > 3) return add(words[1], member_of_block(words[3]));
                break;
            default: break;
        }
        Origin origin;
        for (std::size_t i = 2; i < words.size(); ++i) {
            understood_ = understood_ && !is_block(words[i]);
            origin.add(at(words[i]));
        }
        if (is_atomic(opcode_of(one))) use(origin);
        add(words[1], origin);
    }

    void follow_load(Instruction words) {
        const Word pointer = words[2];
        if (is_block(words[1])) return;
        Origin origin = at(root(pointer));
        // Data lie where an address says, and depend on what the place was computed of.
        origin.data |= at(pointer).addresses | at(pointer).data;
        const auto member = members_.find(pointer);
        if (member != members_.end()) origin = member->second;
        add(words[1], origin);
    }

    void follow_store(Instruction one) {
        const Word pointer = one[1];
        const Origin stored = at(one[opcode_of(one) == op_atomic_store ? 4 : 2]);
        const Word target = root(pointer);
        const Word storage = storage_of(pointer);
        const bool local =
            storage == storage_workgroup || storage == storage_private || storage == storage_function;
        Origin origin = stored;
        if (opcode_of(one) == op_copy_memory) origin.data |= stored.addresses;
        origin.data |= at(pointer).data;
        if (!local) use(origin);
        // Within the kernel: what is loaded from there.
        if (local) add(target, origin);
    }

    void follow_call(Instruction words) {
        const std::vector<Word>& parameters = called_[words[2]];
        for (std::size_t i = 3; i < words.size(); ++i) {
            understood_ = understood_ && !is_block(words[i]);
            if (i - 3 >= parameters.size()) continue;
            const Word parameter = parameters[i - 3];
            add(parameter, at(words[i]));
            add(parameter, at(root(words[i])));
            // What it writes to an `out` is in the caller's variable.
            if (pointee(words[i]) != 0) add(root(words[i]), at(parameter));
            if (members_.contains(words[i]))
                changed_ = members_[parameter].add(members_[words[i]]) || changed_;
        }
        add(words[1], at(words[2]));
    }

    /// Notes the constants of comparisons, switches, remainders, masks and the like.
    void note_constants(Instruction one) {
        const Instruction words = operands_of(one);
        if (opcode_of(one) == op_switch) {
            const auto type = type_of_.find(words[0]);
            const auto integer = type == type_of_.end() ? integers_.end() : integers_.find(type->second);
            const bool wide = integer != integers_.end() && integer->second.first > 32;
            const bool is_signed = integer != integers_.end() && integer->second.second;
            for (std::size_t i = 2; i + 1 < words.size(); i += wide ? 3 : 2) {
                const std::uint64_t bits =
                    wide ? words[i] | static_cast<std::uint64_t>(words[i + 1]) << 32U : words[i];
                note(at(words[0]), wide || !is_signed
                                       ? static_cast<std::int64_t>(bits)
                                       : static_cast<std::int64_t>(static_cast<std::int32_t>(bits)));
            }
            return;
        }
        const bool compares = opcode_of(one) >= op_i_equal && opcode_of(one) <= op_s_less_equal;
        // kfgen writes remainders of signed integers by their quotients.
        const bool divides =
            opcode_of(one) == op_s_div || (opcode_of(one) >= op_u_mod && opcode_of(one) <= op_s_mod);
        if (!compares && !divides && opcode_of(one) != op_bitwise_and && opcode_of(one) != op_ext_inst)
            return;
        const std::size_t first = opcode_of(one) == op_ext_inst ? 4 : 2;
        for (std::size_t i = first; i < words.size(); ++i) {
            const auto constant = constants_.find(words[i]);
            if (constant == constants_.end()) continue;
            for (std::size_t j = first; j < words.size(); ++j) {
                if (j != i && !constants_.contains(words[j])) note(at(words[j]), constant->second);
            }
        }
    }

    void note(const Origin& origin, std::int64_t value) {
        for (std::size_t a = 0; a < facts_.size(); ++a) {
            if (origin.data.test(a)) compared_[a].insert(value);
        }
    }

    const manifest::Kernel& kernel_;
    const manifest::BlockLayout& layout_;
    std::vector<InputFacts> facts_;
    std::vector<bool> is_given_;
    std::vector<std::set<std::int64_t>> compared_;
    Words module_;
    std::vector<Instruction> instructions_;
    std::size_t body_ = 0;
    std::set<Word> blocks_;
    std::map<Word, Instruction> types_;
    std::map<Word, std::pair<Word, bool>> integers_;  ///< width, and whether signed
    std::map<Word, std::int64_t> constants_;
    std::map<Word, Word> type_of_;              ///< of values
    std::map<Word, Word> roots_;                ///< of pointers into variables
    std::map<Word, Origin> origins_;            ///< of values; of variables what is stored in them
    std::map<Word, Origin> members_;            ///< of pointers into the block: what is there
    std::map<Word, std::vector<Word>> called_;  ///< parameters, by function
    Word function_ = 0;
    ArgumentSet used_;
    bool changed_ = false;
    bool understood_ = true;
};

}  // namespace

std::vector<InputFacts> facts_of(const manifest::Manifest& manifest, const manifest::Call& call) {
    for (const std::int64_t index : {call.forward.strided, call.forward.contiguous}) {
        if (index < 0) continue;
        const manifest::Kernel& kernel = manifest.kernels[static_cast<std::size_t>(index)];
        const auto layout = kernel.layouts.find("vulkan");
        const auto image = std::find_if(kernel.images.begin(), kernel.images.end(),
                                        [](const manifest::Image& one) { return one.format == "spirv"; });
        if (layout == kernel.layouts.end() || image == kernel.images.end()) continue;
        Reader reader(kernel, layout->second, call.arguments.size());
        if (auto facts = reader.read(image->bytes.span())) return *facts;
    }
    return std::vector<InputFacts>(call.arguments.size());
}

}  // namespace kf::check
