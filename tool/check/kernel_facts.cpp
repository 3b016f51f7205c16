// Follows each argument's data through the instructions of a SPIR-V module, until nothing is added.
#include "check/kernel_facts.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/spirv.h"

namespace kf::check {
namespace {

using Word = std::uint32_t;

/// Opcodes, as section 3 of the SPIR-V specification numbers them.
namespace op {
constexpr Word ext_inst = 12, type_int = 21, type_vector = 23, type_matrix = 24, type_array = 28,
               type_struct = 30, type_pointer = 32, constant = 43, function = 54, function_parameter = 55,
               function_call = 57, variable = 59, load = 61, store = 62, copy_memory = 63, access_chain = 65,
               in_bounds_access_chain = 66, ptr_access_chain = 67, member_decorate = 72,
               composite_extract = 81, s_div = 135, u_mod = 137, s_mod = 139, i_equal = 170,
               s_less_than_equal = 179, bitwise_and = 199, control_barrier = 224, memory_barrier = 225,
               atomic_load = 227, atomic_store = 228, atomic_xor = 242, loop_merge = 246,
               selection_merge = 247, label = 248, branch = 249, branch_conditional = 250, switch_on = 251,
               kill = 252, return_value = 254, unreachable = 255;
}  // namespace op
constexpr Word decoration_offset = 35;
constexpr Word storage_workgroup = 4, storage_private = 6, storage_function = 7;
constexpr Word atomic_float_add = 6035;

struct Instruction {
    Word code = 0;
    std::vector<Word> words;  ///< operands, with the result and its type first where there are such
};

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
        std::vector<Word> words(bytes.size() / sizeof(Word));
        std::memcpy(words.data(), bytes.data(), words.size() * sizeof(Word));
        if (words.size() < spirv::header_words || words.front() != spirv::magic) return false;
        for (std::size_t at = spirv::header_words; at < words.size();) {
            const std::size_t length = words[at] >> 16U;
            if (length == 0 || at + length > words.size()) return false;
            const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
            instructions_.push_back(
                {words[at] & 0xffffU, {first + 1, first + static_cast<std::ptrdiff_t>(length)}});
            at += length;
        }
        const auto body = std::find_if(instructions_.begin(), instructions_.end(),
                                       [](const Instruction& one) { return one.code == op::function; });
        body_ = static_cast<std::size_t>(body - instructions_.begin());
        return true;
    }

    /// Types, constants, and which structs are the kernel's block.
    void declare() {
        std::map<Word, std::map<Word, std::int64_t>> offsets;
        for (std::size_t i = 0; i < body_; ++i) {
            const std::vector<Word>& words = instructions_[i].words;
            switch (instructions_[i].code) {
                case op::member_decorate:
                    if (words.size() == 4 && words[2] == decoration_offset) {
                        offsets[words[0]][words[1]] = words[3];
                    }
                    break;
                case op::type_int: integers_[words[0]] = {words[1], words[2] != 0}; break;
                case op::type_pointer: types_[words[0]] = {op::type_pointer, {words[2], words[1]}}; break;
                case op::type_vector:
                case op::type_matrix:
                case op::type_array: types_[words[0]] = {op::type_array, {words[1]}}; break;
                case op::type_struct:
                    types_[words[0]] = {op::type_struct, {words.begin() + 1, words.end()}};
                    break;
                case op::constant: add_constant(words); break;
                case op::variable: type_of_[words[1]] = words[0]; break;
                default: break;
            }
        }
        for (const auto& [type, members] : offsets) {
            std::vector<std::int64_t> laid_out;
            for (const auto& [member, offset] : members) laid_out.push_back(offset);
            if (laid_out == layout_.offsets) blocks_.insert(type);
        }
    }

