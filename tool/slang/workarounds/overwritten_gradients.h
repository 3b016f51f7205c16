// Gradients of what calls write that Slang stores where it should add them up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct OverwrittenGradient {
    std::string function;  ///< that is differentiated
    std::string variable;  ///< empty: it has no name
    std::string writer;    ///< what was called
    std::string file;      ///< where the code has debug information
    std::int64_t line = 0;

    bool operator==(const OverwrittenGradient&) const = default;
};

/// Finds in a module's code, as Slang prints it, what is left of the fault that written_values.h and
/// written_scalars.h go round. A variable that a call has written is read, before anything else is done to
/// it, in a block that runs more often than the call, or that an iteration in which the call is may leave
/// out.
std::vector<OverwrittenGradient> overwritten_gradients(std::string_view code);

/// Returns the warning; `line` is the source's where the call is.
Diagnostic warning_of(const OverwrittenGradient& overwritten, std::string_view line);

}  // namespace kf::gen
