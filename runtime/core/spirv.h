// Numbers of the SPIR-V specification, section 3, that more than one file knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kf::spirv {

inline constexpr std::uint32_t magic = 0x07230203;
inline constexpr std::size_t header_words = 5;

inline constexpr std::uint32_t op_extension = 10;
inline constexpr std::uint32_t op_capability = 17;

inline constexpr std::uint32_t capability_int64_atomics = 12;
inline constexpr std::uint32_t capability_denorm_preserve = 4464;
inline constexpr std::uint32_t capability_float32_add = 6033;
inline constexpr std::uint32_t capability_float64_add = 6034;

}  // namespace kf::spirv
