// What a call does with memory that it is handed whole.
#pragma once

#include <array>
#include <cstdint>

namespace kf::manifest {

enum class Access : std::uint8_t {
    read,
    write,
    read_write,
    add,  ///< atomically, so that calls may share elements
};
/// How artifacts name them, in the order of Access.
inline constexpr std::array access_words{"read", "write", "read_write", "add"};

}  // namespace kf::manifest
