// Rewrites SPIR-V for what a device lacks, or does only when asked.
#include "vulkan/spirv_adapt.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/spirv_code.h"
#include "vulkan/spirv_types.h"

namespace kf::vulkan {
namespace {

using namespace spirv;

constexpr std::string_view add_extension = "SPV_EXT_shader_atomic_float_add";

bool is_capability(Instruction one, std::uint32_t capability) {
    return opcode_of(one) == op_capability && one.size() == 2 && one[1] == capability;
}

bool is_add_extension(Instruction one) {
    return opcode_of(one) == op_extension && text_of(one, 1) == add_extension;
}

class AtomicsReplacer {
public:
    explicit AtomicsReplacer(const Words& module) : module_(module), instructions_(instructions_of(module)) {}

    Words replace() {
        find_types();
        any_ = std::any_of(instructions_.begin(), instructions_.end(),
                           [&](Instruction one) { return is_float_add(one); });
        if (!can_replace()) {
            return module_;
        }
        const bool doubles = std::any_of(instructions_.begin(), instructions_.end(), [](Instruction one) {
            return is_capability(one, capability_float64_add);
        });
        Words result(module_.begin(), module_.begin() + header_words);
        next_ = module_[bound_at];
        // Slang asks for additions in some modules that make none.
        if (any_) {
            make_types();
        }
        bool in_functions = false;
        for (const Instruction one : instructions_) {
            if (is_capability(one, capability_float32_add) || (!doubles && is_add_extension(one))) {
                continue;
            }
            if (!in_functions && opcode_of(one) == op_function) {
                in_functions = true;
                put(result, declarations_);
            }
            if (is_float_add(one)) {
                replace(one, result);
            } else {
                put(result, one);
            }
        }
        put(result, functions_);
        result[bound_at] = next_;
        return result;
    }

private:
    void find_types() {
        bool in_functions = false;
        for (const Instruction one : instructions_) {
            const std::uint32_t op = opcode_of(one);
            in_functions = in_functions || op == op_function;
            if (op >= op_type_bool && op <= op_type_function && one.size() >= 2) {
                types_.add(one);
                if (op == op_type_pointer && one.size() >= 4 && one[2] == storage_physical) {
                    physical_.insert(one[1]);
                }
            } else if (in_functions && one.size() >= 3 && physical_.contains(one[1])) {
                addresses_.insert(one[2]);
            }
        }
    }

    [[nodiscard]] bool is_float_add(Instruction one) const {
        return opcode_of(one) == op_atomic_f_add && one.size() == 7 &&
               one[1] == types_.find(op_type_float, {32});
    }

    [[nodiscard]] bool can_replace() const {
        return !instructions_.empty() && (!any_ || types_.find(op_type_int, {64, 0}) != 0) &&
               std::all_of(instructions_.begin(), instructions_.end(), [&](Instruction one) {
                   return !is_float_add(one) || addresses_.contains(one[3]);
               });
    }

    std::uint32_t made(std::uint32_t op, std::initializer_list<std::uint32_t> operands) {
        return types_.find_or_put(op, operands, next_, declarations_);
    }

    void make_types() {
        float_ = types_.find(op_type_float, {32});
        address_ = types_.find(op_type_int, {64, 0});
        word_ = made(op_type_int, {32, 0});
        bool_ = made(op_type_bool, {});
        pointer_ = made(op_type_pointer, {storage_physical, word_});
        function_ = made(op_type_function, {float_, address_, float_});
        none_ = next_++;
        put(declarations_, op_constant, {word_, none_, 0});
    }

    void replace(Instruction add, Words& result) {
        const std::uint32_t address = next_++;
        put(result, op_convert_ptr_to_u, {address_, address, add[3]});
        put(result, op_function_call, {float_, add[2], loop(add[4], add[5]), address, add[6]});
    }

