// Layers and slices of textures that kernels write to.
#include "vulkan/spirv_layers.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/spirv_code.h"
#include "vulkan/spirv_types.h"

namespace kf::vulkan {
namespace {

using namespace spirv;

/// What is done about layers and slices out of range.
enum class Fix { far_layers, all_layers };

class LayerBounder {
public:
    LayerBounder(const Words& module, Fix fix)
        : module_(module), instructions_(instructions_of(module)), fix_(fix) {}

    Words replace() {
        for (const Instruction one : instructions_) define(one);
        if (std::ranges::none_of(instructions_, [&](Instruction one) { return place_of(one).has_value(); })) {
            return module_;
        }
        next_ = module_[bound_at];
        Words declarations;
        uint_ = known_.find_or_put(op_type_int, {32, 0}, next_, declarations);
        bool_ = known_.find_or_put(op_type_bool, {}, next_, declarations);
        most_ = next_++;
        put(declarations, op_constant, {uint_, most_, fix_ == Fix::far_layers ? 0xFFFFU : ~0U});
        Words words(module_.begin(), module_.begin() + header_words);
        if (fix_ == Fix::all_layers && !queries_) put(words, op_capability, {capability_image_query});
        bool in_functions = false;
        for (const Instruction one : instructions_) {
            if (!in_functions && opcode_of(one) == op_function) {
                in_functions = true;
                put(words, declarations);
            }
            std::uint32_t place = 0;
            const std::optional<std::size_t> at = place_of(one);
            if (at) {
                place = fix_ == Fix::all_layers ? compared(one[*at], one[*at - 1], words)
                                                : with_low_layer(one[*at], words);
            }
            put(words, one);
            if (at) words[words.size() - one.size() + *at] = place;
        }
        words[bound_at] = next_;
        return words;
    }

private:
    static constexpr std::uint32_t storage = 2;  ///< "Sampled" of image types

    void define(Instruction one) {
        const std::uint32_t op = opcode_of(one);
        if (declares_type(op) && one.size() >= 2) {
            known_.add(one);
            types_.emplace(one[1], one);
        } else if (op >= op_constant_true && one.size() >= 3 && types_.contains(one[1])) {
            type_of_.emplace(one[2], one[1]);  // values and types have different numbers
        } else if (op == op_capability && one.size() == 2) {
            queries_ = queries_ || one[1] == capability_image_query;
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

    /// Where the instruction has a place with a layer, or a slice, of a storage image; the word before is the
    /// image.
    [[nodiscard]] std::optional<std::size_t> place_of(Instruction one) const {
        const std::uint32_t op = opcode_of(one);
        const bool writes = op == op_image_write;
        if ((!writes && op != op_image_read && op != op_image_texel_pointer) ||
            one.size() < (writes ? 4U : 5U)) {
            return std::nullopt;
        }
        const std::size_t place = writes ? 2 : 4;
        Instruction image = type_of(one[place - 1]);
        if (image.size() == 4 && opcode_of(image) == op_type_pointer) image = type(image[3]);
        const Instruction vector = type_of(one[place]);
        const bool is_storage =
            image.size() >= 9 && opcode_of(image) == op_type_image && image[image_sampled] == storage;
        const bool is_vector = vector.size() == 4 && opcode_of(vector) == op_type_vector &&
                               !type(vector[2]).empty() && opcode_of(type(vector[2])) == op_type_int;
        if (!is_storage || !is_vector) return std::nullopt;
        const std::uint32_t dimensions = image[image_dimensions] + 1;  // of no cube
        const bool is_array = image[image_layers] == 1;
        const bool is_sized = dimensions <= 3 && vector[3] == dimensions + image[image_layers];
        const bool is_taken = fix_ == Fix::far_layers ? is_array : is_sized && (is_array || dimensions == 3);
        return is_taken ? std::optional(place) : std::nullopt;
    }

    /// The component of a place, as a uint.
    std::uint32_t number_of(std::uint32_t place, std::uint32_t index, Words& to) {
        const std::uint32_t component = type_of(place)[2];
        const std::uint32_t value = next_++;
        put(to, op_composite_extract, {component, value, place, index});
        if (component == uint_) return value;
        const std::uint32_t number = next_++;
        put(to, op_bitcast, {uint_, number, value});
        return number;
    }

    /// The place with `number` as a component if `is_inside`, else `most_`.
    std::uint32_t bounded(std::uint32_t place, std::uint32_t index, std::uint32_t number,
                          std::uint32_t is_inside, Words& to) {
        const Instruction vector = type_of(place);
        std::uint32_t low = next_++;
        put(to, op_select, {uint_, low, is_inside, number, most_});
        if (vector[2] != uint_) {
            const std::uint32_t back = next_++;
            put(to, op_bitcast, {vector[2], back, low});
            low = back;
        }
        const std::uint32_t result = next_++;
        put(to, op_composite_insert, {vector[1], result, low, place, index});
        return result;
    }

    /// The place with a layer of 65,535 at most.
    std::uint32_t with_low_layer(std::uint32_t place, Words& to) {
        const std::uint32_t last = type_of(place)[3] - 1;
        const std::uint32_t layer = number_of(place, last, to);
        const std::uint32_t is_low = next_++;
        put(to, op_u_less, {bool_, is_low, layer, most_});
        return bounded(place, last, layer, is_low, to);
    }

    /// The place with x out of range if the layer is.
    std::uint32_t compared(std::uint32_t place, std::uint32_t image, Words& to) {
        const Instruction vector = type_of(place);
        const std::uint32_t last = vector[3] - 1;
        if (const Instruction pointer = type_of(image); opcode_of(pointer) == op_type_pointer) {
            const std::uint32_t loaded = next_++;
            put(to, op_load, {pointer[3], loaded, image});
            image = loaded;
        }
        const std::uint32_t size = next_++;
        put(to, op_query_size, {vector[1], size, image});
        const std::uint32_t count = next_++;
        put(to, op_composite_extract, {vector[2], count, size, last});
        const std::uint32_t layer = next_++;
        put(to, op_composite_extract, {vector[2], layer, place, last});
        const std::uint32_t is_inside = next_++;
        put(to, op_u_less, {bool_, is_inside, layer, count});
        return bounded(place, 0, number_of(place, 0, to), is_inside, to);
    }

    const Words& module_;
    std::vector<Instruction> instructions_;
    Fix fix_;
    bool queries_ = false;  ///< sizes of images
    std::map<std::uint32_t, Instruction> types_;
    SpirvTypes known_;
    std::map<std::uint32_t, std::uint32_t> type_of_;
    std::uint32_t next_ = 0;
    std::uint32_t uint_ = 0;
    std::uint32_t bool_ = 0;
    std::uint32_t most_ = 0;  ///< out of range in every image
};

}  // namespace

Words bounding_layers(const Words& module) { return LayerBounder(module, Fix::far_layers).replace(); }

Words comparing_layers(const Words& module) { return LayerBounder(module, Fix::all_layers).replace(); }

}  // namespace kf::vulkan
