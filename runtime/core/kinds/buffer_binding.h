// What the binder asks of parameters that are buffers.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Buffer& buffer, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Buffer& buffer, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Buffer&) { return Arg::Kind::tensor; }
void read_given(const kinds::Buffer& buffer, const manifest::Argument& argument, const Arg& arg,
                ArgumentView& view);
void check_given(const kinds::Buffer& buffer, const BindRequest& request, std::size_t i);
inline Dims flat_extents(const kinds::Buffer&, const manifest::Argument&, const ArgumentView&) { return {}; }
inline void check_values(const kinds::Buffer&, const BindRequest&, std::size_t, const Binding&) {}
void bind_view(const kinds::Buffer& buffer, const BindRequest& request, std::size_t i, Binding& binding);
inline bool is_flat(const kinds::Buffer&, const BindRequest&, std::size_t, Binding&) { return true; }
inline std::optional<TextureRules> texture_rules(const kinds::Buffer&) { return {}; }
inline bool is_uploaded(const kinds::Buffer&) { return false; }
inline void pack_record(const kinds::Buffer&, const manifest::Argument&, const manifest::Record&, const void*,
                        std::byte*) {}

}  // namespace kf::detail
