// How functions are called where they don't say it themselves.
#pragma once

#include <kf/options.h>

#include <string>

#include "core/variants.h"
#include "python/common.h"

namespace kf::python {

/// Reads keyword arguments: deterministic=True, False or None. Errors name `function`, and `known`: the
/// options that the caller takes, those that it has taken out of `given` too.
Options options_of(const std::string& function, const py::dict& given,
                   const std::string& known = "deterministic");

/// Takes what picks a variant out of `given`: variant=, threads=, constants=, types=.
detail::VariantRequest take_variant(const std::string& function, py::dict& given);

/// Reads {"IVal": ["Val10", "Val20"]}: the types that stand behind interfaces.
detail::VariantRequest conformances_of(const std::string& function, const py::object& given);

/// What set_options() says for the process, and on top of it what the options() says that this thread, or
/// asyncio task, is in.
Options default_options();
/// Tells whether that may be anything: nobody has said any in this process otherwise.
bool may_have_default_options();

void bind_options(py::module_& module);

}  // namespace kf::python
