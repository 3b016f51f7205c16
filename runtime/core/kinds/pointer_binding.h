// What the binder asks of pointers: they take no part in a call's shape.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Pointer& pointer, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Pointer& pointer, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Pointer&) { return Arg::Kind::pointer; }
void read_given(const kinds::Pointer& pointer, const manifest::Argument& argument, const Arg& arg,
                ArgumentView& view);
void check_given(const kinds::Pointer& pointer, const BindRequest& request, std::size_t i);
inline Dims flat_extents(const kinds::Pointer&, const manifest::Argument&, const ArgumentView&) { return {}; }
inline void check_values(const kinds::Pointer&, const BindRequest&, std::size_t, const Binding&) {}
inline void bind_view(const kinds::Pointer&, const BindRequest&, std::size_t, Binding&) {}
inline bool is_flat(const kinds::Pointer&, const BindRequest&, std::size_t, Binding&) { return true; }
inline std::optional<TextureRules> texture_rules(const kinds::Pointer&) { return {}; }
inline bool is_uploaded(const kinds::Pointer&) { return false; }
void pack_record(const kinds::Pointer& pointer, const manifest::Argument& argument,
                 const manifest::Record& record, const void* value, std::byte* target);

}  // namespace kf::detail
