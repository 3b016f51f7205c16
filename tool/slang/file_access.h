// Which files keep their declarations to themselves, and who else names them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slang/module_texts.h"

namespace kf::gen {

/// What may become public in a file.
struct FileAccess {
    /// Its module closes what isn't public: a file of the module says `public`, `internal` or `private`, or
    /// has a line with `module`, `implementing`, `__include` or `#language`. Only what stands outside of #if
    /// counts, as a branch may be left out.
    bool keeps_to_itself = false;
    /// The words of other modules that may see what is declared here.
    std::set<std::string, std::less<>> elsewhere;
};

/// By canonical paths.
using FileAccesses = std::map<std::string, FileAccess>;

/// `listed`: canonical paths of the modules that kernels import or are linked with, all at once. `defines`:
/// macros of the whole session, as (name, text).
[[nodiscard]] FileAccesses file_accesses(
    const std::vector<ModuleFile>& files, const std::vector<std::string>& listed,
    const std::vector<std::pair<std::string, std::string>>& defines = {});

/// Returns the text behind the mark that some editors begin files with.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

}  // namespace kf::gen
