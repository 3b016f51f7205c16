// A way round a fault of Slang's, and the releases that it is for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slang/slang_version.h"
#include "slang/workarounds/module_text.h"

namespace kf::gen {

struct Workaround {
    std::string_view name;   ///< in docs/slang_faults.md and in tests
    std::string_view fault;  ///< what Slang does without it
    std::string_view
        report;  ///< of the fault, in Slang's repository: "shader-slang/slang#12071"; may be empty
    std::string_view record;                 ///< why it is as it is: a file of docs/
    SlangVersion since;                      ///< the first release that may have the fault
    std::optional<SlangVersion> fixed = {};  ///< the first release after that without it, where there is one
    void (*change_text)(ModuleText&) = nullptr;   ///< of each module that Slang reads
    bool (*repair_code)(std::string&) = nullptr;  ///< SPIR-V; false where it can't be repaired
};

/// Tells whether a release has the fault. One that isn't known may have every fault.
[[nodiscard]] inline bool is_needed(const Workaround& workaround,
                                    const std::optional<SlangVersion>& version) {
    if (!version) return true;
    return *version >= workaround.since && (!workaround.fixed || *version < *workaround.fixed);
}

}  // namespace kf::gen
