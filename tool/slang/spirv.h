// What kfgen reads and changes in a SPIR-V module; needs no Slang.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// Sets the language of every OpSource to Unknown: SPIRV-Tools before 2024 reject Slang's own number.
/// Changes nothing else. False when `code` is no well-formed SPIR-V (it is then left as it was).
[[nodiscard]] bool patch_source_language(std::string& code);

/// The device features that the module's capabilities and extensions ask for, by the names used in
/// artifacts, sorted. Capabilities that every Vulkan 1.2 compute device has give none; unknown ones
/// come as "capability-<number>" and "extension-<name>". Empty when `code` is no SPIR-V.
[[nodiscard]] std::vector<std::string> required_features(std::string_view code);

}  // namespace kf::gen
