// What becomes of printf(), assert() and indices in users' modules, for kernels that report: see
// kf_reports.slang.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/message.h"
#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct DebugUse {
    bool prints =
        false;  ///< some kernels print lines and look at assertions; else such calls are as if not there
    bool checks = false;                          ///< some kernels compare indices with extents
    std::set<std::string, std::less<>> own = {};  ///< those of both functions that a module declares itself
};

/// What texts say for a DebugUse.
struct DebugCalls {
    std::vector<manifest::Message> messages;
    Diagnostics errors;  ///< formats that are wrong, and what can't be checked
};

/// Those of printf and assert that modules, of which these are (path, text), declare as functions or macros.
[[nodiscard]] std::set<std::string, std::less<>> own_debug_functions(
    const std::vector<std::pair<std::string, std::string>>& texts);

/// The text with the library's functions in place of printf() and assert(), and around indices. Lines and
/// columns stay, but for those of macros. No macro is replaced. `path`: the file's.
[[nodiscard]] std::string with_debug_calls(const std::string& text, const std::string& path,
                                           const DebugUse& use);

/// The error in the words of printf(), where it is about a value that the library's functions don't take.
[[nodiscard]] Diagnostic with_printf_words(Diagnostic error);

/// Returns what the text says.
[[nodiscard]] DebugCalls read_debug_calls(const std::string& text, const std::string& path,
                                          const DebugUse& use);

}  // namespace kf::gen
