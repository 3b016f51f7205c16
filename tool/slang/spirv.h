// What kfgen reads and changes in a SPIR-V module; needs no Slang.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// Sets the language of every OpSource to Unknown: SPIRV-Tools before 2024 reject Slang's own number.
/// Changes nothing else. False when `code` is no well-formed SPIR-V (it is then left as it was).
[[nodiscard]] bool patch_source_language(std::string& code);

/// Marks variables that hold addresses of memory as ones that may lead to the same: Slang leaves that out of
/// some, and SPIR-V wants to be told. False when `code` is no well-formed SPIR-V (it is then left as it was).
[[nodiscard]] bool mark_aliased_pointers(std::string& code);

/// Marks all storage buffers as ones that may be the same memory: compilers otherwise assume that they are
/// apart.
void mark_aliased_buffers(std::string& code);

/// Puts the kernel's uniform buffer at the first binding of the first set, where the runtime looks for it:
/// Slang gives it a later one where modules have global parameters, whether or not the kernel reaches them.
/// Gives the names of all other variables that a host would have to fill: what a kernel must not have.
[[nodiscard]] std::vector<std::string> bind_block(std::string& code);

/// The device features that the module's capabilities and extensions ask for, by the names used in
/// artifacts, sorted. Capabilities that every Vulkan 1.2 compute device has give none; unknown ones
/// come as "capability-<number>" and "extension-<name>". Empty when `code` is no SPIR-V.
[[nodiscard]] std::vector<std::string> required_features(std::string_view code);

/// A constant that is set when a pipeline is made.
struct SpecializedValue {
    std::uint32_t id = 0;  ///< as its decoration numbers it
    std::string name;      ///< "number 3" where the code doesn't say
};

/// Subtracts from the numbers of all constants that are set when a pipeline is made.
void renumber_constants(std::string& code, std::uint32_t by);

/// Those of a module, by their numbers. Empty when `code` is no SPIR-V.
[[nodiscard]] std::vector<SpecializedValue> specialized_values(std::string_view code);

}  // namespace kf::gen
