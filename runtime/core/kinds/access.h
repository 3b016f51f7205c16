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
    /// Read and written, and nobody knows which: sharing memory is the function's own affair. It has one
    /// gradient, which is both read and added to; without one it is written in backward passes too. Of
    /// tensors alone.
    view,
};
/// How artifacts name them, in the order of Access.
inline constexpr std::array access_words{"read", "write", "read_write", "add", "view"};

}  // namespace kf::manifest
