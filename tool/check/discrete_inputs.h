// The values that a call's integers, bools and enums are given, and their combinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check/argument_data.h"
#include "check/kernel_facts.h"
#include "core/manifest.h"

namespace kf::check {

/// The values of one input of integers, bools or enums.
struct DiscreteInput {
    std::size_t leaf = 0;
    std::vector<std::int64_t> values;     ///< at least one
    std::vector<std::int64_t> not_given;  ///< would be worth a try, but may take too long or reach too far
    std::size_t repeats = 1;  ///< so many neighbours in a tensor have one value, then comes the next
    std::size_t starts = 1;   ///< values that the first element takes in turn, so that all are taken
    std::size_t step = 1;     ///< from one of these to the next
};

/// The value of the first scalar of each discrete input, by its index among the input's values.
using Setting = std::vector<std::size_t>;

/// Returns all members of an enum, both bools, and of integers those that `facts` compares them with, these
/// but one, 0, 1 and -1. `arguments` is laid out for the call's first case. Where a call takes whole tensors,
/// integers stay close to them, and tensors of integers hold indices, which are no such inputs.
std::vector<DiscreteInput> discrete_inputs_of(const manifest::Call& call,
                                              const std::vector<InputFacts>& facts,
                                              const Arguments& arguments, std::mt19937_64& random);

/// Returns all combinations where they are few; else each value at least once, and combinations at random.
std::vector<Setting> settings_of(const std::vector<DiscreteInput>& inputs, std::mt19937_64& random);

/// Writes a setting's values into the arguments. Returns those of each input, ascending.
std::vector<std::vector<std::int64_t>> put(Arguments& arguments, const std::vector<DiscreteInput>& inputs,
                                           const Setting& setting);

/// "auto", "false", "-3".
std::string value_text(const manifest::Argument& argument, std::int64_t value);

}  // namespace kf::check
