// Walks the module twice: for what leads to resources, and to write the checks.
#include "slang/checked_accesses.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "slang/spirv_rewriter.h"

namespace kf::gen {

namespace {

using namespace spirv;

constexpr std::string_view check_name = "kf_check_access";
constexpr std::string_view marker_name = "kf_marked_index";
constexpr std::size_t most_dimensions = 4;

/// What a pointer leads to: a variable, and the indices on the way.
struct Place {
    std::uint32_t variable = 0;
    Words indices;
};

/// An element of a buffer, on the way to a place.
struct Element {
    std::size_t at = 0;       ///< which of the indices it is
    std::uint32_t array = 0;  ///< the type
};

/// What is compared before an access.
struct Check {
    std::uint32_t number = 0;  ///< of the resource
    std::uint32_t unit = 1;
    std::uint32_t site = 0;
    Words indices;  ///< ids of wide integers
    Words extents;
    std::uint32_t dimensions = 0;  ///< how many of them count, as a value; 0: all
};

/// The operands that are pointers to what the instruction reads or writes.
std::vector<std::size_t> accessed_operands(std::uint32_t opcode) {
    if (opcode == op_store || opcode == op_atomic_store) return {1};
    if (opcode == op_load || is_atomic(opcode)) return {3};
    if (opcode == op_copy_memory) return {1, 2};
    return {};
}

bool accesses_image(std::uint32_t opcode) {
    return opcode == op_image_fetch || opcode == op_image_read || opcode == op_image_write;
}

/// Instructions whose operands may be numbers that look like ids.
bool has_literals(std::uint32_t opcode) {
    return opcode == op_composite_extract || opcode == op_composite_insert || opcode == op_vector_shuffle ||
           opcode == op_switch || opcode == op_ext_inst || opcode == op_line;
}

class CheckedModule {
public:
    explicit CheckedModule(const std::string& code) : module_(code) {
        for (const Words& words : module_.instructions()) note(words);
    }

    [[nodiscard]] bool is_whole() const { return module_.is_whole() && has_check_types(); }
    [[nodiscard]] bool can_check() const {
        return std::all_of(module_.instructions().begin(), module_.instructions().end(),
                           [&](const Words& words) { return can_check(words); });
    }

    std::string written() {
        module_.write_all([&](const Words& words) { return is_checked(words); },
                          [&](const Words& words) { write(words); });
        return module_.code();
    }

private:
    // ---- What there is ----

    void note(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        const auto operand = [&](std::size_t i) { return i < words.size() ? words[i] : 0; };
        if (opcode == op_name) {
            if (text_of(words, 2).starts_with(check_name)) named_checks_.insert(words[1]);
            if (text_of(words, 2).starts_with(marker_name)) markers_.insert(words[1]);
        } else if (opcode == op_decorate) {
            decorations_[{words[1], words[2]}] = operand(3);
        } else if (opcode == op_capability) {
            can_query_ = can_query_ || words[1] == capability_image_query;
        } else if (declares_type(opcode)) {
            types_[words[1]] = words;
        } else if (words.size() > 2 && types_.contains(words[1])) {
            values_[words[2]] = words;
            note_value(words);
        }
    }

    void note_value(const Words& words) {
        const std::uint32_t id = words[2];
        switch (opcode_of(words)) {
            case op_function:
                if (named_checks_.contains(id)) check_ = words;
                break;
            case op_variable:
                if (words[3] == storage_buffer || words[3] == storage_uniform_constant)
                    places_[id] = {id, {}};
                break;
            case op_access_chain:
            case op_in_bounds_access_chain:
                if (const auto base = places_.find(words[3]); base != places_.end()) {
                    Place place = base->second;
                    place.indices.insert(place.indices.end(), words.begin() + 4, words.end());
                    places_[id] = std::move(place);
                }
                break;
            case op_copy_object:
            case op_image:
            case op_load:
                if (const auto place = places_.find(words[3]); place != places_.end()) {
                    if (opcode_of(words) == op_copy_object) places_[id] = place->second;
                    if (is_image(words[1])) images_[id] = place->second;
                } else if (const auto image = images_.find(words[3]); image != images_.end()) {
                    images_[id] = image->second;
                }
                break;
            case op_image_texel_pointer: texels_[id] = words; break;
            default: break;
        }
    }

