// What the binder asks of the kind "tensor".
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Tensor& tensor, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Tensor& tensor, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Tensor&) { return Arg::Kind::tensor; }
inline void read_given(const kinds::Tensor&, const manifest::Argument&, const Arg&, ArgumentView&) {}
void check_given(const kinds::Tensor& tensor, const BindRequest& request, std::size_t i);
Dims flat_extents(const kinds::Tensor& tensor, const manifest::Argument& argument, const ArgumentView& view);
inline void check_values(const kinds::Tensor&, const BindRequest&, std::size_t, const Binding&) {}
void bind_view(const kinds::Tensor& tensor, const BindRequest& request, std::size_t i, Binding& binding);
bool is_flat(const kinds::Tensor& tensor, const BindRequest& request, std::size_t i, Binding& binding);
inline std::optional<TextureRules> texture_rules(const kinds::Tensor&) { return {}; }
inline bool is_uploaded(const kinds::Tensor&) { return false; }
inline void pack_record(const kinds::Tensor&, const manifest::Argument&, const manifest::Record&, const void*,
                        std::byte*) {}

}  // namespace kf::detail
