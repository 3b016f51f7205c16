// Outputs of recorded calls that haven't run.
#pragma once

#include <span>

#include "core/encoder_state.h"
#include "core/manifest.h"
#include "kf/invoke.h"

namespace kf::detail {

/// What a call that was recorded into the encoder made has nothing in it until the call runs.
void await_run(EncoderState& encoder, std::span<const Arg> arguments);

/// Throws ArgumentError (graph_context) where a call that runs now reads such an output, and notes those that
/// it writes.
void check_awaited(const manifest::Function& function, const manifest::Call& call, PassKind pass,
                   std::span<const Arg> arguments);

}  // namespace kf::detail
