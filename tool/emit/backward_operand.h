// How `bwd_diff` takes a parameter.
#pragma once

#include <optional>
#include <string>

#include "core/roles.h"
#include "emit/element_statements.h"
#include "plan/plan.h"

namespace kf::gen {

/// Tells whether `bwd_diff` gives or takes a gradient for a parameter.
[[nodiscard]] inline bool has_derivative(const PlannedParameter& parameter) {
    return parameter.type.differentiable && !parameter.no_diff;
}

/// Returns what `bwd_diff` is given for a parameter: a pair for an input with a derivative, the gradient
/// alone for an output with one, the plain value for any other input, and nothing for any other output.
///
/// part(source, is_paired) declares what holds the value, or the gradient that flows in, and returns an
/// expression for it. pair(parts) declares the pair of a value and the gradient that flows in, if any does,
/// and returns its name; the gradient that flows out is its `.d`.
template <class Part, class Pair>
std::optional<std::string> backward_operand(manifest::Role role, bool has_derivative, Part part, Pair pair) {
    const bool is_input = manifest::is_read(role);
    if (!has_derivative)
        return is_input ? std::optional<std::string>(part(Source::data, false)) : std::nullopt;
    if (!is_input) return part(Source::gradient, false);
    std::string parts = part(Source::data, true);
    if (role == manifest::Role::inout) parts += ", " + part(Source::gradient, true);
    return pair(parts);
}

}  // namespace kf::gen