    [[nodiscard]] std::uint32_t type_opcode(std::uint32_t type) const {
        const auto found = types_.find(type);
        return found == types_.end() ? 0 : opcode_of(found->second);
    }
    [[nodiscard]] bool is_image(std::uint32_t type) const {
        return type_opcode(type) == op_type_image || type_opcode(type) == op_type_sampled_image;
    }
    [[nodiscard]] std::uint32_t type_of(std::uint32_t value) const {
        const auto found = values_.find(value);
        return found == values_.end() ? 0 : found->second[1];
    }
    [[nodiscard]] std::optional<std::uint32_t> constant_of(std::uint32_t value) const {
        const auto found = values_.find(value);
        if (found == values_.end()) return std::nullopt;
        if (opcode_of(found->second) == op_constant_null) return 0;
        if (opcode_of(found->second) != op_constant) return std::nullopt;
        return found->second[3];
    }
    [[nodiscard]] std::uint32_t pointee_of(std::uint32_t pointer_type) const {
        return type_opcode(pointer_type) == op_type_pointer ? types_.at(pointer_type)[3] : 0;
    }

    /// Returns whether kf_check_access() has the parameters that put_check() gives it.
    [[nodiscard]] bool has_check_types() const {
        constexpr std::size_t parameters = 6;
        if (check_.size() != 5 || type_opcode(check_[4]) != op_type_function ||
            types_.at(check_[4]).size() != 3 + parameters)
            return false;
        const Words& function = types_.at(check_[4]);
        return type_opcode(function[3]) == op_type_int && type_opcode(function[7]) == op_type_vector &&
               type_opcode(function[8]) == op_type_vector;
    }
    [[nodiscard]] std::uint32_t uint_type() const { return types_.at(check_[4])[3]; }
    [[nodiscard]] std::uint32_t indices_type() const { return types_.at(check_[4])[7]; }
    [[nodiscard]] std::uint32_t extents_type() const { return types_.at(check_[4])[8]; }
    [[nodiscard]] std::uint32_t long_type() const { return types_.at(indices_type())[2]; }

    // ---- What is accessed ----

    /// The element of a buffer that a place is, or is in.
    [[nodiscard]] std::optional<Element> element_of(const Place& place) const {
        std::uint32_t type = pointee_of(type_of(place.variable));
        for (std::size_t i = 0; i < place.indices.size(); ++i) {
            switch (type_opcode(type)) {
                case op_type_runtime_array: return Element{i, type};
                case op_type_array: type = types_.at(type)[2]; break;
                case op_type_struct: {
                    const std::size_t member = 2 + std::size_t{constant_of(place.indices[i]).value_or(0)};
                    const Words& members = types_.at(type);
                    if (member >= members.size()) return std::nullopt;
                    type = members[member];
                    break;
                }
                default: return std::nullopt;
            }
        }
        return std::nullopt;
    }

    /// The element that a pointer leads to.
    [[nodiscard]] std::optional<Element> element_at(std::uint32_t pointer) const {
        const auto place = places_.find(pointer);
        return place == places_.end() ? std::nullopt : element_of(place->second);
    }

    /// The number of the resource that is bound for a variable, or an element of one by constant indices; 0
    /// where that isn't known.
    [[nodiscard]] std::uint32_t number_of(const Place& place, std::size_t indices) const {
        const auto binding = decorations_.find({place.variable, decoration_binding});
        if (binding == decorations_.end()) return 0;
        std::uint32_t number = binding->second;
        std::uint32_t type = pointee_of(type_of(place.variable));
        std::uint32_t within = 0;
        for (std::size_t i = 0; i < indices; ++i) {
            const std::optional<std::uint32_t> index = constant_of(place.indices[i]);
            if (!index || type_opcode(type) != op_type_array) return 0;
            within = within * constant_of(types_.at(type)[3]).value_or(0) + *index;
            type = types_.at(type)[2];
        }
        return number + within + 1;
    }

