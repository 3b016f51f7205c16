// Pointers in the check of gradients, which has no memory for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::Pointer&) { return ArgumentData::Kind::nothing; }
inline std::vector<std::byte> drawn_bytes(const manifest::kinds::Pointer&, const manifest::Argument&,
                                          const std::vector<std::int64_t>&) {
    return {};
}
inline std::string how_it_is_made(const manifest::kinds::Pointer&) { return {}; }
inline std::string why_undifferentiated(const manifest::kinds::Pointer&) { return "a pointer"; }
inline std::string why_not_drawn(const manifest::kinds::Pointer&) {
    return "has no memory for it to lead to";
}

}  // namespace kf::check
