// Steps that comparing backward passes and forward derivatives have in common.
#include "check/comparison.h"

#include <algorithm>
#include <cmath>

#include "core/convert.h"

namespace kf::check {

Precision precision_of_call(const manifest::Call& call) {
    ScalarType least = ScalarType::float64;
    for (const manifest::Argument& argument : call.arguments) {
        const ScalarType scalar = argument.element.scalar;
        if (passes_elements(argument) && is_floating(scalar)) {
            least = std::min(least, scalar);
        }
    }
    return precision_of(least);
}

std::pair<double, double> range_of(const Settings& settings, int attempt) {
    if (settings.range) return *settings.range;
    // Functions often have all that bends around 0, and what is not defined below.
    return attempt % 2 == 0 ? std::pair(-1.5, 1.5) : std::pair(0.1, 0.9);
}

std::string place_text(const Leaf& leaf, std::size_t scalar) {
    if (leaf.extents.empty()) return "its value";
    std::string text;
    for (std::size_t d = leaf.extents.size(); d-- > 0;) {
        const auto extent = static_cast<std::size_t>(leaf.extents[d]);
        text = std::to_string(scalar % extent) + (text.empty() ? "" : ", ") + text;
        scalar /= extent;
    }
    return "[" + text + "]";
}

std::string overrun_text(const manifest::Argument& argument) {
    return "reads or writes past the end of '" + argument.name + "': state extents that fit, with --shape " +
           argument.name + "=N,...";
}

void note(InputReport& input, Verdict verdict, double derivative, const Difference& difference, double scale,
          const Where& where) {
    if (verdict == Verdict::unsure) {
        ++input.unsure;
        return;
    }
    ++input.compared;
    const bool is_wrong = verdict == Verdict::wrong;
    if (is_wrong) ++input.wrong;
    const double distance = std::abs(derivative - difference.slope);
    const double off = is_wrong || difference.size > 0 ? distance : 0;  // else what rounding left
    const double error = scale > 0 ? off / scale : off;
    const bool first = is_wrong && input.wrong == 1;
    if ((is_wrong || input.wrong == 0) && (first || !(error <= input.largest_error))) {
        input.largest_error = error;
        input.gradient = derivative;
        input.differences = difference.slope;
        input.uncertainty = difference.uncertainty;
        input.place = where.place;
        input.how = where.how;
    }
}

Status status_of(const InputReport& input) {
    if (input.wrong > 0) return Status::wrong;
    // A few of the places at which differences decide nothing agree by chance, where these are many.
    const bool by_chance = input.unsure >= 10 * input.compared && input.unsure > 0;
    if (input.compared > 0 && !by_chance) return input.exercised ? Status::right : Status::not_exercised;
    return input.unsure > 0 ? Status::not_smooth : Status::not_finite;
}

}  // namespace kf::check
