// What the binder asks of the kind "value".
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Value& value, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Value& value, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Value&) { return Arg::Kind::value; }
inline void read_given(const kinds::Value&, const manifest::Argument&, const Arg&, ArgumentView&) {}
void check_given(const kinds::Value& value, const BindRequest& request, std::size_t i);
Dims flat_extents(const kinds::Value& value, const manifest::Argument& argument, const ArgumentView& view);
inline void check_values(const kinds::Value&, const BindRequest&, std::size_t, const Binding&) {}
void bind_view(const kinds::Value& value, const BindRequest& request, std::size_t i, Binding& binding);
bool is_flat(const kinds::Value& value, const BindRequest& request, std::size_t i, Binding& binding);
inline std::optional<TextureRules> texture_rules(const kinds::Value&) { return {}; }
inline bool is_uploaded(const kinds::Value& value) { return value.in_memory; }
void pack_record(const kinds::Value& value, const manifest::Argument& argument,
                 const manifest::Record& record, const void* source, std::byte* target);

}  // namespace kf::detail
