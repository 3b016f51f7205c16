// Tensors that are parameters in the check of gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::WholeTensor&) {
    return ArgumentData::Kind::tensor;
}
inline std::vector<std::byte> drawn_bytes(const manifest::kinds::WholeTensor&, const manifest::Argument&,
                                          const std::vector<std::int64_t>&) {
    return {};
}
inline std::string how_it_is_made(const manifest::kinds::WholeTensor&) { return {}; }
inline std::string why_undifferentiated(const manifest::kinds::WholeTensor&) {
    return "a tensor that is read without derivatives";
}
inline std::string why_not_drawn(const manifest::kinds::WholeTensor&) { return {}; }

}  // namespace kf::check
