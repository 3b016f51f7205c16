// Buffers in arrays, which SPIR-V can't pick by an index.
#pragma once

#include <cstdint>
#include <string>

namespace kf::gen {

/// What became of the arrays of buffers in a module.
enum class BufferArrays : std::uint8_t {
    settled,    ///< there are none left
    unsettled,  ///< some element is kept or passed on in a way that names no buffers
    no_spirv,   ///< the words are no module
};

/// Rewrites SPIR-V that has buffers in local arrays, as Slang leaves them, which no driver need accept: where
/// an element is read or written whose index isn't known, a switch goes to the buffer, if its elements are
/// numbers. An index outside of the array picks some element of it.
BufferArrays settle_buffer_arrays(std::string& code);

}  // namespace kf::gen
