// Textures in the check of gradients, which makes none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::Texture&) { return ArgumentData::Kind::nothing; }
inline std::vector<std::byte> drawn_bytes(const manifest::kinds::Texture&, const manifest::Argument&,
                                          const std::vector<std::int64_t>&) {
    return {};
}
inline std::string how_it_is_made(const manifest::kinds::Texture&) { return {}; }
inline std::string why_undifferentiated(const manifest::kinds::Texture&) { return "a texture"; }
inline std::string why_not_drawn(const manifest::kinds::Texture&) { return "makes no textures"; }

}  // namespace kf::check
