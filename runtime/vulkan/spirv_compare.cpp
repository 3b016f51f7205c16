// Comparison of texels by the kernel's own code.
#include "vulkan/spirv_compare.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/spirv_code.h"
#include "vulkan/spirv_types.h"

namespace kf::vulkan {
namespace {

using namespace spirv;

class Comparer {
public:
    explicit Comparer(const Words& module) : module_(module), instructions_(instructions_of(module)) {}

    Compared replace() {
        Compared result;
        if (std::none_of(instructions_.begin(), instructions_.end(), compares)) {
            result.words = module_;
            return result;
        }
        next_ = module_[bound_at];
        find_definitions();
        make_types();
        Words code;
        for (const Instruction one : instructions_) {
            if (opcode_of(one) == op_function) in_functions_ = true;
            if (!in_functions_) continue;
            if (compares(one)) {
                replace(one, code);
            } else {
                put(code, one);
            }
        }
        result.words = joined(code);
        result.samplers = samplers_;
        result.refused = refused_;
        return result;
    }

private:
    /// What a sample is taken of.
    struct Source {
        std::uint32_t image = 0;    ///< the value
        std::uint32_t sampler = 0;  ///< its number among samplers_
        bool is_array = false;
    };

    static bool compares(Instruction one) {
        const std::uint32_t op = opcode_of(one);
        return (op == op_sample_dref_implicit || op == op_sample_dref_explicit || op == op_gather_dref) &&
               one.size() >= 6;
    }

    void find_definitions() {
        for (const Instruction one : instructions_) {
            const std::uint32_t op = opcode_of(one);
            if (op >= op_type_bool && op <= op_type_pointer && one.size() >= 2) {
                types_.add(one);
                definitions_.emplace(one[1], one);
            } else if (op == op_decorate && one.size() == 4 && one[2] == decoration_binding) {
                bindings_[one[1]] = one[3];
            } else if (one.size() >= least_words(op)) {
                definitions_.emplace(one[2], one);
            }
        }
    }

    /// The words that an instruction has at least whose value is looked at; more than any has, of others.
    static std::size_t least_words(std::uint32_t op) {
        switch (op) {
            case op_constant_null: return 3;
            case op_constant:
            case op_variable:
            case op_load: return 4;
            case op_sampled_image: return 5;
            default: return SIZE_MAX;
        }
    }

    /// What defines the value, if it is by such an instruction; else empty.
    [[nodiscard]] Instruction definition(std::uint32_t id, std::uint32_t op) const {
        const auto found = definitions_.find(id);
        return found != definitions_.end() && opcode_of(found->second) == op ? found->second : Instruction{};
    }

    std::uint32_t made(std::uint32_t op, std::initializer_list<std::uint32_t> operands) {
        return types_.find_or_put(op, operands, next_, declarations_);
    }

    std::uint32_t constant(std::uint32_t type, std::uint32_t bits) {
        const std::uint32_t id = next_++;
        put(declarations_, op_constant, {type, id, bits});
        return id;
    }

    void make_types() {
        bool_ = made(op_type_bool, {});
        int_ = made(op_type_int, {32, 1});
        float_ = made(op_type_float, {32});
        bool4_ = made(op_type_vector, {bool_, 4});
        float4_ = made(op_type_vector, {float_, 4});
        zero_ = constant(int_, 0);
        half_ = constant(float_, std::bit_cast<std::uint32_t>(0.5F));
        one_ = constant(float_, std::bit_cast<std::uint32_t>(1.F));
        none_ = constant(float_, 0);
    }

    void refuse(const char* what) {
        if (refused_.empty()) refused_ = what;
    }

    /// The number of the variable's sampler among those that compare.
    std::uint32_t sampler_of(std::uint32_t loaded) {
        const Instruction load = definition(loaded, op_load);
        const auto binding = load.empty() ? bindings_.end() : bindings_.find(load[3]);
        if (binding == bindings_.end()) {
            refuse("comparison by a sampler that is no parameter of the kernel's");
            return 0;
        }
        const auto known = std::ranges::find(samplers_, binding->second);
        const auto number = static_cast<std::uint32_t>(known - samplers_.begin());
        if (known == samplers_.end()) {
            samplers_.push_back(binding->second);
            for (std::uint32_t i = 0; i < 4; ++i) {
                const std::uint32_t id = next_++;
                put(decorations_, op_decorate,
                    {id, decoration_spec_id, Compared::first_constant + 4 * number + i});
                put(declarations_, op_spec_constant_true, {bool_, id});
                choices_.push_back(id);
            }
        }
        return number;
    }

