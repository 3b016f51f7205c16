// Where the fields of a kernel's parameter struct lie.
#pragma once

#include <slang.h>

#include "slang/compiler.h"

namespace kf::gen {

/// Fills block_size and block of `kernel` from the linked program's only entry point.
/// Empty when all went well. Slang's exceptions pass through.
[[nodiscard]] Diagnostics describe_block(slang::ISession& session, slang::IComponentType& program,
                                         const KernelSource& source, CodeTarget target,
                                         CompiledKernel& kernel);

}  // namespace kf::gen