    /// The resource that an image is of.
    [[nodiscard]] std::uint32_t number_of_image(const Place& place) const {
        return number_of(place, place.indices.size());
    }

    /// The image that a texel's access is of, and its type; nothing for what is none.
    struct ImageAccess {
        Place place;
        std::uint32_t type = 0;
        std::uint32_t coordinate = 0;
        std::uint32_t image = 0;    ///< 0: it has to be loaded
        std::uint32_t pointer = 0;  ///< to load it from
        std::size_t operands = 0;   ///< where the image operands are; 0: there are none
    };

    [[nodiscard]] std::optional<ImageAccess> image_access(const Words& words) const {
        const std::uint32_t opcode = opcode_of(words);
        if (accesses_image(opcode)) {
            const bool writes = opcode == op_image_write;
            const std::uint32_t image = words[writes ? 1 : 3];
            const std::size_t operands = writes ? 4 : 5;
            const auto place = images_.find(image);
            return ImageAccess{place == images_.end() ? Place{} : place->second,
                               type_of(image),
                               words[writes ? 2 : 4],
                               image,
                               0,
                               operands < words.size() ? operands : 0};
        }
        const std::vector<std::size_t> pointers = accessed_operands(opcode);
        if (pointers.empty()) return std::nullopt;
        const auto texel = texels_.find(words[pointers.front()]);
        if (texel == texels_.end()) return std::nullopt;
        const auto place = places_.find(texel->second[3]);
        return ImageAccess{place == places_.end() ? Place{} : place->second,
                           pointee_of(type_of(texel->second[3])),
                           texel->second[4],
                           0,
                           texel->second[3],
                           0};
    }

    [[nodiscard]] bool can_check_image(const ImageAccess& access) const {
        if (access.place.variable == 0 || number_of_image(access.place) == 0 ||
            type_opcode(access.type) != op_type_image)
            return false;
        const std::uint32_t dimensions = types_.at(access.type)[image_dimensions];
        return dimensions != dimensions_cube && dimensions != dimensions_subpass &&
               !components_of(access.coordinate).empty();
    }

    [[nodiscard]] bool leads_to_buffer(std::uint32_t pointer) const {
        const std::uint32_t type = type_of(pointer);
        return type_opcode(type) == op_type_pointer && types_.at(type)[2] == storage_buffer;
    }

    [[nodiscard]] bool is_checked(const Words& words) const {
        if (image_access(words)) return true;
        const std::vector<std::size_t> pointers = accessed_operands(opcode_of(words));
        return std::any_of(pointers.begin(), pointers.end(),
                           [&](std::size_t i) { return element_at(words[i]).has_value(); });
    }

    /// Whether all that an instruction does with resources is known.
    [[nodiscard]] bool can_check(const Words& words) const {
        const std::uint32_t opcode = opcode_of(words);
        if (opcode < op_function || has_literals(opcode) || opcode == op_decorate) return true;
        if (const std::optional<ImageAccess> image = image_access(words)) return can_check_image(*image);
        if (opcode >= op_sparse_first && opcode <= op_sparse_last) return false;
        const std::vector<std::size_t> pointers = accessed_operands(opcode);
        const bool leads_on = leads_into(opcode) || opcode == op_copy_object;
        for (std::size_t i = 1; i < words.size(); ++i) {
            const bool is_made = i == 2 && values_.contains(words[2]) && values_.at(words[2]) == words;
            if (is_made || (leads_on && i == 3)) continue;
            const bool accesses = std::find(pointers.begin(), pointers.end(), i) != pointers.end();
            const auto place = places_.find(words[i]);
            if (place == places_.end()) {
                if (texels_.contains(words[i]) || (accesses && leads_to_buffer(words[i]))) return false;
                continue;
            }
            const std::optional<Element> element = element_of(place->second);
            if (!element) continue;
            if (!accesses || element->at == 0 || number_of(place->second, element->at - 1) == 0 ||
                type_opcode(type_of(place->second.indices[element->at])) != op_type_int)
                return false;
        }
        return true;
    }

