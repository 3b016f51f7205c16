// Follows buffers through local arrays, and writes a switch where one is picked.
#include "slang/buffer_arrays.h"

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

constexpr std::uint32_t unknown = 0;
constexpr std::uint32_t several = 0xFFFFFFFF;

/// Which operand is the memory that an instruction reads or writes; 0: it does neither.
std::size_t memory_operand(std::uint32_t opcode) {
    if (opcode == op_store || opcode == op_atomic_store) return 1;
    return opcode == op_load || opcode == op_array_length || is_atomic(opcode) ? 3 : 0;
}

bool ends_block(std::uint32_t opcode) {
    return (opcode >= op_branch && opcode <= op_unreachable) || opcode == op_loop_merge ||
           opcode == op_selection_merge;
}

/// What of a module's types matters here.
class BufferTypes {
public:
    void add(const Words& words) {
        switch (opcode_of(words)) {
            case op_type_int:
                widths_[words[1]] = words[2];
                if (words[3] != 0) signed_.insert(words[1]);
                break;
            case op_type_float: floats_.insert(words[1]); break;
            case op_type_pointer: pointers_[words[1]] = {words[2], words[3]}; break;
            case op_type_array: arrays_[words[1]] = {words[2], constants_[words[3]]}; break;
            case op_constant: constants_[words[2]] = words[3]; break;
            default: break;
        }
    }

    [[nodiscard]] bool is_buffer(std::uint32_t type) const {
        const auto found = pointers_.find(type);
        return found != pointers_.end() && found->second.first == storage_buffer;
    }
    [[nodiscard]] bool is_array(std::uint32_t type) const { return arrays_.contains(type); }
    /// What a pointer leads to, or an array is made of.
    [[nodiscard]] std::uint32_t inner(std::uint32_t type) const {
        const auto array = arrays_.find(type);
        return array == arrays_.end() ? pointers_.at(type).second : array->second.first;
    }
    [[nodiscard]] std::size_t length(std::uint32_t array) const { return arrays_.at(array).second; }
    /// How many buffers a value of the type has; 0 where it isn't made of those alone.
    [[nodiscard]] std::size_t buffers(std::uint32_t type) const {
        if (is_buffer(type)) return 1;
        const auto array = arrays_.find(type);
        return array == arrays_.end() ? 0 : array->second.second * buffers(array->second.first);
    }
    [[nodiscard]] std::optional<std::uint32_t> constant(std::uint32_t id) const {
        const auto found = constants_.find(id);
        return found == constants_.end() ? std::nullopt : std::optional(found->second);
    }
    /// Bits of an integer type; 0 of other types.
    [[nodiscard]] std::size_t width(std::uint32_t type) const {
        const auto found = widths_.find(type);
        return found == widths_.end() ? 0 : found->second;
    }
    /// Words of one number of an integer type; 0 of other types.
    [[nodiscard]] std::size_t number_words(std::uint32_t type) const { return (width(type) + 31) / 32; }
    [[nodiscard]] bool is_signed(std::uint32_t type) const { return signed_.contains(type); }
    [[nodiscard]] bool is_number(std::uint32_t type) const {
        return floats_.contains(type) || widths_.contains(type);
    }

private:
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> pointers_;  // storage, type
    std::map<std::uint32_t, std::pair<std::uint32_t, std::size_t>> arrays_;      // type, length
    std::map<std::uint32_t, std::uint32_t> constants_;
    std::map<std::uint32_t, std::uint32_t> widths_;
    std::set<std::uint32_t> signed_;
    std::set<std::uint32_t> floats_;
};

/// An index that isn't known.
struct UnknownIndex {
    std::uint32_t id = 0;
    std::size_t length = 0;  ///< of the array
    std::size_t step = 0;    ///< in buffers, from element to element
};

/// Where in a variable an element is, or a part of the array.
struct ElementPlace {
    std::uint32_t variable = 0;
    std::uint32_t type = 0;
    std::size_t offset = 0;  ///< in buffers
    std::vector<UnknownIndex> indices;
};

