// What the binder asks of generators: their shape, whether their values fit, and their records.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Generator& kind, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Generator& kind, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Generator&) { return Arg::Kind::generator; }
void read_given(const kinds::Generator& kind, const manifest::Argument& argument, const Arg& arg,
                ArgumentView& view);
void check_given(const kinds::Generator& kind, const BindRequest& request, std::size_t i);
Dims flat_extents(const kinds::Generator& kind, const manifest::Argument& argument, const ArgumentView& view);
void check_values(const kinds::Generator& kind, const BindRequest& request, std::size_t i,
                  const Binding& binding);
void bind_view(const kinds::Generator& kind, const BindRequest& request, std::size_t i, Binding& binding);
/// Sets the extents that a generator gives the call. False where check_given() or check_values() refuse it.
bool takes(const kinds::Generator& kind, const manifest::Argument& argument, const void* value,
           Dims& extents);
/// Whether the type holds the indices of a call of that shape, of a generator that the host gives nothing
/// for.
bool holds_indices(const kinds::Generator& kind, const manifest::Argument& argument,
                   std::span<const std::int64_t> shape, std::int64_t total);
inline bool is_flat(const kinds::Generator&, const BindRequest&, std::size_t, Binding&) { return true; }
inline std::optional<TextureRules> texture_rules(const kinds::Generator&) { return {}; }
inline bool is_uploaded(const kinds::Generator&) { return false; }
void pack_record(const kinds::Generator& kind, const manifest::Argument& argument,
                 const manifest::Record& record, const void* value, std::byte* target);

}  // namespace kf::detail