    // ---- Where indices stand ----

    /// The number of the place in the source that a value was marked with, on the way to an index; 0: none.
    [[nodiscard]] std::uint32_t site_of(std::uint32_t value, int depth = 0) const {
        constexpr int deepest = 16;
        const auto found = values_.find(value);
        if (found == values_.end() || depth > deepest) return 0;
        const Words& words = found->second;
        switch (opcode_of(words)) {
            case op_function_call:
                return markers_.contains(words[3]) && words.size() > 5 ? constant_of(words[5]).value_or(0)
                                                                       : 0;
            case op_u_convert:
            case op_s_convert:
            case op_bitcast:
            case op_copy_object:
            case op_composite_extract:
            case op_vector_shuffle: return site_of(words[3], depth + 1);
            case op_i_add:
            case op_i_sub:
            case op_i_mul:
            case op_u_div:
            case op_s_div:
            case op_shift_right_logical:
            case op_shift_right_arithmetic:
            case op_shift_left:
            case op_composite_construct:
                for (std::size_t i = 3; i < words.size(); ++i)
                    if (const std::uint32_t site = site_of(words[i], depth + 1); site != 0) return site;
                return 0;
            default: return 0;
        }
    }

    // ---- Values that are made ----

    std::uint32_t make(std::uint32_t opcode, std::uint32_t type, const Words& operands) {
        const std::uint32_t made = module_.next_id();
        Words all{type, made};
        all.insert(all.end(), operands.begin(), operands.end());
        module_.put(opcode, all);
        return made;
    }

    std::uint32_t constant(std::uint32_t type, std::uint32_t value) {
        std::uint32_t& known = constants_[{type, value}];
        if (known == 0)
            known = module_.put_constant(type, type == long_type() ? Words{value, 0} : Words{value});
        return known;
    }

    std::uint32_t null_of(std::uint32_t type) {
        std::uint32_t& known = nulls_[type];
        if (known != 0) return known;
        known = module_.next_id();
        module_.put_global(instruction_of(op_constant_null, Words{type, known}));
        return known;
    }

    /// The type of these words, which are those of its instruction behind the id.
    std::uint32_t type_with(std::uint32_t opcode, const Words& rest) {
        for (const auto& [id, words] : types_) {
            if (opcode_of(words) == opcode && words.size() == rest.size() + 2 &&
                std::equal(rest.begin(), rest.end(), words.begin() + 2))
                return id;
        }
        const std::uint32_t made = module_.next_id();
        Words all{made};
        all.insert(all.end(), rest.begin(), rest.end());
        Words instruction = instruction_of(opcode, all);
        module_.put_global(instruction);
        types_[made] = std::move(instruction);
        return made;
    }

    /// An integer as the wide one that calls take.
    std::uint32_t widened(std::uint32_t value, std::uint32_t type) {
        constexpr std::uint32_t wide = 64;
        const Words& integer = types_.at(type);
        const bool has_sign = integer[3] != 0;
        if (integer[2] == wide) return has_sign ? value : make(op_bitcast, long_type(), {value});
        if (has_sign) return make(op_s_convert, long_type(), {value});
        const std::uint32_t converted = make(op_u_convert, type_with(op_type_int, {wide, 0}), {value});
        return make(op_bitcast, long_type(), {converted});
    }

    /// The types of a scalar's or a vector's components; none where they are no integers.
    [[nodiscard]] Words components_of(std::uint32_t value) const {
        const std::uint32_t type = type_of(value);
        if (type_opcode(type) == op_type_int) return {type};
        if (type_opcode(type) != op_type_vector || type_opcode(types_.at(type)[2]) != op_type_int) return {};
        return Words(types_.at(type)[3], types_.at(type)[2]);
    }

    Words wide_components(std::uint32_t value) {
        const Words types = components_of(value);
        Words components;
        for (std::uint32_t i = 0; i < types.size(); ++i) {
            const std::uint32_t one =
                types.size() == 1 ? value : make(op_composite_extract, types[i], {value, i});
            components.push_back(widened(one, types[i]));
        }
        return components;
    }

    // ---- Checks ----

