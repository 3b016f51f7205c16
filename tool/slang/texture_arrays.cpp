// Makes a variable of each element, and writes a switch where one is picked.
#include "slang/texture_arrays.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "slang/spirv_rewriter.h"

namespace kf::gen {

namespace {

using namespace spirv;

/// The most cases of one switch.
constexpr std::size_t most_cases = 256;

/// Which operands of an instruction may be an image, a sampler, both in one, or a texel's place.
std::vector<std::size_t> image_operands(std::uint32_t opcode) {
    if (opcode == op_sampled_image) return {3, 4};
    if (opcode == op_image_write || opcode == op_atomic_store) return {1};
    const bool reads = opcode >= op_image_first && opcode <= op_image_last;
    return reads || is_atomic(opcode) || opcode == op_image_texel_pointer || opcode == op_copy_object
               ? std::vector<std::size_t>{3}
               : std::vector<std::size_t>();
}

/// Whether it makes a part of what another instruction then uses, so that it goes into that one's switch.
bool is_part(std::uint32_t opcode) {
    return opcode == op_load || opcode == op_sampled_image || opcode == op_image ||
           opcode == op_image_texel_pointer || opcode == op_copy_object;
}

/// Behind the words of such an instruction that may be parts; what follows may be literals, which look like
/// ids.
std::size_t end_of_parts(const Words& words) { return opcode_of(words) == op_sampled_image ? 5 : 4; }

struct ResourceArray {
    std::uint32_t element = 0;         ///< the type
    std::uint32_t pointer = 0;         ///< the type of an element's variable; 0: there is none yet
    std::vector<std::size_t> lengths;  ///< the outermost first
    Words elements;                    ///< variables

    [[nodiscard]] std::size_t count() const {
        std::size_t all = 1;
        for (const std::size_t length : lengths) all *= length;
        return all;
    }
};

/// An element that isn't known until the kernel runs.
struct Pick {
    std::uint32_t variable = 0;
    Words indices;  ///< ids, one for each of the array's lengths

    bool operator==(const Pick&) const = default;
};

class ArrayModule {
public:
    explicit ArrayModule(const std::string& code) : module_(code) {
        for (const Words& words : module_.instructions()) note(words);
    }

    [[nodiscard]] bool is_whole() const { return module_.is_whole(); }
    [[nodiscard]] bool has_arrays() const { return !arrays_.empty(); }

    /// Writes the module without arrays; false where it can't.
    bool settle() {
        if (!is_closed_) return false;
        for (auto& [variable, array] : arrays_) {
            for (std::size_t i = 0; i < array.count(); ++i) array.elements.push_back(module_.next_id());
            if (array.pointer != 0) continue;
            array.pointer = module_.next_id();
            new_pointers_.insert(variable);
        }
        for (const Words& words : module_.instructions()) note_use(words);
        bool in_functions = false;
        module_.write_all([&](const Words& words) { return is_use(words); },
                          [&](const Words& words) {
                              in_functions = in_functions || opcode_of(words) == op_function;
                              if (in_functions)
                                  write_instruction(words);
                              else
                                  write_declaration(words);
                          });
        return is_closed_;
    }

    [[nodiscard]] std::string code() const { return module_.code(); }

private:
    void note(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        const auto operand = [&](std::size_t i) { return i < words.size() ? words[i] : 0; };
        switch (opcode) {
            case op_type_int:
                if (operand(2) == 32) integers_.insert(words[1]);
                return;
            case op_type_image:
            case op_type_sampler:
            case op_type_sampled_image: resources_.insert(words[1]); return;
            case op_type_array:
                lengths_[words[1]] = {operand(2),
                                      constants_of_.contains(operand(3)) ? constants_of_.at(operand(3)) : 0};
                return;
            case op_type_pointer: pointers_[words[1]] = {operand(2), operand(3)}; return;
            case op_constant:
                if (integers_.contains(operand(1))) constants_of_[operand(2)] = operand(3);
                break;
            case op_variable: note_variable(words); return;
            default: break;
        }
        if (words.size() >= 3 && opcode >= op_constant_true && integers_.contains(words[1]))
            types_[words[2]] = words[1];
    }

    void note_variable(const Words& words) {
        const auto pointed = pointers_.find(words[1]);
        if (words.size() < 4 || words[3] != storage_uniform_constant || pointed == pointers_.end()) return;
        ResourceArray array;
        std::uint32_t type = pointed->second.second;
        for (auto length = lengths_.find(type); length != lengths_.end(); length = lengths_.find(type)) {
            array.lengths.push_back(length->second.second);
            type = length->second.first;
        }
        if (array.lengths.empty() || !resources_.contains(type)) return;
        if (array.count() == 0) is_closed_ = false;  // not a number: one that is specialized
        array.element = type;
        for (const auto& [id, pointer] : pointers_)
            if (pointer.first == storage_uniform_constant && pointer.second == type) array.pointer = id;
        arrays_.emplace(words[2], std::move(array));
    }

