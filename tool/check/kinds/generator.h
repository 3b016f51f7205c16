// Generators in the check of gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/argument_data.h"

namespace kf::check {

// The answers to kinds/questions.h.
inline ArgumentData::Kind item_kind(const manifest::kinds::Generator& kind) {
    return passed_as(kind) == manifest::HostPassing::nothing ? ArgumentData::Kind::nothing
                                                             : ArgumentData::Kind::generator;
}
std::vector<std::byte> drawn_bytes(const manifest::kinds::Generator& kind, const manifest::Argument& argument,
                                   const std::vector<std::int64_t>& shape);
inline std::string how_it_is_made(const manifest::kinds::Generator&) { return "made in the kernel"; }
inline std::string why_undifferentiated(const manifest::kinds::Generator&) { return "no_diff"; }
inline std::string why_not_drawn(const manifest::kinds::Generator&) { return {}; }

}  // namespace kf::check
