// Finds in SPIR-V what functions reach beside their parameters.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "core/spirv_code.h"
#include "slang/reached.h"

namespace kf::gen {

namespace {

using namespace spirv;

struct Numbered {
    std::uint32_t number;
    std::string_view name;
};

constexpr std::array built_ins = {
    Numbered{24, "the number of thread groups"},
    Numbered{25, "WorkgroupSize"},
    Numbered{26, "SV_GroupID"},
    Numbered{27, "SV_GroupThreadID"},
    Numbered{28, "SV_DispatchThreadID"},
    Numbered{29, "SV_GroupIndex"},
    Numbered{36, "WaveGetLaneCount"},
    Numbered{38, "the number of waves in a group"},
    Numbered{40, "the wave's number in its group"},
    Numbered{41, "WaveGetLaneIndex"},
    Numbered{4416, "a mask of lanes"},
    Numbered{4417, "a mask of lanes"},
    Numbered{4418, "a mask of lanes"},
    Numbered{4419, "a mask of lanes"},
    Numbered{4420, "a mask of lanes"},
};

// The names of reductions; scans are told by their group operation.
constexpr std::array lane_operations = {
    Numbered{333, "WaveIsFirstLane"},   Numbered{334, "WaveActiveAllTrue"},
    Numbered{335, "WaveActiveAnyTrue"}, Numbered{336, "WaveActiveAllEqual"},
    Numbered{337, "WaveReadLaneAt"},    Numbered{338, "WaveReadLaneFirst"},
    Numbered{339, "WaveActiveBallot"},  Numbered{342, "WaveActiveCountBits"},
    Numbered{345, "WaveReadLaneAt"},    Numbered{346, "WaveShuffle"},
    Numbered{347, "WaveShuffle"},       Numbered{348, "WaveShuffle"},
    Numbered{349, "WaveActiveSum"},     Numbered{350, "WaveActiveSum"},
    Numbered{351, "WaveActiveProduct"}, Numbered{352, "WaveActiveProduct"},
    Numbered{353, "WaveActiveMin"},     Numbered{354, "WaveActiveMin"},
    Numbered{355, "WaveActiveMin"},     Numbered{356, "WaveActiveMax"},
    Numbered{357, "WaveActiveMax"},     Numbered{358, "WaveActiveMax"},
    Numbered{359, "WaveActiveBitAnd"},  Numbered{360, "WaveActiveBitOr"},
    Numbered{361, "WaveActiveBitXor"},  Numbered{362, "WaveActiveAllTrue"},
    Numbered{363, "WaveActiveAnyTrue"}, Numbered{364, "WaveActiveBitXor"},
    Numbered{365, "QuadReadLaneAt"},    Numbered{366, "QuadReadAcross"},
    Numbered{5110, "QuadAll"},          Numbered{5111, "QuadAny"},
    Numbered{5296, "WaveMatch"},
};

struct Range {
    std::uint32_t first;
    std::uint32_t last;
    std::string_view name;
};

constexpr std::array lane_ranges = {
    Range{op_derivative_first, op_derivative_last, "ddx and ddy"},
    Range{261, 272, "a group operation"},
    Range{333, 366, "a wave operation"},
    Range{4421, 4432, "a wave operation"},
    Range{4456, 4460, "CoopMat"},
    Range{5110, 5111, "a quad operation"},
    Range{5296, 5296, "a wave operation"},
    Range{5358, 5362, "CoopMat"},
    Range{5571, 5580, "a wave operation"},
    Range{6401, 6408, "a group operation"},
};

template <std::size_t N>
std::string_view find_name(const std::array<Numbered, N>& names, std::uint32_t number) {
    const auto* const found = std::find_if(names.begin(), names.end(),
                                           [&](const Numbered& entry) { return entry.number == number; });
    return found == names.end() ? std::string_view() : found->name;
}

bool is_access_chain(std::uint32_t opcode) {
    return opcode == op_access_chain || opcode == op_in_bounds_access_chain ||
           opcode == op_ptr_access_chain || opcode == op_in_bounds_ptr_access_chain;
}

using Id = std::uint32_t;

/// One instruction of a function.
struct Step {
    std::uint32_t opcode = 0;
    Instruction words;
    Id function = 0;
    std::size_t block = 0;
    Location place;
};

class SpirvReader {
public:
    explicit SpirvReader(std::string_view code) : module_(module_of(code)) {}

