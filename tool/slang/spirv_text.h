// SPIR-V as text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kf::gen {

/// Returns what `spirv-dis` prints of the code; nothing where the library of glslang beside `slang`, Slang's
/// own, has no disassembler, and for code that is no SPIR-V.
std::optional<std::string> spirv_text(const std::string& code, const std::filesystem::path& slang);

/// Returns `capability-AtomicFloat16VectorNV` for `capability-5404`, as required_features() has those that it
/// knows no feature for; any other feature, and what the disassembler has no name for, as it is.
std::string named_capability(const std::string& feature, const std::filesystem::path& slang);

}  // namespace kf::gen
