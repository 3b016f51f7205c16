// Layers of arrays of textures that kernels write to.
#include "vulkan/spirv_layers.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>

#include "vulkan/spirv_words.h"

namespace kf::vulkan {
namespace {

class LayerBounder {
public:
    explicit LayerBounder(const Words& module) : module_(module), instructions_(instructions_of(module)) {}

    Words replace() {
        for (const Instruction one : instructions_) define(one);
        if (std::ranges::none_of(instructions_,
                                 [&](Instruction one) { return layer_place(one).has_value(); })) {
            return module_;
        }
        next_ = module_[bound_at];
        Words declarations;
        uint_ = known_or_made(declarations, op_type_int, {32, 0});
        bool_ = known_or_made(declarations, op_type_bool, {});
        most_ = next_++;
        put(declarations, op_constant, {uint_, most_, 0xFFFF});
        Words words(module_.begin(), module_.begin() + spirv::header_words);
        bool in_functions = false;
        for (const Instruction one : instructions_) {
            if (!in_functions && opcode(one) == op_function) {
                in_functions = true;
                words.insert(words.end(), declarations.begin(), declarations.end());
            }
            std::uint32_t place = 0;
            const std::optional<std::size_t> at = layer_place(one);
            if (at) place = bounded(one[*at], words);
            words.insert(words.end(), one.begin(), one.end());
            if (at) words[words.size() - one.size() + *at] = place;
        }
        words[bound_at] = next_;
        return words;
    }

private:
    static constexpr std::uint32_t storage = 2;  ///< "Sampled" of image types

    void define(Instruction one) {
        const std::uint32_t op = opcode(one);
        if (op >= op_type_first && op <= op_type_last && one.size() >= 2) {
            types_.emplace(one[1], one);
        } else if (op >= op_constant_true && one.size() >= 3 && types_.contains(one[1])) {
            type_of_.emplace(one[2], one[1]);  // values and types have different numbers
        }
    }

    [[nodiscard]] Instruction type(std::uint32_t id) const {
        const auto found = types_.find(id);
        return found == types_.end() ? Instruction{} : found->second;
    }
    [[nodiscard]] Instruction type_of(std::uint32_t value) const {
        const auto found = type_of_.find(value);
        return found == type_of_.end() ? Instruction{} : type(found->second);
    }

    /// Where the instruction has a place with a layer of a storage image.
    [[nodiscard]] std::optional<std::size_t> layer_place(Instruction one) const {
        const std::uint32_t op = opcode(one);
        const bool writes = op == op_image_write;
        if ((!writes && op != op_image_read && op != op_image_texel_pointer) ||
            one.size() < (writes ? 4U : 5U)) {
            return std::nullopt;
        }
        const std::size_t place = writes ? 2 : 4;
        Instruction image = type_of(one[place - 1]);
        if (image.size() == 4 && opcode(image) == op_type_pointer) image = type(image[3]);
        const Instruction vector = type_of(one[place]);
        const bool is_array =
            image.size() >= 9 && opcode(image) == op_type_image && image[5] == 1 && image[7] == storage;
        const bool is_vector = vector.size() == 4 && opcode(vector) == op_type_vector &&
                               !type(vector[2]).empty() && opcode(type(vector[2])) == op_type_int;
        return is_array && is_vector ? std::optional(place) : std::nullopt;
    }

    std::uint32_t known_or_made(Words& declarations, std::uint32_t op,
                                std::initializer_list<std::uint32_t> operands) {
        for (const auto& [id, known] : types_) {
            if (opcode(known) == op && std::ranges::equal(known.subspan(2), operands)) return id;
        }
        const std::uint32_t id = next_++;
        declarations.push_back(static_cast<std::uint32_t>(operands.size() + 2) << 16U | op);
        declarations.push_back(id);
        declarations.insert(declarations.end(), operands);
        return id;
    }

    std::uint32_t bounded(std::uint32_t place, Words& to) {
        const Instruction vector = type_of(place);
        const std::uint32_t component = vector[2];
        const std::uint32_t last = vector[3] - 1;
        const std::uint32_t layer = next_++;
        put(to, op_composite_extract, {component, layer, place, last});
        std::uint32_t number = layer;
        if (component != uint_) {
            number = next_++;
            put(to, op_bitcast, {uint_, number, layer});
        }
        const std::uint32_t is_low = next_++;
        put(to, op_u_less, {bool_, is_low, number, most_});
        std::uint32_t low = next_++;
        put(to, op_select, {uint_, low, is_low, number, most_});
        if (component != uint_) {
            const std::uint32_t back = next_++;
            put(to, op_bitcast, {component, back, low});
            low = back;
        }
        const std::uint32_t result = next_++;
        put(to, op_composite_insert, {vector[1], result, low, place, last});
        return result;
    }

    const Words& module_;
    std::vector<Instruction> instructions_;
    std::map<std::uint32_t, Instruction> types_;
    std::map<std::uint32_t, std::uint32_t> type_of_;
    std::uint32_t next_ = 0;
    std::uint32_t uint_ = 0;
    std::uint32_t bool_ = 0;
    std::uint32_t most_ = 0;
};

}  // namespace

Words bounding_layers(const Words& module) { return LayerBounder(module).replace(); }

}  // namespace kf::vulkan