    Check check_of_element(const Place& place, const Element& element) {
        const std::uint32_t index = place.indices[element.at];
        std::uint32_t buffer = place.variable;
        if (element.at > 1) {
            std::uint32_t type = pointee_of(type_of(place.variable));
            for (std::size_t i = 0; i + 1 < element.at; ++i) type = types_.at(type)[2];
            Words operands(place.indices.begin(),
                           place.indices.begin() + static_cast<std::ptrdiff_t>(element.at) - 1);
            operands.insert(operands.begin(), place.variable);
            buffer = make(op_access_chain, type_with(op_type_pointer, {storage_buffer, type}), operands);
        }
        const std::uint32_t member = constant_of(place.indices[element.at - 1]).value_or(0);
        const auto stride = decorations_.find({element.array, decoration_array_stride});
        Check check;
        check.number = number_of(place, element.at - 1);
        check.unit = stride == decorations_.end() ? 1 : stride->second;
        check.site = site_of(index);
        check.indices = {widened(index, type_of(index))};
        check.extents = {make(op_array_length, uint_type(), {buffer, member})};
        return check;
    }

    /// The value of an operand of an access of an image; 0 where there is none.
    static std::uint32_t image_operand(const Words& words, std::size_t mask, std::uint32_t which) {
        if (mask == 0 || (words[mask] & which) == 0) return 0;
        std::size_t at = mask + 1;
        for (std::uint32_t bit = 1; bit < which; bit <<= 1U)
            if ((words[mask] & bit) != 0) at += bit == operand_gradients ? 2 : 1;
        return at < words.size() ? words[at] : 0;
    }

    Check check_of_texel(const Words& words, const ImageAccess& access) {
        const Words& type = types_.at(access.type);
        constexpr std::array<std::uint32_t, 6> dimensions_of{1, 2, 3, 2, 2, 1};
        const std::uint32_t dimensions = dimensions_of.at(type[image_dimensions]);
        const std::uint32_t count = dimensions + type[image_layers];
        const bool has_levels = type[image_sampled] == 1 && type[image_dimensions] != 5;
        const std::uint32_t image =
            access.image != 0 ? access.image : make(op_load, access.type, {access.pointer});
        const std::uint32_t size_type =
            count == 1 ? uint_type() : type_with(op_type_vector, {uint_type(), count});

        Check check;
        check.number = number_of_image(access.place);
        check.site = site_of(access.coordinate);
        check.indices = wide_components(access.coordinate);
        check.indices.resize(count, constant(long_type(), 0));
        std::uint32_t size = 0;
        std::uint32_t levels = 0;
        if (has_levels) {
            std::uint32_t level = image_operand(words, access.operands, operand_lod);
            if (level == 0) {
                level = null_of(uint_type());
            } else if (constant_of(level) != 0) {
                levels = make(op_query_levels, uint_type(), {image});
                const std::uint32_t is_there = make(op_u_less, type_with(op_type_bool, {}), {level, levels});
                check.indices.push_back(widened(level, type_of(level)));
                // The number of the first mip isn't told.
                const std::uint32_t none = null_of(type_of(level));
                const std::uint32_t is_first = make(op_i_equal, type_with(op_type_bool, {}), {level, none});
                check.dimensions =
                    make(op_select, uint_type(),
                         {is_first, constant(uint_type(), count), constant(uint_type(), count + 1)});
                level = make(op_select, type_of(level), {is_there, level, none});
            }
            size = make(op_query_size_lod, size_type, {image, level});
        } else {
            size = make(op_query_size, size_type, {image});
        }
        for (const std::uint32_t which : {operand_constant_offset, operand_offset}) {
            const std::uint32_t offset = image_operand(words, access.operands, which);
            if (offset == 0) continue;
            const Words offsets = wide_components(offset);
            for (std::size_t i = 0; i < offsets.size() && i < dimensions; ++i)
                check.indices[i] = make(op_i_add, long_type(), {check.indices[i], offsets[i]});
        }
        for (std::uint32_t i = 0; i < count; ++i)
            check.extents.push_back(count == 1 ? size : make(op_composite_extract, uint_type(), {size, i}));
        if (levels != 0) check.extents.push_back(levels);
        return check;
    }