    /// float add(uint64_t address, float value), which returns what was there.
    std::uint32_t loop(std::uint32_t scope, std::uint32_t semantics) {
        std::uint32_t& known = loops_[{scope, semantics}];
        if (known != 0) {
            return known;
        }
        known = next_++;
        const auto id = [this] { return next_++; };
        const std::uint32_t address = id();
        const std::uint32_t value = id();
        const std::uint32_t entry = id();
        const std::uint32_t pointer = id();
        const std::uint32_t first = id();
        const std::uint32_t header = id();
        const std::uint32_t seen = id();
        const std::uint32_t body = id();
        const std::uint32_t old = id();
        const std::uint32_t sum = id();
        const std::uint32_t wanted = id();
        const std::uint32_t found = id();
        const std::uint32_t done = id();
        const std::uint32_t again = id();
        const std::uint32_t end = id();
        Words& to = functions_;
        put(to, op_function, {float_, known, 0, function_});
        put(to, op_function_parameter, {address_, address});
        put(to, op_function_parameter, {float_, value});
        put(to, op_label, {entry});
        put(to, op_convert_u_to_ptr, {pointer_, pointer, address});
        put(to, op_atomic_load, {word_, first, pointer, scope, none_});
        put(to, op_branch, {header});
        put(to, op_label, {header});
        put(to, op_phi, {word_, seen, first, entry, found, again});
        put(to, op_loop_merge, {end, again, 0});
        put(to, op_branch, {body});
        put(to, op_label, {body});
        put(to, op_bitcast, {float_, old, seen});
        put(to, op_f_add, {float_, sum, old, value});
        put(to, op_bitcast, {word_, wanted, sum});
        put(to, op_atomic_compare_exchange, {word_, found, pointer, scope, semantics, none_, wanted, seen});
        put(to, op_i_equal, {bool_, done, found, seen});
        put(to, op_branch_conditional, {done, end, again});
        put(to, op_label, {again});
        put(to, op_branch, {header});
        put(to, op_label, {end});
        put(to, op_return_value, {old});
        put(to, op_function_end, {});
        return known;
    }

    const Words& module_;
    std::vector<Instruction> instructions_;
    SpirvTypes types_;
    std::set<std::uint32_t> physical_;   ///< pointer types
    std::set<std::uint32_t> addresses_;  ///< values of such types
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> loops_;
    bool any_ = false;  ///< of its instructions is an addition
    std::uint32_t next_ = 0;
    Words declarations_;
    Words functions_;
    std::uint32_t float_ = 0;
    std::uint32_t address_ = 0;
    std::uint32_t word_ = 0;
    std::uint32_t bool_ = 0;
    std::uint32_t pointer_ = 0;
    std::uint32_t function_ = 0;
    std::uint32_t none_ = 0;
};

}  // namespace

Words without_float_atomics(const Words& module) { return AtomicsReplacer(module).replace(); }

bool uses_float_atomics(const Words& module) {
    const std::vector<Instruction> instructions = instructions_of(module);
    return std::any_of(instructions.begin(), instructions.end(),
                       [](Instruction one) { return is_capability(one, capability_float32_add); });
}

Words keeping_subnormals(const Words& module) {
    const std::vector<Instruction> instructions = instructions_of(module);
    const bool asks = std::any_of(instructions.begin(), instructions.end(), [](Instruction one) {
        return is_capability(one, capability_denorm_preserve);
    });
    if (instructions.empty() || asks) {
        return module;
    }
    Words result(module.begin(), module.begin() + header_words);
    put(result, op_capability, {capability_denorm_preserve});
    Words modes;
    for (const Instruction one : instructions) {
        const bool entry = opcode_of(one) == op_entry_point && one.size() > 2;
        if (entry) {
            put(modes, op_execution_mode, {one[2], mode_denorm_preserve, 32});
        } else if (!modes.empty()) {
            put(result, modes);
            modes.clear();
        }
        put(result, one);
    }
    return result;
}

std::set<std::pair<std::uint32_t, std::uint32_t>> descriptors_of(const Words& module) {
    std::map<std::uint32_t, std::uint32_t> sets;
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (const Instruction one : instructions_of(module)) {
        if (opcode_of(one) == op_decorate && one.size() == 4 && one[2] == decoration_descriptor_set) {
            sets[one[1]] = one[3];
        } else if (opcode_of(one) == op_decorate && one.size() == 4 && one[2] == decoration_binding) {
            numbers[one[1]] = one[3];
        }
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> found;
    for (const auto& [variable, number] : numbers) {
        found.emplace(sets[variable], number);
    }
    return found;
}

}  // namespace kf::vulkan
