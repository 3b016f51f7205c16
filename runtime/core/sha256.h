// SHA-256 (FIPS 180-4): what artifacts and images are verified with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kf {

[[nodiscard]] std::array<std::uint8_t, 32> sha256(std::span<const std::byte> bytes);

/// Lower-case hexadecimal, two digits a byte.
[[nodiscard]] std::string hex(std::span<const std::uint8_t> bytes);

/// SHA-256 of a text, in hexadecimal.
[[nodiscard]] std::string hex_digest(std::string_view text);

}  // namespace kf