    std::vector<Reached> read() {
        const bool whole = each_instruction(module_, [&](Instruction one) {
            if (function_ == 0 && opcode_of(one) != op_function) {
                read_global(one);
            } else {
                read_step(one);
            }
        });
        if (!whole) return {};
        for (const auto& [id, storage] : variables_) add_variable(id, storage);
        for (const Step& step : steps_) add_operation(step);
        return std::move(reached_);
    }

private:
    static std::uint32_t word(const Step& step, std::size_t index) { return word_of(step.words, index); }

    void read_global(Instruction one) {
        const auto word = [&](std::size_t i) { return word_of(one, i); };
        const std::uint32_t opcode = opcode_of(one);
        switch (opcode) {
            case op_name: names_[word(1)] = text_of(one, 2); break;
            case op_member_name: members_[{word(1), word(2)}] = text_of(one, 3); break;
            case op_string: strings_[word(1)] = text_of(one, 2); break;
            case op_entry_point: entry_ = word(2); break;
            case op_decorate:
                if (one.size() > 3 && word(2) == decoration_built_in) built_in_[word(1)] = word(3);
                if (one.size() > 3 && word(2) == decoration_spec_id) specialised_.insert(word(1));
                break;
            case op_type_bool: bool_ = word(1); break;
            case op_type_pointer: pointees_[word(1)] = word(3); break;
            case op_spec_constant_composite:
            case op_spec_constant_op:
                for (std::size_t i = 3; i < one.size(); ++i) composed_.insert(word(i));
                break;
            case op_constant:
                numbers_[word(2)] = word(3);
                constants_.insert(word(2));
                break;
            case op_variable:
                variables_[word(2)] = word(3);
                types_[word(2)] = pointees_[word(1)];
                break;
            default:
                if (opcode >= op_constant_true && opcode <= op_constant_null) constants_.insert(word(2));
                if (opcode == op_constant_true) true_.insert(word(2));
        }
    }

    void read_step(Instruction one) {
        const auto word = [&](std::size_t i) { return word_of(one, i); };
        const std::uint32_t opcode = opcode_of(one);
        switch (opcode) {
            case op_function:
                function_ = word(2);
                place_ = {};
                return;
            case op_function_parameter: parameters_[function_].push_back(word(2)); return;
            case op_function_end: function_ = 0; return;
            // A line ends with its block, but nothing tells better where the next one comes from.
            case op_label: ++block_; return;
            case op_no_line: place_ = {}; return;
            case op_line: place_ = {strings_[word(1)], word(2), word(3)}; return;
            default: steps_.push_back({opcode, one, function_, block_, place_});
        }
    }

    // ---- Variables ----

    void add_variable(Id id, std::uint32_t storage) {
        switch (storage) {
            case storage_uniform_constant:
            case storage_uniform:
            case storage_push_constant:
            case storage_atomic_counter:
            case storage_buffer:
            case storage_shader_record: return add_parameter(id);
            case storage_input: {
                const std::string_view name = find_name(built_ins, built_in_[id]);
                return add(Reach::builtin, name.empty() ? names_[id] : std::string(name), first_use(id));
            }
            case storage_workgroup: return add(Reach::group_memory, names_[id], first_use(id));
            case storage_private: return add_static(id);
            default: return;
        }
    }

    /// Globals of plain types are members of one block, those of a cbuffer of another.
    void add_parameter(Id id) {
        const std::string type = names_[types_[id]];
        std::set<Id> seen;
        for (const Step& step : steps_) {
            const bool grouped =
                type.starts_with("GlobalParams") || type.find("SLANG_ParameterGroup") != std::string::npos;
            if (!grouped || !is_access_chain(step.opcode) || word(step, 3) != id) continue;
            const Id member = numbers_[word(step, 4)];
            if (seen.insert(member).second) add(Reach::parameter, members_[{types_[id], member}], &step);
        }
        if (!seen.empty()) return;
        // A buffer in a global struct is a variable of its own: "globalParams.grain.bark".
        std::string name = names_[id];
        constexpr std::string_view around = "globalParams.";
        if (name.starts_with(around)) name.erase(0, around.size());
        if (name.starts_with(probe_buffer)) return;
        const std::size_t dot = std::min(name.find('.'), name.size());
        const std::string member = name.substr(std::min(dot + 1, name.size()));
        add(Reach::parameter, name.substr(0, dot), first_use(id), member.substr(0, member.find('.')));
    }

    /// A variable that nothing writes but its declaration stays as it is.
    void add_static(Id id) {
        if (is_guard(id)) return;
        const std::vector<const Step*> writes = writes_to(id);
        if (writes.empty()) return;
        const auto changes = [&](const Step* write) { return !sets_first_value(*write); };
        const auto change = std::find_if(writes.begin(), writes.end(), changes);
        // Set twice, it may have had another value between.
        if (change == writes.end() && writes.size() == 1) return;
        add(Reach::static_variable, names_[id], change == writes.end() ? writes.front() : *change);
    }