    Source source_of(std::uint32_t sampled, Words& code) {
        Source source;
        Instruction image_type;
        if (const Instruction both = definition(sampled, op_sampled_image); !both.empty()) {
            source.sampler = sampler_of(both[4]);
            source.image = both[3];
            const Instruction load = definition(both[3], op_load);
            if (!load.empty()) image_type = definition(load[1], op_type_image);
        } else if (const Instruction load = definition(sampled, op_load); !load.empty()) {
            source.sampler = sampler_of(sampled);
            const Instruction type = definition(load[1], op_type_sampled_image);
            if (type.size() >= 3) {
                image_type = definition(type[2], op_type_image);
                source.image = next_++;
                put(code, op_image, {type[2], source.image, sampled});
            }
        }
        if (image_type.size() < 9 || image_type[image_dimensions] != dimensions_2d ||
            image_type[image_texel] != float_) {
            refuse("comparison of texels that aren't floats of a 2D texture");
        } else {
            source.is_array = image_type[image_layers] != 0;
        }
        return source;
    }

    [[nodiscard]] bool is_zero(std::uint32_t id) const {
        const Instruction value = definition(id, op_constant);
        return !definition(id, op_constant_null).empty() || (value.size() == 4 && value[3] == 0);
    }

    /// The image operands that a gather takes as well; refuses others.
    std::vector<std::uint32_t> operands_of(Instruction sample) {
        if (sample.size() < 7) return {};
        std::size_t next = 7;
        std::vector<std::uint32_t> kept;
        if ((sample[6] & operand_lod) != 0 && !(next < sample.size() && is_zero(sample[next++]))) {
            refuse("comparison of texels of another mip than the view's first");
        }
        if ((sample[6] & operand_constant_offset) != 0 && next < sample.size()) {
            kept = {operand_constant_offset, sample[next++]};
        }
        if ((sample[6] & ~(operand_lod | operand_constant_offset)) != 0) {
            refuse("comparison of texels at an offset that is no constant, or with derivatives");
        }
        return kept;
    }

    std::uint32_t binary(Words& code, std::uint32_t op, std::uint32_t type, std::uint32_t a,
                         std::uint32_t b) {
        const std::uint32_t id = next_++;
        put(code, op, {type, id, a, b});
        return id;
    }
    std::uint32_t extract(Words& code, std::uint32_t type, std::uint32_t from, std::uint32_t index) {
        return binary(code, op_composite_extract, type, from, index);
    }
    std::uint32_t splat(Words& code, std::uint32_t type, std::uint32_t value) {
        const std::uint32_t id = next_++;
        put(code, op_composite_construct, {type, id, value, value, value, value});
        return id;
    }
    std::uint32_t select(Words& code, std::uint32_t type, std::uint32_t which, std::uint32_t yes,
                         std::uint32_t no) {
        const std::uint32_t id = next_++;
        put(code, op_select, {type, id, which, yes, no});
        return id;
    }

    /// 1 of each gathered texel with which the comparison holds, else 0.
    std::uint32_t passes(Words& code, const Source& source, std::uint32_t texels, std::uint32_t reference,
                         std::uint32_t result) {
        const std::uint32_t references = splat(code, float4_, reference);
        std::uint32_t any = 0;
        std::uint32_t i = 0;
        for (const std::uint32_t op : {op_f_less, op_f_equal, op_f_greater}) {
            const std::uint32_t holds = binary(code, op, bool4_, references, texels);
            const std::uint32_t wanted = splat(code, bool4_, choices_[4 * source.sampler + i++]);
            const std::uint32_t both = binary(code, op_logical_and, bool4_, holds, wanted);
            any = any == 0 ? both : binary(code, op_logical_or, bool4_, any, both);
        }
        const std::uint32_t yes = splat(code, float4_, one_);
        const std::uint32_t no = splat(code, float4_, none_);
        put(code, op_select, {float4_, result, any, yes, no});
        return result;
    }

    std::uint32_t gather(Words& code, std::uint32_t sampled, std::uint32_t place,
                         const std::vector<std::uint32_t>& operands) {
        const std::uint32_t id = next_++;
        Words all{float4_, id, sampled, place, zero_};
        put(all, operands);
        put(code, op_gather, all);
        return id;
    }

