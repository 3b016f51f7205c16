// What the binder asks of parameters that are samplers: they take no part in a call's shape.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Sampler& sampler, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Sampler& sampler, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Sampler&) { return Arg::Kind::sampler; }
void read_given(const kinds::Sampler& sampler, const manifest::Argument& argument, const Arg& arg,
                ArgumentView& view);
void check_given(const kinds::Sampler& sampler, const BindRequest& request, std::size_t i);
inline Dims flat_extents(const kinds::Sampler&, const manifest::Argument&, const ArgumentView&) { return {}; }
inline void check_values(const kinds::Sampler&, const BindRequest&, std::size_t, const Binding&) {}
inline void bind_view(const kinds::Sampler&, const BindRequest&, std::size_t, Binding&) {}
inline bool is_flat(const kinds::Sampler&, const BindRequest&, std::size_t, Binding&) { return true; }
inline std::optional<TextureRules> texture_rules(const kinds::Sampler&) { return {}; }
inline bool is_uploaded(const kinds::Sampler&) { return false; }
inline void pack_record(const kinds::Sampler&, const manifest::Argument&, const manifest::Record&,
                        const void*, std::byte*) {}

}  // namespace kf::detail
