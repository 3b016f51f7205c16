// Accesses of buffers and textures in SPIR-V, before which indices are compared.
#pragma once

#include <cstdint>
#include <string>

namespace kf::gen {

enum class CheckedAccesses : std::uint8_t {
    checked,    ///< all of them
    unchecked,  ///< some access is made in a way that tells neither resource nor index
    no_spirv,   ///< the words are no module, or lack the function that compares
};

/// Puts a call of kf_check_access(), of kf_reports.slang, before each access of a buffer's elements or a
/// texture's texels, and a branch around the access: what is read where the index is wrong is 0, and nothing
/// is written. Resources are numbered by their bindings. The last of the rewrites, which know Slang's own
/// forms.
CheckedAccesses check_accesses(std::string& code);

}  // namespace kf::gen
