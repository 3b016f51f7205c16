// What the binder asks of parameters that are textures, and of those that textures feed.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Texture& texture, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Texture& texture, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Texture&) { return Arg::Kind::texture; }
void read_given(const kinds::Texture& texture, const manifest::Argument& argument, const Arg& arg,
                ArgumentView& view);
void check_given(const kinds::Texture& texture, const BindRequest& request, std::size_t i);
Dims flat_extents(const kinds::Texture& texture, const manifest::Argument& argument,
                  const ArgumentView& view);
inline void check_values(const kinds::Texture&, const BindRequest&, std::size_t, const Binding&) {}
void bind_view(const kinds::Texture& texture, const BindRequest& request, std::size_t i, Binding& binding);
inline bool is_flat(const kinds::Texture&, const BindRequest&, std::size_t, Binding&) { return true; }
inline std::optional<TextureRules> texture_rules(const kinds::Texture& texture) { return rules_of(texture); }
inline bool is_uploaded(const kinds::Texture&) { return false; }
inline void pack_record(const kinds::Texture&, const manifest::Argument&, const manifest::Record&,
                        const void*, std::byte*) {}

/// Why the texture that is given is none that the parameter takes, behind "found a …": its dimensions, its
/// texels, its format. Empty where nothing more is to be said.
[[nodiscard]] std::string texture_misfit(const manifest::Argument& argument, const ArgShape& given);

}  // namespace kf::detail