    /// Outside of blocks: names, decorations and the variables themselves.
    void write_declaration(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        if (opcode == op_entry_point) return write_entry_point(words);
        const bool is_said = opcode == op_name || opcode == op_decorate;
        if (is_said && (chains_.contains(words[1]) || parts_.contains(words[1]))) return;
        const auto array =
            words.size() > 2 ? arrays_.find(words[opcode == op_variable ? 2 : 1]) : arrays_.end();
        if (array == arrays_.end() || (!is_said && opcode != op_variable)) {
            module_.put(words);
            return;
        }
        const ResourceArray& split = array->second;
        if (opcode == op_variable && new_pointers_.contains(array->first))
            module_.put(op_type_pointer, {split.pointer, storage_uniform_constant, split.element});
        for (std::size_t i = 0; i < split.elements.size(); ++i) {
            Words one = words;
            if (opcode == op_variable) {
                one[1] = split.pointer;
                one[2] = split.elements[i];
            } else {
                one[1] = split.elements[i];
                if (opcode == op_decorate && words.size() > 3 && words[2] == decoration_binding)
                    one[3] += static_cast<std::uint32_t>(i);
            }
            module_.put(std::move(one));
        }
    }

    /// It lists the variables, behind its name.
    void write_entry_point(const Words& words) {
        Words listed;
        std::size_t name = 3;
        const auto ends = [](std::uint32_t word) {
            for (int byte = 0; byte < 4; ++byte)
                if ((word >> (8 * byte) & 0xFFU) == 0) return true;
            return false;
        };
        while (name < words.size() && !ends(words[name])) ++name;
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto array = i > name ? arrays_.find(words[i]) : arrays_.end();
            if (array == arrays_.end()) {
                listed.push_back(words[i]);
            } else {
                listed.insert(listed.end(), array->second.elements.begin(), array->second.elements.end());
            }
        }
        module_.put(op_entry_point, listed);
    }

    /// Notes what an instruction makes of an array.
    void note_use(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        if (words.size() < 4) return;
        if (leads_into(opcode)) {
            const auto array = arrays_.find(words[3]);
            if (array != arrays_.end()) note_chain(words, array->second);
        } else if (is_part(opcode) && (chains_.contains(words[3]) || takes_part(words))) {
            parts_[words[2]] = words;
        }
    }

    [[nodiscard]] bool takes_part(const Words& words) const {
        const std::vector<std::size_t> operands = image_operands(opcode_of(words));
        return std::any_of(operands.begin(), operands.end(), [&](std::size_t operand) {
            return operand < words.size() && parts_.contains(words[operand]);
        });
    }

    /// Returns whether it uses an element, and makes no part of another use.
    [[nodiscard]] bool is_use(const Words& words) const {
        return takes_part(words) && !is_part(opcode_of(words));
    }

    /// An element's place: known, or picked by indices.
    void note_chain(const Words& words, const ResourceArray& array) {
        Pick pick{words[3], {words.begin() + 4, words.end()}};
        if (pick.indices.size() != array.lengths.size()) {
            is_closed_ = false;
            return;
        }
        chains_[words[2]] = std::move(pick);
    }

    void write_instruction(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        const bool has_result = words.size() > 2;
        if (has_result && ((leads_into(opcode) && chains_.contains(words[2])) ||
                           (is_part(opcode) && parts_.contains(words[2]))))
            return;
        if (is_use(words)) return write_use(words);
        if (opcode != op_store && has_result) {
            for (std::size_t i = 3; i < words.size(); ++i) {
                // Literals may look like ids, in instructions that have nothing to do with arrays.
                const bool may_hold = opcode == op_function_call || opcode == op_load || opcode == op_phi ||
                                      opcode == op_select || opcode == op_composite_construct;
                if (may_hold &&
                    (arrays_.contains(words[i]) || chains_.contains(words[i]) || parts_.contains(words[i])))
                    is_closed_ = false;
            }
        }
        module_.put(words);
    }

    /// What an operand needs to be known, in order.
    void find_picks(std::uint32_t id, std::vector<Pick>& picks) const {
        const auto part = parts_.find(id);
        const auto chain = chains_.find(id);
        if (chain != chains_.end()) {
            if (!offset_of(chain->second) &&
                std::find(picks.begin(), picks.end(), chain->second) == picks.end())
                picks.push_back(chain->second);
        } else if (part != parts_.end()) {
            const std::size_t end = std::min(end_of_parts(part->second), part->second.size());
            for (std::size_t i = 3; i < end; ++i) find_picks(part->second[i], picks);
        }
    }

    /// The element where all indices are known.
    [[nodiscard]] std::optional<std::size_t> offset_of(const Pick& pick) const {
        const ResourceArray& array = arrays_.at(pick.variable);
        std::size_t offset = 0;
        for (std::size_t i = 0; i < pick.indices.size(); ++i) {
            const auto index = constants_of_.find(pick.indices[i]);
            if (index == constants_of_.end()) return std::nullopt;
            offset = offset * array.lengths[i] + index->second;
        }
        return std::min(offset, array.count() - 1);
    }

