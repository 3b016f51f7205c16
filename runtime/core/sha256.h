// SHA-256 (FIPS 180-4): what artifacts and images are verified with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kf {

[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::span<const std::byte> bytes);

/// Lower-case hexadecimal, two digits a byte.
[[nodiscard]] std::string hex(std::span<const std::uint8_t> bytes);

}  // namespace kf
