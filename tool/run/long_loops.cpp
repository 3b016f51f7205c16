// Finds them in the sources' text.
#include "run/long_loops.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "slang/insertions.h"
#include "slang/tokens.h"
#include "slang/workarounds/loops.h"

namespace kf::gen {

namespace {

/// llvmpipe ends a thread's loops after 65,535 iterations in all. A thread may make up to 8 calls, and a
/// kernel has some loops of its own.
constexpr std::int64_t most_iterations = 8'000;

Diagnostic warning_of(const std::filesystem::path& path, std::string_view text, const LongLoop& loop) {
    const std::string count = loop.iterations < std::int64_t{1} << 31
                                  ? std::to_string(loop.iterations) + " times"
                                  : "more than 2^31 times";
    return {
        Severity::warning,
        "loop-llvmpipe",
        {path.string(), static_cast<std::int64_t>(line_at(text, loop.offset)),
         static_cast<std::int64_t>(column_at(text, loop.offset))},
        "the loop" + (loop.function.empty() ? "" : " in '" + loop.function + "'") + " may run " + count +
            (loop.differentiated ? ", twice in a backward pass" : "") +
            ": llvmpipe, Mesa's CPU driver, silently ends the loops of a thread, which may make 8 calls, "
            "after "
            "65,535 iterations",
        {"GPUs run it to its end",
         "for llvmpipe, let several calls share the work, or do several steps in each iteration, in an inner "
         "loop with [ForceUnroll]"}};
}

}  // namespace

Diagnostics loop_warnings(const Spec& spec,
                          const std::vector<std::pair<std::filesystem::path, std::string>>& sources) {
    Diagnostics warnings;
    if (std::none_of(spec.targets.begin(), spec.targets.end(),
                     [](const TargetSpec& target) { return target.backend == Backend::vulkan; }))
        return warnings;
    for (const auto& [path, text] : sources) {
        if (path.extension() == ".json") continue;
        for (const LongLoop& loop : long_loops(text, tokenise(text), most_iterations))
            warnings.push_back(warning_of(path, text, loop));
    }
    return warnings;
}

}  // namespace kf::gen
