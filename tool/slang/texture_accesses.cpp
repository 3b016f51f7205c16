// Rewrites samples and stores, one by one.
#include "slang/texture_accesses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "slang/spirv_rewriter.h"

namespace kf::gen {

namespace {

using namespace spirv;

class AccessModule {
public:
    AccessModule(const std::string& code, const std::vector<std::string>& padded) : module_(code) {
        for (const Words& words : module_.instructions()) {
            if (opcode_of(words) == op_name && words.size() > 2 &&
                std::find(padded.begin(), padded.end(), text_of(words, 2)) != padded.end())
                padded_.insert(words[1]);
            note(words);
        }
    }

    [[nodiscard]] bool is_whole() const { return module_.is_whole(); }
    [[nodiscard]] bool has_textures() const { return !images_.empty(); }

    TextureAccesses settle() {
        for (const Words& words : module_.instructions()) {
            const std::uint32_t opcode = opcode_of(words);
            if (takes_sampled_image(opcode) && integer_samples_.contains(words[3]))
                return TextureAccesses::sample_integers;
            if (opcode == op_query_lod) return TextureAccesses::take_derivatives;
        }
        for (const Words& words : module_.instructions()) {
            if (!write(words)) return TextureAccesses::take_derivatives;
        }
        return TextureAccesses::settled;
    }

    [[nodiscard]] std::string code() const { return module_.code(); }

private:
    void note(const Words& words) {
        const auto operand = [&](std::size_t i) { return i < words.size() ? words[i] : 0; };
        switch (opcode_of(words)) {
            case op_type_float: floats_[words[1]] = operand(2); break;
            case op_type_int: integers_.insert(words[1]); break;
            case op_type_vector: vectors_[{operand(2), operand(3)}] = words[1]; break;
            case op_type_image: images_[words[1]] = words; break;
            case op_type_sampled_image: image_of_[words[1]] = operand(2); break;
            case op_constant:
                if (words.size() == 4) known_constants_.try_emplace({operand(1), operand(3)}, operand(2));
                break;
            case op_access_chain:
            case op_in_bounds_access_chain:
                if (padded_.contains(operand(3))) padded_.insert(operand(2));
                break;
            case op_load:
                if (padded_.contains(operand(3))) padded_.insert(operand(2));
                if (images_.contains(operand(1))) image_of_[operand(2)] = operand(1);
                note_integers(operand(1), operand(2));
                break;
            case op_sampled_image: note_integers(operand(1), operand(2)); break;
            default:
                if (opcode_of(words) >= op_derivative_first && opcode_of(words) <= op_derivative_last)
                    has_derivatives_ = true;
                break;
        }
    }

    /// Notes a value that is an image with its sampler, whose texels are integers.
    void note_integers(std::uint32_t type, std::uint32_t value) {
        const auto combined = image_of_.find(type);
        if (combined == image_of_.end()) return;
        const auto image = images_.find(combined->second);
        if (image != images_.end() && integers_.contains(image->second[2])) integer_samples_.insert(value);
    }

    /// Writes an instruction as it is to be; false where it can't be.
    bool write(const Words& words) {
        switch (opcode_of(words)) {
            case op_sample_implicit: return write_sample(words, 5, op_sample_explicit);
            case op_sample_dref_implicit: return write_sample(words, 6, op_sample_dref_explicit);
            case op_image_write: write_store(words); return true;
            case op_type_image: write_image(words); return true;
            case op_extension:
                if (!has_derivatives_ && text_of(words, 1).ends_with("compute_shader_derivatives"))
                    return true;
                break;
            case op_execution_mode:
                if (!has_derivatives_ && words.size() > 2 &&
                    (words[2] == mode_derivative_quads || words[2] == mode_derivative_lines))
                    return true;
                break;
            case op_capability:
                if (!has_derivatives_ &&
                    (words[1] == capability_derivative_quads || words[1] == capability_derivative_lines))
                    return true;
                break;
            default: break;
        }
        module_.put(words);
        return true;
    }

