// The passes of a call.
#pragma once

#include <cstdint>

namespace kf::detail {

/// `fused`: the forward and the backward pass of a loss in one launch.
enum class PassKind : std::uint8_t { forward, backward, fused };

constexpr bool runs_forward(PassKind pass) { return pass != PassKind::backward; }
constexpr bool runs_backward(PassKind pass) { return pass != PassKind::forward; }

}  // namespace kf::detail