    /// Where a function sets its own static variable when it is first called, it notes that in a bool.
    bool is_guard(Id id) {
        if (types_[id] != bool_ || names_.contains(id)) return false;
        const std::vector<const Step*> writes = writes_to(id);
        return std::all_of(writes.begin(), writes.end(), [&](const Step* write) {
            return write->opcode == op_store && true_.contains(word(*write, 2));
        });
    }

    bool sets_first_value(const Step& write) {
        if (write.opcode != op_store || !is_constant(word(write, 2), 0)) return false;
        return std::any_of(steps_.begin(), steps_.end(), [&](const Step& other) {
            return other.block == write.block && other.opcode == op_store &&
                   variables_.contains(word(other, 1)) && variables_[word(other, 1)] == storage_private &&
                   is_guard(word(other, 1));
        });
    }

    /// Whether the value is made of nothing but constants.
    [[nodiscard]] bool is_constant(Id id, int depth) const {
        if (constants_.contains(id)) return true;
        constexpr int deepest = 64;
        const auto made = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) {
            return step.words.size() > 2 && has_result(step.opcode) && word(step, 2) == id;
        });
        if (made == steps_.end() || depth > deepest) return false;
        const auto all = [&](std::size_t first, std::size_t end) {
            for (std::size_t i = first; i < end; ++i)
                if (!is_constant(word(*made, i), depth + 1)) return false;
            return true;
        };
        switch (made->opcode) {
            case op_composite_extract: return all(3, 4);
            case op_vector_shuffle:
            case op_composite_insert: return all(3, 5);
            case op_ext_inst: return all(5, made->words.size());
            case op_function_call:
                return made->words.size() == 4 && returns_constant(word(*made, 3), depth + 1);
            default: return all(3, made->words.size());
        }
    }

    [[nodiscard]] bool returns_constant(Id function, int depth) const {
        return std::all_of(steps_.begin(), steps_.end(), [&](const Step& step) {
            if (step.function != function) return true;
            if (step.opcode == op_return_value) return is_constant(word(step, 1), depth);
            return has_result(step.opcode);
        });
    }

    /// Whether it is an instruction whose result depends on its operands only.
    static bool has_result(std::uint32_t opcode) {
        return opcode == op_composite_construct || opcode == op_composite_extract ||
               opcode == op_composite_insert || opcode == op_vector_shuffle || opcode == op_copy_object ||
               opcode == op_bitcast || opcode == op_ext_inst || opcode == op_function_call ||
               (opcode >= op_convert_first && opcode <= op_convert_last) ||
               (opcode >= op_arithmetic_first && opcode <= op_arithmetic_last);
    }

    /// What may write to the variable, or to a part of it, outside of the entry point.
    std::vector<const Step*> writes_to(Id variable) {
        std::set<Id> pointers{variable};
        std::vector<const Step*> writes;
        for (std::size_t known = 0; known != pointers.size();) {
            known = pointers.size();
            writes.clear();
            for (const Step& step : steps_) {
                if (step.function != entry_ && follow(step, pointers)) writes.push_back(&step);
            }
        }
        return writes;
    }

    /// Adds what points into the same variable; whether the step may write there.
    bool follow(const Step& step, std::set<Id>& pointers) {
        const auto has = [&](std::size_t index) { return pointers.contains(word(step, index)); };
        if (is_access_chain(step.opcode) || step.opcode == op_copy_object) {
            if (has(3)) pointers.insert(word(step, 2));
            return false;
        }
        switch (step.opcode) {
            case op_store: return has(1);
            case op_function_call: {
                const std::vector<Id>& parameters = parameters_[word(step, 3)];
                for (std::size_t i = 0; i < parameters.size(); ++i)
                    if (has(4 + i)) pointers.insert(parameters[i]);
                return false;
            }
            case op_copy_memory:
            case op_copy_memory_sized: return has(1);
            case op_select: return has(4) || has(5);
            case op_phi:
            case op_ext_inst:
                for (std::size_t i = step.opcode == op_phi ? 3 : 5; i < step.words.size(); ++i)
                    if (has(i)) return true;
                return false;
            default: return is_atomic(step.opcode) && (has(1) || has(3));
        }
    }

