// Constants in the check of gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::Constant&) { return ArgumentData::Kind::nothing; }
inline std::vector<std::byte> drawn_bytes(const manifest::kinds::Constant&, const manifest::Argument&,
                                          const std::vector<std::int64_t>&) {
    return {};
}
inline std::string how_it_is_made(const manifest::kinds::Constant&) { return "a constant of the spec"; }
inline std::string why_undifferentiated(const manifest::kinds::Constant&) { return "no_diff"; }
inline std::string why_not_drawn(const manifest::kinds::Constant&) { return {}; }

}  // namespace kf::check
