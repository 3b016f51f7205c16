// The compiler without a child process around it: a crash or a hang of Slang's is the caller's.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slang/compiler.h"

namespace kf::gen {

/// It starts Slang with its first request where `started` is null.
std::unique_ptr<Compiler> make_in_process_compiler(const CompilerOptions& options,
                                                   const std::vector<SupportModule>& support_modules,
                                                   std::shared_ptr<StartedSlang> started);

}  // namespace kf::gen