/// Where a place may be, in buffers; the last index varies fastest.
std::vector<std::size_t> offsets_of(const ElementPlace& place) {
    std::vector<std::size_t> offsets{place.offset};
    for (const UnknownIndex& index : place.indices) {
        std::vector<std::size_t> longer;
        for (const std::size_t offset : offsets) {
            for (std::size_t i = 0; i < index.length; ++i) longer.push_back(offset + i * index.step);
        }
        offsets = std::move(longer);
    }
    return offsets;
}

/// Which buffers variables and values hold.
class HeldBuffers {
public:
    explicit HeldBuffers(const BufferTypes& types) : types_(types) {}

    /// Notes what an instruction makes or stores; again, until nothing new is found.
    void add(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        if (opcode == op_variable) return add_variable(words);
        if (opcode == op_store) return add_store(words);
        if (words.size() < 3) return;
        if (opcode == op_copy_memory) return lose(words[1]);
        if (opcode == op_function_call) {
            // It may store to what its arguments point to.
            for (std::size_t i = 4; i < words.size(); ++i) lose(words[i]);
        }
        if (leads_into(opcode) && place_of(words[3])) return add_place(words);
        const std::size_t count = types_.buffers(words[1]);
        if (count == 0) return;
        Words& made = values_.try_emplace(words[2], Words(count, unknown)).first->second;
        types_of_[words[2]] = words[1];
        switch (opcode) {
            case op_undef:
            case op_constant_null: return;
            case op_load: return load(words, made);
            case op_composite_construct: {
                Words all;
                for (std::size_t i = 3; i < words.size(); ++i) {
                    const Words part = value_of(words[i]);
                    all.insert(all.end(), part.begin(), part.end());
                }
                return join(made, 0, all.size() == count ? all : Words(count, several));
            }
            case op_composite_extract: {
                const auto [offset, whole] = part_of(words[3], {words.begin() + 4, words.end()});
                if (offset + count <= whole.size())
                    join(made, 0,
                         {whole.begin() + static_cast<std::ptrdiff_t>(offset),
                          whole.begin() + static_cast<std::ptrdiff_t>(offset + count)});
                return;
            }
            case op_composite_insert: {
                const auto [offset, whole] = part_of(words[4], {words.begin() + 5, words.end()});
                Words changed = whole;
                const Words part = value_of(words[3]);
                for (std::size_t i = 0; i < part.size() && offset + i < changed.size(); ++i)
                    changed[offset + i] = part[i];
                return join(made, 0, changed);
            }
            case op_copy_object:
                if (const auto place = selected_.find(words[3]); place != selected_.end()) {
                    selected_[words[2]] = place->second;
                    return join(made, 0, {several});
                }
                return join(made, 0, value_of(words[3]));
            case op_phi:
                for (std::size_t i = 3; i + 1 < words.size(); i += 2) join(made, 0, value_of(words[i]));
                return;
            case op_select: join(made, 0, value_of(words[4])); return join(made, 0, value_of(words[5]));
            default: join(made, 0, Words(count, several));
        }
    }

    [[nodiscard]] bool changes() { return std::exchange(changes_, false); }
    [[nodiscard]] bool has_arrays() const { return !arrays_.empty(); }
    [[nodiscard]] bool is_array(std::uint32_t variable) const { return arrays_.contains(variable); }
    [[nodiscard]] bool is_place(std::uint32_t id) const { return places_.contains(id); }
    [[nodiscard]] const ElementPlace* selection(std::uint32_t id) const {
        const auto found = selected_.find(id);
        return found == selected_.end() ? nullptr : &found->second;
    }
    /// The buffer that a value is; unknown or several where it isn't one.
    [[nodiscard]] std::uint32_t buffer(std::uint32_t value) const {
        const auto found = values_.find(value);
        return found == values_.end() || found->second.size() != 1 ? unknown : found->second.front();
    }
    [[nodiscard]] std::uint32_t element(const ElementPlace& place, std::size_t offset) const {
        const Words& all = variables_.at(place.variable).second;
        return offset < all.size() ? all[offset] : unknown;
    }

private:
    void add_variable(const Words& words) {
        const std::uint32_t held = types_.inner(words[1]);
        if (words[3] == storage_buffer) {
            values_[words[2]] = {words[2]};
        } else if (words[3] == storage_function && types_.buffers(held) > 0) {
            variables_.try_emplace(words[2], held, Words(types_.buffers(held), unknown));
            if (types_.is_array(held)) arrays_.insert(words[2]);
        }
    }

