// An object file for Windows' linkers that holds an artifact's bytes, so that no compiler has to read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace kf::gen {

enum class CoffMachine : std::uint8_t { x86_64, arm64 };

/// Programs for Windows have at most so many bytes.
inline constexpr std::size_t max_coff_bytes = std::numeric_limits<std::int32_t>::max();

/// A relocatable file whose read-only data is `bytes`, 16-byte aligned, as `symbol`, at most max_coff_bytes.
/// Linkers take any one of several sections of the same symbol, so that two of the same name and bytes link.
std::string coff_object(CoffMachine machine, std::string_view symbol, std::span<const std::byte> bytes);

}  // namespace kf::gen
