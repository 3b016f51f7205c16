// What the binder asks of parameters that are tensors themselves.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::WholeTensor& tensor, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::WholeTensor& tensor, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::WholeTensor&) { return Arg::Kind::tensor; }
inline void read_given(const kinds::WholeTensor&, const manifest::Argument&, const Arg&, ArgumentView&) {}
void check_given(const kinds::WholeTensor& tensor, const BindRequest& request, std::size_t i);
Dims flat_extents(const kinds::WholeTensor& tensor, const manifest::Argument& argument,
                  const ArgumentView& view);
inline void check_values(const kinds::WholeTensor&, const BindRequest&, std::size_t, const Binding&) {}
void bind_view(const kinds::WholeTensor& tensor, const BindRequest& request, std::size_t i, Binding& binding);
inline bool is_flat(const kinds::WholeTensor&, const BindRequest&, std::size_t, Binding&) {
    return true;  // kernels find its elements by their strides
}
inline std::optional<TextureRules> texture_rules(const kinds::WholeTensor&) { return {}; }
inline bool is_uploaded(const kinds::WholeTensor&) { return false; }
inline void pack_record(const kinds::WholeTensor&, const manifest::Argument&, const manifest::Record&,
                        const void*, std::byte*) {}

}  // namespace kf::detail
