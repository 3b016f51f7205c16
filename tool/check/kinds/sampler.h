// Samplers in the check of gradients, which makes none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::Sampler&) { return ArgumentData::Kind::nothing; }
inline std::vector<std::byte> drawn_bytes(const manifest::kinds::Sampler&, const manifest::Argument&,
                                          const std::vector<std::int64_t>&) {
    return {};
}
inline std::string how_it_is_made(const manifest::kinds::Sampler&) { return {}; }
inline std::string why_undifferentiated(const manifest::kinds::Sampler&) { return "a sampler"; }
inline std::string why_not_drawn(const manifest::kinds::Sampler&) { return "makes no samplers"; }

}  // namespace kf::check
