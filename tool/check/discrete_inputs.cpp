// The values that a call's integers, bools and enums are given.
#include "check/discrete_inputs.h"

#include <algorithm>
#include <limits>
#include <set>

#include "check/guarded_tensor.h"
#include "core/convert.h"
#include "core/kinds/questions.h"

namespace kf::check {
namespace {

using manifest::Argument;

/// The largest value that is tried: the input may be a number of iterations.
constexpr std::int64_t largest_value = 4096;
constexpr std::size_t most_values = 16;
constexpr std::size_t most_settings = 24;

std::pair<std::int64_t, std::int64_t> range_of(ScalarType scalar) {
    switch (scalar) {
        case ScalarType::boolean: return {0, 1};
        case ScalarType::int8: return {-128, 127};
        case ScalarType::int16: return {-32768, 32767};
        case ScalarType::uint8: return {0, 255};
        case ScalarType::uint16: return {0, 65535};
        case ScalarType::int32:
            return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
        case ScalarType::uint32: return {0, std::numeric_limits<std::uint32_t>::max()};
        case ScalarType::uint64: return {0, std::numeric_limits<std::int64_t>::max()};
        default: return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    }
}

/// The reach of indices: one that is too large by less than `furthest` leads to memory of nobody's.
struct Reach {
    bool whole_tensors = false;  ///< the call takes some
    std::int64_t extent = 0;     ///< indices below it lie in all of them
    std::int64_t furthest = largest_value;
};

Reach reach_of(const manifest::Call& call, const Arguments& arguments) {
    Reach reach;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Argument& argument = call.arguments[i];
        if (!has_free_access(argument)) continue;
        const ArgumentData& item = arguments.items[arguments.leaves[i].item];
        auto stride = static_cast<std::int64_t>(item.bytes.size());
        for (std::int64_t k = 0; k < argument.call_rank + argument.inner_rank; ++k) {
            const std::int64_t extent = std::max<std::int64_t>(1, item.shape[static_cast<std::size_t>(k)]);
            stride /= extent;
            if (k < argument.call_rank) continue;
            reach.extent = reach.whole_tensors ? std::min(reach.extent, extent) : extent;
            reach.whole_tensors = true;
            // Strided tensors lie in twice the room.
            reach.furthest = std::min(reach.furthest, static_cast<std::int64_t>(guard_bytes) /
                                                          (4 * std::max<std::int64_t>(1, stride)));
        }
    }
    return reach;
}

std::vector<std::int64_t> distinct(const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> kept;
    for (const std::int64_t value : values) {
        if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
    }
    return kept;
}

void add_integers(DiscreteInput& input, ScalarType scalar, const InputFacts& facts, const Reach& reach,
                  std::mt19937_64& random) {
    const auto [low, high] = range_of(scalar);
    std::vector<std::int64_t> wanted = facts.compared;
    wanted.insert(wanted.end(), {0, 1});
    if (!reach.whole_tensors) wanted.push_back(-1);
    const auto usual = static_cast<std::int64_t>(2 + random() % 3);
    wanted.push_back(reach.whole_tensors ? std::min(usual, reach.extent - 1) : usual);
    for (const std::int64_t value : facts.compared) {
        if (value > low) wanted.push_back(value - 1);
        if (value < high) wanted.push_back(value + 1);
    }
    const auto compared = [&](std::int64_t value) {
        return std::find(facts.compared.begin(), facts.compared.end(), value) != facts.compared.end();
    };
    for (const std::int64_t value : distinct(wanted)) {
        if (value < low || value > high) continue;
        const bool near = value >= -reach.furthest && value <= reach.furthest;
        if (near && input.values.size() < most_values) {
            input.values.push_back(value);
        } else if (compared(value)) {
            input.not_given.push_back(value);
        }
    }
    std::sort(input.values.begin(), input.values.end());
}

}  // namespace

std::vector<DiscreteInput> discrete_inputs_of(const manifest::Call& call,
                                              const std::vector<InputFacts>& facts,
                                              const Arguments& arguments, std::mt19937_64& random) {
    const Reach reach = reach_of(call, arguments);
    std::vector<DiscreteInput> inputs;
    std::size_t repeats = 1;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Argument& argument = call.arguments[i];
        const Leaf& leaf = arguments.leaves[i];
        if (!depends_on_elements(argument) || leaf.positions.empty() || is_floating(leaf.scalar) ||
            facts[i].unused)
            continue;
        const bool tensor = arguments.items[leaf.item].kind == ArgumentData::Kind::tensor;
        DiscreteInput input;
        input.leaf = i;
        if (leaf.scalar == ScalarType::boolean) {
            input.values = {0, 1};
        } else if (!argument.members.empty()) {
            std::vector<std::int64_t> values;
            for (const auto& [name, value] : argument.members) values.push_back(value);
            input.values = distinct(values);
        } else if (tensor && (reach.whole_tensors || has_free_access(argument))) {
            continue;
        } else {
            add_integers(input, leaf.scalar, facts[i], reach, random);
        }
        if (input.values.empty()) continue;
        input.starts = input.values.size();
        if (tensor) {
            input.repeats = repeats;
            input.step = (leaf.positions.size() + repeats - 1) / repeats;
            input.starts = (input.values.size() + input.step - 1) / input.step;
            repeats = std::min(repeats * input.values.size(), leaf.positions.size());
        }
        inputs.push_back(std::move(input));
    }
    return inputs;
}

std::vector<Setting> settings_of(const std::vector<DiscreteInput>& inputs, std::mt19937_64& random) {
    std::size_t most = 1;
    std::size_t product = 1;
    for (const DiscreteInput& input : inputs) {
        most = std::max(most, input.starts);
        product = std::min(product * input.starts, most_settings + 1);
    }
    const std::size_t count = product <= most_settings ? product : std::max(most, most_settings);
    std::set<Setting> made;
    std::vector<Setting> settings;
    for (std::size_t s = 0; s < count; ++s) {
        Setting setting;
        std::size_t rest = s;
        for (const DiscreteInput& input : inputs) {
            std::size_t digit = s % input.starts;
            if (product <= most_settings) {
                digit = rest % input.starts;
                rest /= input.starts;
            } else if (s >= most) {
                digit = random() % input.starts;
            }
            setting.push_back(digit * input.step % input.values.size());
        }
        if (made.insert(setting).second) settings.push_back(std::move(setting));
    }
    std::shuffle(settings.begin(), settings.end(), random);
    return settings;
}

std::vector<std::vector<std::int64_t>> put(Arguments& arguments, const std::vector<DiscreteInput>& inputs,
                                           const Setting& setting) {
    std::vector<std::vector<std::int64_t>> given;
    for (std::size_t c = 0; c < inputs.size(); ++c) {
        const DiscreteInput& input = inputs[c];
        const Leaf& leaf = arguments.leaves[input.leaf];
        std::set<std::int64_t> values;
        for (std::size_t p = 0; p < leaf.positions.size(); ++p) {
            const std::size_t index = (setting[c] + p / input.repeats) % input.values.size();
            set_integer(arguments.items[leaf.item].bytes, leaf.scalar, leaf.positions[p],
                        input.values[index]);
            values.insert(input.values[index]);
        }
        given.emplace_back(values.begin(), values.end());
    }
    return given;
}

std::string value_text(const Argument& argument, std::int64_t value) {
    for (const auto& [name, number] : argument.members) {
        if (number == value) return name;
    }
    if (argument.element.scalar == ScalarType::boolean) return value != 0 ? "true" : "false";
    return std::to_string(value);
}

}  // namespace kf::check