    void add_place(const Words& words) {
        const std::optional<ElementPlace> base = place_of(words[3]);
        if (!base) return;
        ElementPlace place = *base;
        for (std::size_t i = 4; i < words.size(); ++i) {
            if (!types_.is_array(place.type)) return;
            const std::size_t length = types_.length(place.type);
            place.type = types_.inner(place.type);
            const std::size_t step = types_.buffers(place.type);
            if (const auto index = types_.constant(words[i])) {
                place.offset += *index * step;
            } else {
                place.indices.push_back({words[i], length, step});
            }
        }
        places_[words[2]] = place;
    }

    void add_store(const Words& words) {
        const std::optional<ElementPlace> place = place_of(words[1]);
        if (!place) return;
        Words& all = variables_.at(place->variable).second;
        Words stored = value_of(words[2]);
        if (stored.empty()) stored.assign(types_.buffers(place->type), several);
        for (const std::size_t offset : offsets_of(*place)) join(all, offset, stored);
    }

    /// Notes that anything may be stored there, if it is a variable that we follow.
    void lose(std::uint32_t id) {
        const std::optional<ElementPlace> place = place_of(id);
        if (!place) return;
        for (const std::size_t offset : offsets_of(*place))
            join(variables_.at(place->variable).second, offset, Words(types_.buffers(place->type), several));
    }

    void load(const Words& words, Words& made) {
        const std::optional<ElementPlace> place = place_of(words[3]);
        if (!place) return join(made, 0, Words(made.size(), several));
        if (!place->indices.empty() && types_.is_buffer(place->type)) {
            selected_[words[2]] = *place;
            return join(made, 0, {several});
        }
        if (!place->indices.empty()) return join(made, 0, Words(made.size(), several));
        Words loaded;
        for (std::size_t i = 0; i < made.size(); ++i) loaded.push_back(element(*place, place->offset + i));
        join(made, 0, loaded);
    }

    [[nodiscard]] std::optional<ElementPlace> place_of(std::uint32_t id) const {
        if (const auto found = places_.find(id); found != places_.end()) return found->second;
        const auto variable = variables_.find(id);
        if (variable == variables_.end()) return std::nullopt;
        return ElementPlace{id, variable->second.first, 0, {}};
    }

    [[nodiscard]] Words value_of(std::uint32_t id) const {
        const auto found = values_.find(id);
        return found == values_.end() ? Words() : found->second;
    }

    /// What a composite holds, and where in it literal indices lead.
    [[nodiscard]] std::pair<std::size_t, Words> part_of(std::uint32_t composite, const Words& path) const {
        const Words whole = value_of(composite);
        const auto type_of = types_of_.find(composite);
        if (type_of == types_of_.end()) return {whole.size(), whole};
        std::uint32_t type = type_of->second;
        std::size_t offset = 0;
        for (const std::uint32_t index : path) {
            if (!types_.is_array(type)) return {whole.size(), whole};
            type = types_.inner(type);
            offset += index * types_.buffers(type);
        }
        return {offset, whole};
    }

    void join(Words& into, std::size_t offset, const Words& from) {
        for (std::size_t i = 0; i < from.size() && offset + i < into.size(); ++i) {
            std::uint32_t& known = into[offset + i];
            if (from[i] == unknown || known == from[i] || known == several) continue;
            known = known == unknown ? from[i] : several;
            changes_ = true;
        }
    }

