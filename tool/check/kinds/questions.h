// Questions about an argument's kind for the check of gradients. Each kind answers in a file of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "check/kinds/buffer.h"
#include "check/kinds/constant.h"
#include "check/kinds/generator.h"
#include "check/kinds/pointer.h"
#include "check/kinds/sampler.h"
#include "check/kinds/tensor.h"
#include "check/kinds/texture.h"
#include "check/kinds/value.h"
#include "check/kinds/whole_tensor.h"
#include "core/argument.h"

namespace kf::check {

/// Returns what is given for it. A struct is given as its first leaf is.
inline ArgumentData::Kind item_kind(const manifest::Argument& argument) {
    return std::visit([](const auto& kind) { return item_kind(kind); }, argument.kind);
}

/// Returns the host's value of what has no elements to be drawn, in a call of this shape; else nothing.
inline std::vector<std::byte> drawn_bytes(const manifest::Argument& argument,
                                          const std::vector<std::int64_t>& shape) {
    return std::visit([&](const auto& kind) { return drawn_bytes(kind, argument, shape); }, argument.kind);
}

/// Returns why there is no gradient to check of what isn't given, "made in the kernel"; empty for what is.
inline std::string how_it_is_made(const manifest::Argument& argument) {
    return std::visit([](const auto& kind) { return how_it_is_made(kind); }, argument.kind);
}

/// Returns why there is no gradient of an input that could have one by its type: "no_diff".
inline std::string why_undifferentiated(const manifest::Argument& argument) {
    return std::visit([](const auto& kind) { return why_undifferentiated(kind); }, argument.kind);
}

/// Returns why the check can give it nothing, "has no memory for it to lead to"; empty where it can.
inline std::string why_not_drawn(const manifest::Argument& argument) {
    if (argument.address) return why_not_drawn(manifest::kinds::Pointer());
    return std::visit([](const auto& kind) { return why_not_drawn(kind); }, argument.kind);
}

}  // namespace kf::check
