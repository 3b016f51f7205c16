// The library of glslang that Slang brings with it, in which SPIRV-Tools are.
#pragma once

#include <filesystem>

namespace kf::gen {

/// Opens it beside Slang's own library, `slang`; null where there is none. It stays open: Slang loads it as
/// well, and keeps it.
void* open_glslang(const std::filesystem::path& slang);

}  // namespace kf::gen
