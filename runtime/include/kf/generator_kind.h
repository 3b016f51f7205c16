// Which generators there are.
#pragma once

#include <cstdint>

namespace kf::detail {

/// The generator of an argument; `none` for values and tensors. The host gives nothing for call_id and
/// thread_id.
enum class GeneratorKind : std::uint8_t { none, call_id, thread_id, grid, range, wang_hash, rand_float };

}  // namespace kf::detail
