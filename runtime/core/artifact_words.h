// The words that artifacts are written with.
#pragma once

#include <array>
#include <cstddef>

namespace kf::artifact {

inline constexpr const char* format_name = "kernelfunctions artifact";

// Enumerators as words, so that a dump of the document can be read.
inline constexpr std::array role_names{"in", "out", "inout", "result"};
inline constexpr std::array gradient_names{"never", "automatic", "required"};
inline constexpr std::array form_names{"leaf", "value", "tensor", "fields"};
inline constexpr std::array own_struct_names{"none", "optional", "tuple", "pair"};

template <class Names, class Enum>
const char* name_of(const Names& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

}  // namespace kf::artifact
