// Which of an argument's data and gradients a pass reads and writes.
#pragma once

#include <kf/pass_kind.h>

#include "core/manifest.h"
#include "core/roles.h"

namespace kf::manifest {

using detail::PassKind;

/// Whether calls that share elements are added up: else only one of them writes.
[[nodiscard]] bool is_summed(const Argument& argument);
/// Whether the backward pass reads the gradient of what the call stored there.
[[nodiscard]] bool has_flowing_gradient(const Argument& argument);
/// Whether the pass reads the gradient of this output, or writes that of this input.
[[nodiscard]] bool reads_gradient(const Argument& argument, PassKind pass);
[[nodiscard]] bool writes_gradient(const Argument& argument, PassKind pass);
/// Whether only the first of the calls that share an element has what flows into this output.
[[nodiscard]] bool takes_first(const Argument& argument, PassKind pass);
/// Whether sums are in memory of their own: half gradients, summed in float, and exact sums of many words.
[[nodiscard]] bool needs_scratch(const Argument& argument, PassKind pass, bool exact);
/// Returns whether the pass reads or writes the argument's elements at all. Backward passes read them.
[[nodiscard]] bool touches_elements(const Argument& argument, PassKind pass);
/// Whether it does so by their address: what a pass combines it adds to, as to a gradient.
[[nodiscard]] bool touches_data(const Argument& argument, PassKind pass);
/// Returns whether the pass writes the argument's elements. Backward passes write those of views without
/// a gradient.
[[nodiscard]] bool stores_elements(const Argument& argument, PassKind pass);

}  // namespace kf::manifest