    /// The first step that takes the variable itself.
    [[nodiscard]] const Step* first_use(Id id) const {
        const auto used = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) {
            if (step.function == entry_) return false;
            if (step.opcode == op_store) return word(step, 1) == id;
            if (step.opcode == op_function_call) {
                for (std::size_t i = 4; i < step.words.size(); ++i)
                    if (word(step, i) == id) return true;
                return false;
            }
            return (step.opcode == op_load || step.opcode == op_array_length || is_atomic(step.opcode) ||
                    is_access_chain(step.opcode) || step.opcode == op_copy_object) &&
                   word(step, 3) == id;
        });
        return used == steps_.end() ? nullptr : &*used;
    }

    // ---- Instructions ----

    void add_operation(const Step& step) {
        if (step.opcode == op_control_barrier) return add(Reach::barrier, "a barrier", &step);
        if (step.opcode == op_memory_barrier) return add(Reach::barrier, "a memory barrier", &step);
        if (step.opcode == op_read_clock) return add(Reach::clock, "the clock", &step);
        if (takes_group_size(step)) return add(Reach::builtin, "WorkgroupSize", &step);
        for (const Range& range : lane_ranges) {
            if (step.opcode >= range.first && step.opcode <= range.last)
                return add(Reach::lanes, lanes_name(step, range.name), &step);
        }
    }

    std::string lanes_name(const Step& step, std::string_view otherwise) const {
        std::string name(find_name(lane_operations, step.opcode));
        if (name.empty()) return std::string(otherwise);
        // Clusters, partitions and scans have other names than sums of all lanes.
        constexpr std::string_view of_all = "WaveActive";
        const bool counts = step.opcode == 342 || (step.opcode >= 349 && step.opcode <= 364);
        const std::uint32_t operation = counts ? word(step, 4) : 0;
        if (operation == 0 || !name.starts_with(of_all)) return name;
        const std::string rest = name.substr(of_all.size());
        if (operation == 1 || operation == 2) return "WavePrefix" + rest;
        return (operation == 3 ? "WaveClustered" : "WaveMulti") + rest;
    }

    /// The size of the group is a constant that only its name tells from the user's own.
    bool takes_group_size(const Step& step) {
        const auto is_size = [&](Id id) {
            return specialised_.contains(id) && names_[id] == probe_group_size;
        };
        // The entry point has its size by an execution mode, not by an instruction.
        std::size_t first = 3;
        std::size_t end = step.words.size();
        if (step.opcode == op_return_value) first = 1;
        if (step.opcode == op_store) first = 2;
        if (step.opcode == op_function_call) first = 4;
        if (step.opcode == op_ext_inst) first = 5;
        if (step.opcode == op_composite_extract) end = 4;
        const bool takes_values = step.opcode == op_return_value || step.opcode == op_store ||
                                  step.opcode == op_phi || is_access_chain(step.opcode) ||
                                  (has_result(step.opcode) && step.opcode != op_vector_shuffle);
        for (std::size_t i = first; takes_values && i < end; ++i) {
            if (is_size(word(step, i))) return true;
        }
        const auto is_composed = std::any_of(composed_.begin(), composed_.end(), is_size);
        return is_composed && &step == &steps_.front();
    }

    void add(Reach what, std::string name, const Step* step, std::string member = {}) {
        Reached one;
        one.what = what;
        one.name = std::move(name);
        one.member = std::move(member);
        if (step != nullptr) one.used = step->place;
        if (is_known(reached_, one)) return;
        if (step != nullptr) {
            const auto named = names_.find(step->function);
            if (named != names_.end()) one.function = named->second;
        }
        reached_.push_back(std::move(one));
    }

    Words module_;
    Id entry_ = 0;
    Id bool_ = 0;
    std::map<Id, std::string> names_;
    std::map<std::pair<Id, std::uint32_t>, std::string> members_;
    std::map<Id, std::string> strings_;
    std::map<Id, std::uint32_t> built_in_;
    std::map<Id, Id> pointees_;
    std::map<Id, std::uint32_t> variables_;  ///< storage classes of global ones
    std::map<Id, Id> types_;                 ///< of those
    std::map<Id, std::uint32_t> numbers_;
    std::set<Id> constants_;
    std::set<Id> true_;
    std::set<Id> specialised_;
    std::set<Id> composed_;
    std::map<Id, std::vector<Id>> parameters_;
    std::vector<Step> steps_;
    Id function_ = 0;
    std::size_t block_ = 0;
    Location place_;
    std::vector<Reached> reached_;
};

}  // namespace

std::vector<Reached> reached_in_spirv(std::string_view code) { return SpirvReader(code).read(); }

}  // namespace kf::gen
