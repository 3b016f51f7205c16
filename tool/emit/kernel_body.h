// The statements of a kernel for all arguments of its call.
#pragma once

#include <cstdint>

#include "emit/argument_text.h"
#include "emit/body.h"

namespace kf::gen {

/// The statements for `run` calls at a time: 1, or the kernel's longest run.
Body make_body(const KernelContext& kernel, std::int64_t run);

}  // namespace kf::gen