    void replace(Instruction sample, Words& code) {
        const std::uint32_t result = sample[2];
        const Source source = source_of(sample[3], code);
        const std::vector<std::uint32_t> operands = operands_of(sample);
        if (!refused_.empty()) return;
        if (opcode_of(sample) == op_gather_dref) {
            const std::uint32_t texels = gather(code, sample[3], sample[4], operands);
            (void)passes(code, source, texels, sample[5], result);
            return;
        }
        const std::uint32_t count = source.is_array ? 3 : 2;
        const std::uint32_t int_n = made(op_type_vector, {int_, count});
        const std::uint32_t float_n = made(op_type_vector, {float_, count});
        const std::uint32_t size = binary(code, op_query_size_lod, int_n, source.image, zero_);
        const std::uint32_t sizes = next_++;
        put(code, op_convert_s_to_f, {float_n, sizes, size});
        // Where in the square of four texels it is, and the corner between them: a gather there has no two
        // ways to round.
        std::uint32_t part[2];
        std::uint32_t corner[2];
        for (std::uint32_t d = 0; d < 2; ++d) {
            const std::uint32_t extent = extract(code, float_, sizes, d);
            const std::uint32_t place = extract(code, float_, sample[4], d);
            const std::uint32_t at = binary(code, op_f_mul, float_, place, extent);
            const std::uint32_t middle = binary(code, op_f_sub, float_, at, half_);
            part[d] = binary(code, op_f_mod, float_, middle, one_);
            const std::uint32_t first = binary(code, op_f_sub, float_, middle, part[d]);
            const std::uint32_t between = binary(code, op_f_add, float_, first, one_);
            corner[d] = binary(code, op_f_div, float_, between, extent);
            const std::uint32_t is_upper = binary(code, op_f_greater_equal, bool_, part[d], half_);
            const std::uint32_t nearest = select(code, float_, is_upper, one_, none_);
            part[d] = select(code, float_, choices_[4 * source.sampler + 3], part[d], nearest);
        }
        const std::uint32_t place = next_++;
        if (source.is_array) {
            const std::uint32_t layer = extract(code, float_, sample[4], 2);
            put(code, op_composite_construct, {float_n, place, corner[0], corner[1], layer});
        } else {
            put(code, op_composite_construct, {float_n, place, corner[0], corner[1]});
        }
        const std::uint32_t texels = gather(code, sample[3], place, operands);
        const std::uint32_t passed = passes(code, source, texels, sample[5], next_++);
        // Counter-clockwise from the lower left: x, y are of the second row, w, z of the first.
        const auto blend = [&](std::uint32_t from, std::uint32_t to, std::uint32_t by, std::uint32_t id) {
            const std::uint32_t way = binary(code, op_f_sub, float_, to, from);
            const std::uint32_t step = binary(code, op_f_mul, float_, way, by);
            put(code, op_f_add, {float_, id, from, step});
            return id;
        };
        const std::uint32_t second =
            blend(extract(code, float_, passed, 0), extract(code, float_, passed, 1), part[0], next_++);
        const std::uint32_t first =
            blend(extract(code, float_, passed, 3), extract(code, float_, passed, 2), part[0], next_++);
        (void)blend(first, second, part[1], result);
    }

    /// All of it, in the order that SPIR-V has.
    [[nodiscard]] Words joined(const Words& code) const {
        Words words(module_.begin(), module_.begin() + header_words);
        words[bound_at] = next_;
        const bool queries = std::ranges::any_of(instructions_, [](Instruction one) {
            return opcode_of(one) == op_capability && one.size() == 2 && one[1] == capability_image_query;
        });
        if (!queries) put(words, op_capability, {capability_image_query});
        bool decorated = false;
        for (const Instruction one : instructions_) {
            const std::uint32_t op = opcode_of(one);
            if (op == op_function) break;
            if (!decorated && (op == op_decorate || op == op_member_decorate)) {
                decorated = true;
                put(words, decorations_);
            }
            put(words, one);
        }
        put(words, declarations_);
        put(words, code);
        return words;
    }

    const Words& module_;
    std::vector<Instruction> instructions_;
    SpirvTypes types_;
    std::map<std::uint32_t, Instruction> definitions_;
    std::map<std::uint32_t, std::uint32_t> bindings_;  ///< of variables
    std::vector<std::uint32_t> samplers_;
    std::vector<std::uint32_t> choices_;  ///< specialization constants, four of each sampler
    std::string refused_;
    bool in_functions_ = false;
    std::uint32_t next_ = 0;
    Words decorations_;
    Words declarations_;
    std::uint32_t bool_ = 0;
    std::uint32_t int_ = 0;
    std::uint32_t float_ = 0;
    std::uint32_t bool4_ = 0;
    std::uint32_t float4_ = 0;
    std::uint32_t zero_ = 0;
    std::uint32_t half_ = 0;
    std::uint32_t one_ = 0;
    std::uint32_t none_ = 0;
};

}  // namespace

Compared comparing_itself(const Words& module) { return Comparer(module).replace(); }

}  // namespace kf::vulkan