    /// `mask`: where the image operands are, if there are any.
    bool write_sample(const Words& words, std::size_t mask, std::uint32_t opcode) {
        const std::uint32_t operands = mask < words.size() ? words[mask] : 0;
        const auto number =
            std::find_if(floats_.begin(), floats_.end(), [](const auto& type) { return type.second == 32; });
        if ((operands & (operand_bias | operand_min_lod)) != 0 || number == floats_.end()) return false;
        Words explicit_one(words.begin() + 1,
                           words.begin() + static_cast<std::ptrdiff_t>(std::min(mask, words.size())));
        explicit_one.push_back(operands | operand_lod);
        explicit_one.push_back(constant(number->first, 0));
        if (mask < words.size())
            explicit_one.insert(explicit_one.end(), words.begin() + static_cast<std::ptrdiff_t>(mask) + 1,
                                words.end());
        module_.put(opcode, explicit_one);
        return true;
    }

    void write_store(const Words& words) {
        Words store = words;
        const auto image = padded_.contains(words[1]) ? image_of_.find(words[1]) : image_of_.end();
        if (image != image_of_.end()) {
            const std::uint32_t scalar = images_.at(image->second)[2];
            const auto vector = vectors_.find({scalar, 4});
            if (vector != vectors_.end()) {
                const auto bits = floats_.find(scalar);
                constexpr std::uint32_t half_one = 0x3C00;
                constexpr std::uint32_t float_one = 0x3F800000;
                const std::uint32_t one = bits == floats_.end() ? 1
                                          : bits->second == 16  ? half_one
                                                                : float_one;
                const std::uint32_t whole = module_.next_id();
                module_.put(op_composite_insert, {vector->second, whole, constant(scalar, one), words[3], 3});
                store[3] = whole;
            }
        }
        module_.put(std::move(store));
    }

    /// Vulkan takes the format of what is only read from its view.
    void write_image(const Words& words) {
        Words any = words;
        if (words.size() > image_format && words[image_sampled] == 1) any[image_format] = 0;
        const bool is_there =
            any != words && std::any_of(images_.begin(), images_.end(), [&](const auto& other) {
                return std::equal(any.begin() + 2, any.end(), other.second.begin() + 2, other.second.end());
            });
        // A type is declared once: those that differed by their formats alone don't all become the same.
        const bool is_new = image_types_.emplace(any.begin() + 2, any.end()).second;
        module_.put(is_there || !is_new ? words : any);
    }

    std::uint32_t constant(std::uint32_t type, std::uint32_t value) {
        const auto known = known_constants_.find({type, value});
        if (known != known_constants_.end()) return known->second;
        return known_constants_[{type, value}] = module_.put_constant(type, {value});
    }

    SpirvRewriter module_;
    bool has_derivatives_ = false;
    std::map<std::uint32_t, std::uint32_t> floats_;  // bits
    std::set<std::uint32_t> integers_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> vectors_;          // scalar, length
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_constants_;  // type, value
    std::map<std::uint32_t, Words> images_;                                             // types
    std::map<std::uint32_t, std::uint32_t> image_of_;  // of values, and of types with their samplers
    std::set<Words> image_types_;                      // that were written, without their ids
    std::set<std::uint32_t> integer_samples_;
    std::set<std::uint32_t> padded_;  // variables, what leads into them, and images
};

}  // namespace

TextureAccesses settle_texture_accesses(std::string& code, const std::vector<std::string>& padded) {
    AccessModule module(code, padded);
    if (!module.is_whole()) return TextureAccesses::no_spirv;
    if (!module.has_textures()) return TextureAccesses::settled;
    const TextureAccesses accesses = module.settle();
    if (accesses == TextureAccesses::settled) code = module.code();
    return accesses;
}

}  // namespace kf::gen