    /// Writes the call; returns 1 if the index is fine, as a value.
    std::uint32_t put_check(const Check& check) {
        Words indices = check.indices;
        Words extents = check.extents;
        const auto count = static_cast<std::uint32_t>(std::min(indices.size(), most_dimensions));
        const std::uint32_t dimensions =
            check.dimensions != 0 ? check.dimensions : constant(uint_type(), count);
        indices.resize(most_dimensions, constant(long_type(), 0));
        extents.resize(most_dimensions, constant(uint_type(), 0));
        const std::uint32_t all_indices = make(op_composite_construct, indices_type(), indices);
        const std::uint32_t all_extents = make(op_composite_construct, extents_type(), extents);
        return make(op_function_call, uint_type(),
                    {check_[2], constant(uint_type(), check.number), constant(uint_type(), check.unit),
                     constant(uint_type(), check.site), dimensions, all_indices, all_extents});
    }

    /// Writes an access behind its checks.
    void write_checked(const Words& words) {
        std::uint32_t fine = 0;
        const auto add = [&](const Check& check) {
            const std::uint32_t one = put_check(check);
            fine = fine == 0 ? one : make(op_i_mul, uint_type(), {fine, one});
        };
        if (const std::optional<ImageAccess> image = image_access(words)) {
            add(check_of_texel(words, *image));
        } else {
            for (const std::size_t i : accessed_operands(opcode_of(words)))
                if (const std::optional<Element> element = element_at(words[i]))
                    add(check_of_element(places_.at(words[i]), *element));
        }
        const bool makes = values_.contains(words[2]) && values_.at(words[2]) == words;
        std::optional<SpirvRewriter::Made> made;
        if (makes) made = {words[1], words[2]};
        module_.put_switch(fine, 1, 2, made, [&](std::size_t way) {
            if (way == 0) return makes ? null_of(words[1]) : 0U;
            Words access = words;
            if (makes) access[2] = module_.next_id();
            module_.put(access);
            return makes ? access[2] : 0U;
        });
    }

    void write(const Words& words) {
        const std::uint32_t opcode = opcode_of(words);
        if (opcode == op_capability && !can_query_ && (!images_.empty() || !texels_.empty())) {
            module_.put(op_capability, {capability_image_query});
            can_query_ = true;
        }
        if (opcode == op_function_call && markers_.contains(words[3])) {
            module_.put(op_copy_object, {words[1], words[2], words[4]});
        } else if (opcode == op_sampled_image) {
            // Belongs into the block that uses it.
        } else if (is_checked(words)) {
            write_checked(words);
        } else if ((takes_sampled_image(opcode) || opcode == op_image) && values_.contains(words[3]) &&
                   opcode_of(values_.at(words[3])) == op_sampled_image) {
            Words use = words;
            const Words& pair = values_.at(words[3]);
            use[3] = make(op_sampled_image, pair[1], {pair[3], pair[4]});
            module_.put(std::move(use));
        } else {
            module_.put(words);
        }
    }

    SpirvRewriter module_;
    std::set<std::uint32_t> named_checks_;
    std::set<std::uint32_t> markers_;  // functions
    Words check_;                      // the function that compares
    bool can_query_ = false;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> decorations_;  // by id and decoration
    std::map<std::uint32_t, Words> types_;
    std::map<std::uint32_t, Words> values_;
    std::map<std::uint32_t, Place> places_;  // of pointers
    std::map<std::uint32_t, Place> images_;  // where they were loaded from
    std::map<std::uint32_t, Words> texels_;  // pointers to them
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> constants_;  // type, value
    std::map<std::uint32_t, std::uint32_t> nulls_;                                // by type
};

}  // namespace

CheckedAccesses check_accesses(std::string& code) {
    CheckedModule module(code);
    if (!module.is_whole()) return CheckedAccesses::no_spirv;
    if (!module.can_check()) return CheckedAccesses::unchecked;
    code = module.written();
    return CheckedAccesses::checked;
}

}  // namespace kf::gen
