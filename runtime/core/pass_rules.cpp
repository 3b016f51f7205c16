// Which of an argument's data and gradients a pass reads and writes.
#include "core/pass_rules.h"

#include "core/kinds/questions.h"

namespace kf::manifest {

bool is_summed(const Argument& argument) {
    return argument.accumulate != Accumulate::first && !is_pushed(argument);
}

bool has_flowing_gradient(const Argument& argument) {
    return argument.differentiable && writes_elements(argument) && !has_one_gradient(argument);
}

bool reads_gradient(const Argument& argument, PassKind pass) {
    return pass != PassKind::forward && has_flowing_gradient(argument);
}

bool writes_gradient(const Argument& argument, PassKind pass) {
    if (pass != PassKind::backward && is_combined(argument)) return true;
    return pass != PassKind::forward && argument.gradient != Gradient::never &&
           (argument.role == Role::in || argument.role == Role::inout);
}

bool takes_first(const Argument& argument, PassKind pass) {
    return is_combined(argument) && !is_summed(argument) && reads_gradient(argument, pass);
}

bool needs_scratch(const Argument& argument, PassKind pass, bool exact) {
    const bool half = argument.element.scalar == ScalarType::float16;
    const bool exactly = exact && is_summed(argument) && is_floating(argument.element.scalar);
    return writes_gradient(argument, pass) && (half || exactly);
}

bool touches_elements(const Argument& argument, PassKind pass) {
    return pass != PassKind::backward || reads_elements(argument);
}

bool touches_data(const Argument& argument, PassKind pass) {
    const bool added = pass != PassKind::backward && is_combined(argument);
    return touches_elements(argument, pass) && !added;
}

bool stores_elements(const Argument& argument, PassKind pass) {
    const bool always = has_one_gradient(argument) && !argument.differentiable;
    return writes_elements(argument) && (always || pass != PassKind::backward);
}

}  // namespace kf::manifest
