// Functions that a module keeps to itself: kernels can't call them.
#pragma once

#include <string_view>

#include "slang/module.h"

namespace kf::gen {

/// Tells whether what isn't public in a module with this text is closed to others: it says `public`,
/// `internal` or `private`, or has a line with `module`, `implementing`, `__include` or `#language`. Only
/// what stands outside of #if counts, as a branch may be left out.
[[nodiscard]] bool keeps_to_itself(std::string_view text);

/// Sets Function::is_closed of the module's functions, and of those of its named modules. What an interface
/// asks for is as public as that is: members of types that conform to one count as open, and so does all
/// where a macro writes `public`.
void mark_closed(Module& module);

}  // namespace kf::gen
