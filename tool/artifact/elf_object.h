// An object file that holds an artifact's bytes, so that no compiler has to read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kf::gen {

enum class ElfMachine : std::uint8_t { x86_64, aarch64 };

/// A relocatable file whose read-only data is `bytes`, 16-byte aligned, as `symbol`. The symbol is hidden, so
/// that shared libraries don't show it, and weak, so that two of the same name and bytes link.
std::string elf_object(ElfMachine machine, std::string_view symbol, std::span<const std::byte> bytes);

}  // namespace kf::gen
