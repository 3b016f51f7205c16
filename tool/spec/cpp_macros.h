// Names that C and C++ headers replace before the compiler sees them.
#pragma once

#include <string_view>

namespace kf::gen {

/// Whether one of the headers that generated code includes, or that is often included before it, defines a
/// macro of the name: INT_MAX, errno, major.
bool is_cpp_macro(std::string_view name);

/// Whether C++ keeps the name for compilers and their libraries: __linux__, _Exit.
bool is_kept_by_cpp(std::string_view name);

}  // namespace kf::gen