    /// Writes an instruction with what leads to its texture, once for each element that it may be.
    void write_use(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        std::vector<Pick> picks;
        for (const std::size_t operand : image_operands(opcode)) find_picks(words[operand], picks);
        std::size_t cases = 1;
        for (const Pick& pick : picks) cases *= arrays_.at(pick.variable).count();
        if (cases > most_cases) is_closed_ = false;
        if (!is_closed_) return;
        if (picks.empty()) {
            write_case(words, picks, 0, 0);
            return;
        }
        const bool has_result = image_operands(opcode).front() == 3;
        const std::uint32_t index = linear_index(picks);
        if (index == 0) return;
        module_.put_switch(index, 1, cases,
                           has_result ? std::optional(SpirvRewriter::Made{words[1], words[2]}) : std::nullopt,
                           [&](std::size_t i) {
                               const std::uint32_t result = has_result ? module_.next_id() : 0;
                               write_case(words, picks, i, result);
                               return result;
                           });
    }

    /// `result`: the id of what it makes; 0: its own.
    void write_case(const Words& words, const std::vector<Pick>& picks, std::size_t number,
                    std::uint32_t result) {
        std::map<std::uint32_t, std::uint32_t> made;
        Words use = words;
        for (const std::size_t operand : image_operands(opcode_of(words)))
            use[operand] = write_part(words[operand], picks, number, made);
        if (result != 0) use[2] = result;
        module_.put(std::move(use));
    }

    /// Writes what leads to a value in one case, and returns the value there.
    std::uint32_t write_part(std::uint32_t id, const std::vector<Pick>& picks, std::size_t number,
                             std::map<std::uint32_t, std::uint32_t>& made) {
        if (const auto chain = chains_.find(id); chain != chains_.end()) {
            const Words& elements = arrays_.at(chain->second.variable).elements;
            const std::optional<std::size_t> known = offset_of(chain->second);
            return elements[known ? *known : picked(chain->second, picks, number)];
        }
        const auto part = parts_.find(id);
        if (part == parts_.end()) return id;
        if (const auto known = made.find(id); known != made.end()) return known->second;
        Words copy = part->second;
        const std::size_t end = std::min(end_of_parts(copy), copy.size());
        for (std::size_t i = 3; i < end; ++i) copy[i] = write_part(copy[i], picks, number, made);
        copy[2] = made[id] = module_.next_id();
        module_.put(std::move(copy));
        return made[id];
    }

    /// Which element of its array a pick is in a case; the last pick's varies fastest.
    [[nodiscard]] std::size_t picked(const Pick& pick, const std::vector<Pick>& picks,
                                     std::size_t number) const {
        for (std::size_t i = picks.size(); i-- > 0;) {
            const std::size_t count = arrays_.at(picks[i].variable).count();
            if (picks[i] == pick) return number % count;
            number /= count;
        }
        return 0;
    }

    /// One number for all indices; 0 where they aren't numbers of 32 bits.
    std::uint32_t linear_index(const std::vector<Pick>& picks) {
        std::uint32_t sum = 0;
        std::uint32_t type = 0;
        for (const Pick& pick : picks) {
            const ResourceArray& array = arrays_.at(pick.variable);
            for (std::size_t i = 0; i < pick.indices.size(); ++i) {
                std::uint32_t index = pick.indices[i];
                const auto own = types_.find(index);
                if (own == types_.end()) {
                    is_closed_ = false;
                    return 0;
                }
                if (sum == 0) {
                    sum = index;
                    type = own->second;
                    continue;
                }
                if (own->second != type) {
                    const std::uint32_t same = module_.next_id();
                    module_.put(op_bitcast, {type, same, index});
                    index = same;
                }
                const std::uint32_t length =
                    module_.put_constant(type, {static_cast<std::uint32_t>(array.lengths[i])});
                const std::uint32_t product = module_.next_id();
                module_.put(op_i_mul, {type, product, sum, length});
                sum = module_.next_id();
                module_.put(op_i_add, {type, sum, product, index});
            }
        }
        return sum;
    }

    SpirvRewriter module_;
    bool is_closed_ = true;              ///< nothing needs an array as a whole
    std::set<std::uint32_t> integers_;   // types of 32 bits
    std::set<std::uint32_t> resources_;  // types
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> pointers_;  // storage, type
    std::map<std::uint32_t, std::pair<std::uint32_t, std::size_t>> lengths_;     // of arrays: type, length
    std::map<std::uint32_t, std::uint32_t> constants_of_;
    std::map<std::uint32_t, std::uint32_t> types_;  // of values that are such integers
    std::map<std::uint32_t, ResourceArray> arrays_;
    std::set<std::uint32_t> new_pointers_;  // arrays whose elements' pointer type is new
    std::map<std::uint32_t, Pick> chains_;
    std::map<std::uint32_t, Words> parts_;
};

}  // namespace

TextureArrays settle_texture_arrays(std::string& code) {
    ArrayModule module(code);
    if (!module.is_whole()) return TextureArrays::no_spirv;
    if (!module.has_arrays()) return TextureArrays::settled;
    if (!module.settle()) return TextureArrays::unsettled;
    code = module.code();
    return TextureArrays::settled;
}

}  // namespace kf::gen