    void add_constant(const std::vector<Word>& words) {
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

    void follow_chain(const Instruction& one) {
        const std::vector<Word>& words = one.words;
        const Word base = words[2];
        roots_[words[1]] = root(base);
        Origin origin = at(base);
        Word type = pointee(base);
        for (std::size_t i = one.code == op::ptr_access_chain ? 4 : 3; i < words.size(); ++i) {
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
        if (one.code == op::ptr_access_chain) origin.add(at(words[3]));
        if (members_.contains(base)) changed_ = members_[words[1]].add(members_[base]) || changed_;
        add(words[1], origin);
    }

    [[nodiscard]] Word pointee(Word id) const { return of_pointer(id, 0); }
    [[nodiscard]] Word storage_of(Word id) const { return of_pointer(id, 1); }

    /// Returns that word of the pointer's type; 0: it is none.
    [[nodiscard]] Word of_pointer(Word id, std::size_t word) const {
        const auto type = type_of_.find(id);
        const auto pointer = type == type_of_.end() ? types_.end() : types_.find(type->second);
        return pointer == types_.end() || pointer->second.code != op::type_pointer
                   ? 0
                   : pointer->second.words[word];
    }

    [[nodiscard]] Word element(Word type, std::int64_t index) const {
        const auto found = types_.find(type);
        if (found == types_.end() || found->second.words.empty()) return 0;
        const std::vector<Word>& elements = found->second.words;
        if (found->second.code != op::type_struct) return elements[0];
        return index >= 0 && index < static_cast<std::int64_t>(elements.size())
                   ? elements[static_cast<std::size_t>(index)]
                   : 0;
    }

    void follow(const Instruction& one) {
        const std::vector<Word>& words = one.words;
        switch (one.code) {
            case op::function:
                function_ = words[1];
                called_[function_].clear();
                return;
            case op::function_parameter:
                type_of_[words[1]] = words[0];
                called_[function_].push_back(words[1]);
                return;
            case op::variable: type_of_[words[1]] = words[0]; return;
            case op::store:
            case op::copy_memory:
            case op::atomic_store: return follow_store(one);
            case op::branch_conditional:
            case op::switch_on: return use(at(words[0]));
            case op::return_value: return add(function_, at(words[0]));
            case op::label:
            case op::branch:
            case op::loop_merge:
            case op::selection_merge:
            case op::control_barrier:
            case op::memory_barrier: return;
            default: break;
        }
        if (words.size() < 2 || (one.code >= op::kill && one.code <= op::unreachable)) return;
        type_of_[words[1]] = words[0];
        switch (one.code) {
            case op::access_chain:
            case op::in_bounds_access_chain:
            case op::ptr_access_chain: return follow_chain(one);
            case op::load: return follow_load(words);
            case op::function_call: return follow_call(words);
            case op::composite_extract:
                if (is_block(words[2]) && words.size() > 3) return add(words[1], member_of_block(words[3]));
                break;
            default: break;
        }
        const bool atomic =
            (one.code >= op::atomic_load && one.code <= op::atomic_xor) || one.code == atomic_float_add;
        Origin origin;
        for (std::size_t i = 2; i < words.size(); ++i) {
            understood_ = understood_ && !is_block(words[i]);
            origin.add(at(words[i]));
        }
        if (atomic) use(origin);
        add(words[1], origin);
    }

    void follow_load(const std::vector<Word>& words) {
        const Word pointer = words[2];
        if (is_block(words[1])) return;
        Origin origin = at(root(pointer));
        // Data lie where an address says, and depend on what the place was computed of.
        origin.data |= at(pointer).addresses | at(pointer).data;
        const auto member = members_.find(pointer);
        if (member != members_.end()) origin = member->second;
        add(words[1], origin);
    }

    void follow_store(const Instruction& one) {
        const Word pointer = one.words[0];
        const Origin stored = at(one.words[one.code == op::atomic_store ? 3 : 1]);
        const Word target = root(pointer);
        const Word storage = storage_of(pointer);
        const bool local =
            storage == storage_workgroup || storage == storage_private || storage == storage_function;
        Origin origin = stored;
        if (one.code == op::copy_memory) origin.data |= stored.addresses;
        origin.data |= at(pointer).data;
        if (!local) use(origin);
        // Within the kernel: what is loaded from there.
        if (local) add(target, origin);
    }

    void follow_call(const std::vector<Word>& words) {
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
    void note_constants(const Instruction& one) {
        const std::vector<Word>& words = one.words;
        if (one.code == op::switch_on) {
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
        const bool compares = one.code >= op::i_equal && one.code <= op::s_less_than_equal;
        // kfgen writes remainders of signed integers by their quotients.
        const bool divides = one.code == op::s_div || (one.code >= op::u_mod && one.code <= op::s_mod);
        if (!compares && !divides && one.code != op::bitwise_and && one.code != op::ext_inst) return;
        const std::size_t first = one.code == op::ext_inst ? 4 : 2;
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
