// How functions are called where they don't say it themselves.
#pragma once

#include <kf/options.h>

#include <string>

#include "python/common.h"

namespace kf::python {

/// Reads keyword arguments: deterministic=True, False or None. `function` is named in errors.
Options options_of(const std::string& function, const py::kwargs& given);

/// What set_options() says for the process, and on top of it what the options() says that this thread, or
/// asyncio task, is in.
Options default_options();

void bind_options(py::module_& module);

}  // namespace kf::python
