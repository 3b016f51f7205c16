// Buffers in the check of gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::Buffer&) { return ArgumentData::Kind::tensor; }
inline std::vector<std::byte> drawn_bytes(const manifest::kinds::Buffer&, const manifest::Argument&,
                                          const std::vector<std::int64_t>&) {
    return {};
}
inline std::string how_it_is_made(const manifest::kinds::Buffer&) { return {}; }
inline std::string why_undifferentiated(const manifest::kinds::Buffer&) { return "a buffer"; }
inline std::string why_not_drawn(const manifest::kinds::Buffer& buffer) {
    return buffer.bytes ? "can't know what its bytes stand for" : "";
}

}  // namespace kf::check
