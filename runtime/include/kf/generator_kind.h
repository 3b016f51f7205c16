// Which generators there are.
#pragma once

#include <cstdint>

namespace kf::detail {

/// What an argument's generator is; `none` for values and tensors. Of call_id and thread_id the host gives
/// nothing.
enum class GeneratorKind : std::uint8_t { none, call_id, thread_id, grid, range, wang_hash, rand_float };

}  // namespace kf::detail