    const BufferTypes& types_;
    std::map<std::uint32_t, Words> values_;
    std::map<std::uint32_t, std::uint32_t> types_of_;
    std::map<std::uint32_t, std::pair<std::uint32_t, Words>> variables_;  // type, and what they hold
    std::set<std::uint32_t> arrays_;                                      // those that are
    std::map<std::uint32_t, ElementPlace> places_;                        // by access chain
    std::map<std::uint32_t, ElementPlace> selected_;                      // by pointer
    bool changes_ = false;
};

/// The operands of an instruction that are ids of values; what is left out are literals and labels.
Words values_used(const Words& words) {
    const std::uint32_t opcode = opcode_of(words);
    std::size_t first = 1;
    std::size_t end = words.size();
    switch (opcode) {
        case op_line:
        case op_no_line:
        case op_loop_merge:
        case op_selection_merge:
        case op_branch: return {};
        case op_branch_conditional:
        case op_switch: end = 2; break;
        case op_store: end = std::min<std::size_t>(end, 3); break;
        case op_load:
        case op_array_length:
        case op_composite_extract: end = std::min<std::size_t>(end, 4); break;
        case op_composite_insert:
        case op_vector_shuffle: end = std::min<std::size_t>(end, 5); break;
        case op_ext_inst: first = std::min<std::size_t>(end, 5); break;
        default: break;
    }
    return {words.begin() + static_cast<std::ptrdiff_t>(first),
            words.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// The instructions of a module, and what it says of buffers.
class ArrayModule {
public:
    explicit ArrayModule(const std::string& code) : module_(code) {
        for (const Words& words : module_.instructions()) {
            types_.add(words);
            if (words.size() >= 3 && opcode_of(words) >= op_constant_true &&
                types_.number_words(words[1]) > 0)
                number_types_[words[2]] = words[1];
        }
    }

    [[nodiscard]] bool is_whole() const { return module_.is_whole(); }

    /// Whether there are arrays of buffers; then it is known what they hold.
    bool has_arrays() {
        // Loops carry values back: what is found in one pass was missing in the one before.
        do {
            for (const Words& words : module_.instructions()) contents_.add(words);
        } while (contents_.changes());
        // Where no index is left open, only values remain, which nothing uses.
        return contents_.has_arrays() ||
               std::any_of(
                   module_.instructions().begin(), module_.instructions().end(), [&](const Words& words) {
                       return opcode_of(words) == op_composite_construct && types_.buffers(words[1]) > 0;
                   });
    }

    /// Writes the module without arrays; false where it can't.
    bool settle() {
        if (!find_dropped() || !is_closed()) return false;
        module_.write_all([&](const Words& words) { return picks(words) != nullptr; },
                          [&](const Words& words) { write(words); });
        return true;
    }

    [[nodiscard]] std::string code() const { return module_.code(); }

private:
    /// A pointer that an index picks, and what leads on from there.
    struct Picked {
        ElementPlace place;
        std::vector<Words> chain;
    };

    /// Finds what is left out: arrays, what is stored to them, and pointers that switches are to make.
    bool find_dropped() {
        bool in_function = false;
        for (const Words& words : module_.instructions()) {
            const std::uint32_t opcode = opcode_of(words);
            in_function = in_function || opcode == op_function;
            if (words.size() < 3 || !in_function) continue;
            const std::uint32_t made = words[2];
            if (opcode == op_variable ? contents_.is_array(made)
                                      : leads_into(opcode) && contents_.is_place(made))
                dropped_.insert(made);
            if (const auto base = leads_into(opcode) ? picked_.find(words[3]) : picked_.end();
                base != picked_.end()) {
                Picked longer = base->second;
                longer.chain.push_back(words);
                picked_[made] = std::move(longer);
                dropped_.insert(made);
            }
            if (opcode == op_variable || types_.buffers(words[1]) == 0) continue;
            if (const ElementPlace* place = contents_.selection(made)) {
                if (candidates(*place).empty()) return false;
                picked_[made] = {*place, {}};
                dropped_.insert(made);
            } else if (types_.is_array(words[1])) {
                dropped_.insert(made);
            } else if ((opcode == op_load || opcode == op_composite_extract) && dropped_.contains(words[3])) {
                const std::uint32_t buffer = contents_.buffer(made);
                if (buffer == unknown || buffer == several) return false;
                known_[made] = buffer;
            }
        }
        return true;
    }

    /// Whether nothing that stays needs what is left out.
    [[nodiscard]] bool is_closed() const {
        const auto functions =
            std::find_if(module_.instructions().begin(), module_.instructions().end(),
                         [](const Words& words) { return opcode_of(words) == op_function; });
        return std::all_of(functions, module_.instructions().end(), [&](const Words& words) {
            if (is_dropped(words) || is_known(words)) return true;
            const Picked* picked = picks(words);
            if (picked != nullptr && !is_safe(*picked)) return false;
            const std::size_t memory = picked != nullptr ? memory_operand(opcode_of(words)) : 0;
            Words used = values_used(words);
            if (memory > 0) used.erase(used.begin() + static_cast<std::ptrdiff_t>(memory) - 1);
            return std::none_of(used.begin(), used.end(),
                                [&](std::uint32_t id) { return dropped_.contains(id); });
        });
    }

    /// Whether drivers get the switch right. NVIDIA's for Vulkan (580) mixes up the components of vectors and
    /// the fields of structs that several switches read and write; numbers are right.
    [[nodiscard]] bool is_safe(const Picked& picked) const {
        if (picked.chain.empty() || candidates(picked.place).size() == 1) return true;
        std::size_t indices = 0;
        for (const Words& step : picked.chain) indices += step.size() - 4;
        constexpr std::size_t to_an_element = 2;  // the array in the block, the element in the array
        return indices == to_an_element && types_.is_number(types_.inner(picked.chain.back()[1]));
    }

    [[nodiscard]] bool is_dropped(const Words& words) const {
        const std::uint32_t opcode = opcode_of(words);
        if (opcode == op_name || opcode == op_decorate || opcode == op_store)
            return words.size() > 1 && dropped_.contains(words[1]) &&
                   (opcode != op_store || !picked_.contains(words[1]));
        return opcode > op_function && words.size() > 2 && opcode != op_store && opcode != op_copy_memory &&
               dropped_.contains(words[2]) && memory_operand(opcode) != 1 && !ends_block(opcode);
    }
    [[nodiscard]] bool is_known(const Words& words) const {
        const std::uint32_t opcode = opcode_of(words);
        return (opcode == op_load || opcode == op_composite_extract) && known_.contains(words[2]);
    }
    /// What an instruction reads or writes through a pointer that an index picks; null where it doesn't.
    [[nodiscard]] const Picked* picks(const Words& words) const {
        const std::size_t memory = memory_operand(opcode_of(words));
        if (memory == 0 || memory >= words.size()) return nullptr;
        const auto found = picked_.find(words[memory]);
        return found == picked_.end() ? nullptr : &found->second;
    }

    /// The buffers that indices may pick, the last one's varying fastest; none where some element isn't one
    /// buffer alone.
    [[nodiscard]] Words candidates(const ElementPlace& place) const {
        for (const UnknownIndex& index : place.indices) {
            if (!can_be_joined(index.id, place.indices.front().id)) return {};
        }
        Words buffers;
        for (const std::size_t offset : offsets_of(place))
            buffers.push_back(contents_.element(place, offset));
        const auto known = std::find_if(buffers.begin(), buffers.end(),
                                        [](std::uint32_t buffer) { return buffer != unknown; });
        if (known == buffers.end() || std::find(known, buffers.end(), several) != buffers.end()) return {};
        // Nobody reads an element that nothing was stored to.
        std::replace(buffers.begin(), buffers.end(), unknown, std::uint32_t{*known});
        if (std::equal(buffers.begin() + 1, buffers.end(), buffers.begin())) buffers.resize(1);
        return buffers;
    }

    /// Whether a number can be added to another one: few bits don't hold what the sum may be.
    [[nodiscard]] bool can_be_joined(std::uint32_t number, std::uint32_t to) const {
        const auto own = number_types_.find(number);
        const auto other = number_types_.find(to);
        if (own == number_types_.end() || other == number_types_.end()) return false;
        constexpr std::size_t many = 32;
        return own->second == other->second ||
               (types_.width(own->second) >= many && types_.width(other->second) >= many);
    }

    /// The number as one of the type. One that the conversion changes is outside of every array.
    std::uint32_t converted(std::uint32_t number, std::uint32_t type) {
        const std::uint32_t own = number_types_.at(number);
        if (own == type) return number;
        const bool is_as_wide = types_.width(own) == types_.width(type);
        const bool has_signs = types_.is_signed(own) || types_.is_signed(type);
        const std::uint32_t made = module_.next_id();
        module_.put(is_as_wide ? op_bitcast : has_signs ? op_s_convert : op_u_convert, {type, made, number});
        return made;
    }

    void write(const Words& words) {
        if (const Picked* picked = picks(words)) {
            write_access(words, *picked);
        } else if (is_known(words)) {
            module_.put(op_copy_object, {words[1], words[2], known_.at(words[2])});
        } else if (!is_dropped(words)) {
            module_.put(words);
        }
    }

    /// One number for all indices.
    std::uint32_t linear_index(const ElementPlace& place) {
        std::uint32_t sum = place.indices.front().id;
        const std::uint32_t type = number_types_.at(sum);
        for (std::size_t i = 1; i < place.indices.size(); ++i) {
            const std::uint32_t index = converted(place.indices[i].id, type);
            Words extent{static_cast<std::uint32_t>(place.indices[i].length)};
            extent.resize(types_.number_words(type), 0);
            const std::uint32_t length = module_.put_constant(type, extent);
            const std::uint32_t product = module_.next_id();
            module_.put(op_i_mul, {type, product, sum, length});
            sum = module_.next_id();
            module_.put(op_i_add, {type, sum, product, index});
        }
        return sum;
    }

    /// Writes what leads on from a buffer, and returns the pointer at the end.
    std::uint32_t write_chain(const Picked& picked, std::uint32_t buffer) {
        std::uint32_t pointer = buffer;
        for (Words step : picked.chain) {
            step[3] = pointer;
            step[2] = pointer = module_.next_id();
            module_.put(std::move(step));
        }
        return pointer;
    }

    /// Reads or writes the buffer that the indices pick.
    void write_access(const Words& words, const Picked& picked) {
        const Words buffers = candidates(picked.place);
        const std::size_t memory = memory_operand(opcode_of(words));
        const bool makes_value = memory == 3;
        const bool has_switch = buffers.size() > 1;
        const auto write_case = [&](std::size_t i) {
            Words access = words;
            access[memory] = write_chain(picked, buffers[i]);
            if (has_switch && makes_value) access[2] = module_.next_id();
            const std::uint32_t result = access[2];
            module_.put(std::move(access));
            return result;
        };
        if (!has_switch) {
            write_case(0);
            return;
        }
        const std::uint32_t index = linear_index(picked.place);
        const std::size_t index_words =
            types_.number_words(number_types_.at(picked.place.indices.front().id));
        module_.put_switch(
            index, index_words, buffers.size(),
            makes_value ? std::optional(SpirvRewriter::Made{words[1], words[2]}) : std::nullopt, write_case);
    }

    SpirvRewriter module_;
    BufferTypes types_;
    HeldBuffers contents_{types_};
    std::map<std::uint32_t, std::uint32_t> number_types_;  // of values that are integers
    std::set<std::uint32_t> dropped_;
    std::map<std::uint32_t, Picked> picked_;
    std::map<std::uint32_t, std::uint32_t> known_;  // pointers that turn out to be one buffer
};

}  // namespace

BufferArrays settle_buffer_arrays(std::string& code) {
    ArrayModule module(code);
    if (!module.is_whole()) return BufferArrays::no_spirv;
    if (!module.has_arrays()) return BufferArrays::settled;
    if (!module.settle()) return BufferArrays::unsettled;
    code = module.code();
    return BufferArrays::settled;
}

}  // namespace kf::gen
