// What the binder asks of constants: they take no part in a launch.
#pragma once

#include <kf/invoke.h>

#include <cstddef>
#include <optional>
#include <string>

#include "core/bind.h"

namespace kf::detail {

namespace kinds = manifest::kinds;

// The answers to kinds/binding.h.
std::string describe(const kinds::Constant& constant, const manifest::Argument& argument);
std::optional<int> conversion_cost(const kinds::Constant& constant, const manifest::Argument& argument,
                                   const ArgShape& given);
inline Arg::Kind given_as(const kinds::Constant&) { return Arg::Kind::absent; }
inline void read_given(const kinds::Constant&, const manifest::Argument&, const Arg&, ArgumentView&) {}
inline void check_given(const kinds::Constant&, const BindRequest&, std::size_t) {}
inline Dims flat_extents(const kinds::Constant&, const manifest::Argument&, const ArgumentView&) {
    return {};
}
inline void check_values(const kinds::Constant&, const BindRequest&, std::size_t, const Binding&) {}
inline void bind_view(const kinds::Constant&, const BindRequest&, std::size_t, Binding&) {}
inline bool is_flat(const kinds::Constant&, const BindRequest&, std::size_t, Binding&) { return true; }
inline std::optional<TextureRules> texture_rules(const kinds::Constant&) { return {}; }
inline bool is_uploaded(const kinds::Constant&) { return false; }
inline void pack_record(const kinds::Constant&, const manifest::Argument&, const manifest::Record&,
                        const void*, std::byte*) {}

}  // namespace kf::detail
